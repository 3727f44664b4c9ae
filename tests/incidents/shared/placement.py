"""What stands between a pod and a node, or between a pod and the cluster: resources, selectors, cordons, budgets, quotas."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.known import Known
from tests.incidents.lines import (
    DESCRIBE,
    EVENTS,
    ONE_AT_MOST,
    PODS,
    RESTART,
    UNDISTURBED,
    UNDO,
    policy,
    recreated,
    template,
)
from tests.incidents.needs import everyone_fails, everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, metric, shows

NONE_RUNS = shows("kubectl -n {ns} get deployment {t}", r"0/1 +0 +0")
ITS_NODE = "$(kubectl -n {ns} get pods -l {label}={t} -o jsonpath='{.items[0].spec.nodeName}')"
DRAIN = f"kubectl drain {ITS_NODE} --ignore-daemonsets --delete-emptydir-data --pod-selector={{label}}={{t}} --timeout="


def breakages(known: Known) -> tuple[Breakage, ...]:
    """Those of an application."""
    services, front = known.services, known.front
    others = len(known.app.components) - 1
    return (
        Breakage(
            "memory limit too small",
            services,
            (
                ONE_AT_MOST,
                "kubectl -n {ns} set resources deployment/{t} --limits=memory=12Mi --requests=memory=8Mi",
            ),
            (
                its_users_fail(),
                shows(PODS, r"0/1 +(OOMKilled|CrashLoopBackOff) +[1-9]"),
                shows(DESCRIBE, "Reason: +OOMKilled", "Exit Code: +137"),
                alert("KubeContainerOOMKilled"),
                failing_spans("{web}"),
            ),
            (UNDO,),
        ),
        Breakage(
            "node that does not exist",
            (*services, front),
            (recreated('.nodeSelector={"kubernetes.io/hostname":"extra-node"}'),),
            (
                its_users_fail("HTTP 500|refused"),
                shows(PODS, r"0/1 +Pending +0"),
                shows(
                    DESCRIBE,
                    r"Node-Selectors: +kubernetes.io/hostname=extra-node",
                    r"0/4 nodes are available: 1 node\(s\) had untolerated taint.*, 3 node\(s\) didn't match Pod's node affinity/selector\.",
                ),
                metric('sum(kube_pod_status_phase{phase="Pending",pod=~"{t}-.*"})', least=1),
                alert("KubeDeploymentReplicasMismatch"),
            ),
            (template('{"nodeSelector":null}'),),
        ),
        Breakage(
            "all nodes cordoned",
            (*services, front),
            ("kubectl get nodes -o name | grep worker | xargs kubectl cordon", RESTART),
            (
                its_users_fail("HTTP 500|refused"),
                shows(PODS, r"0/1 +Pending +0"),
                shows(
                    DESCRIBE,
                    r"0/4 nodes are available: 1 node\(s\) had untolerated taint\(s\), 3 node\(s\) were unschedulable\.",
                ),
                shows("kubectl get nodes", r"kind-worker +Ready,SchedulingDisabled"),
                metric("sum(kube_node_spec_unschedulable)", least=3),
            ),
            ("kubectl get nodes -o name | grep worker | xargs kubectl uncordon",),
        ),
        Breakage(
            "disruption budget against a drain",
            (front, *services),
            (
                "kubectl -n {ns} create pdb {t} --selector={label}={t} --min-available=1",
                f"{DRAIN}20s",
            ),
            (
                everyone_fine(),
                shows("kubectl -n {ns} get pdb {t}", r"^{t} +1 +N/A +0 "),
                shows("kubectl get nodes", "Ready,SchedulingDisabled"),
                shows(f"{DRAIN}8s", "Cannot evict pod as it would violate the pod's disruption budget."),
                metric("sum(kube_node_spec_unschedulable)", least=1),
            ),
            ("kubectl -n {ns} delete pdb {t}", "kubectl get nodes -o name | xargs kubectl uncordon"),
        ),
        Breakage(
            "quota on pods",
            services,
            ("kubectl -n {ns} create quota tiny --hard=pods=5", RESTART),
            (
                its_users_fail(),
                NONE_RUNS,
                shows(
                    EVENTS,
                    r'FailedCreate .*pods "{t}-\w+-\w+" is forbidden: exceeded quota: tiny, requested: pods=1, used: pods=\d+, limited: pods=5',
                ),
                shows("kubectl -n {ns} describe quota tiny", rf"^pods +{others} +5"),
                metric('kube_resourcequota{resourcequota="tiny",type="used"}', least=others),
                failing_spans("{web}"),
            ),
            ("kubectl -n {ns} delete quota tiny", "kubectl -n {ns} rollout restart deployment/{t}"),
        ),
        Breakage(
            "service account that is not there",
            services,
            (recreated('.serviceAccountName="{t}"'),),
            (
                its_users_fail(),
                shows(
                    EVENTS,
                    r'FailedCreate .*pods "{t}-\w+-" is forbidden: error looking up service account {ns}/{t}: serviceaccount "{t}" not found',
                ),
                shows(PODS, "No resources found"),
                alert("KubeDeploymentReplicasMismatch"),
            ),
            ("kubectl -n {ns} create serviceaccount {t}", "kubectl -n {ns} rollout restart deployment/{t}"),
        ),
        Breakage(
            "namespace closed",
            (front,),
            (
                policy(
                    "closed",
                    "NetworkPolicy",
                    "networking.k8s.io/v1",
                    '{"podSelector":{},"policyTypes":["Ingress","Egress"]}',
                ),
            ),
            (
                everyone_fails("timeout|timed out"),
                shows("kubectl -n {ns} get networkpolicy", r"^closed +<none>"),
                shows(PODS, UNDISTURBED),
                shows("curl -sS -m 3 http://172.18.0.3:{door}/", "timed out|Timeout was reached"),
            ),
            ("kubectl -n {ns} delete networkpolicy closed",),
        ),
    )
