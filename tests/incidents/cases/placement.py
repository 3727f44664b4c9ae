"""What stands between a pod and a node: resources, selectors, taints, cordons, budgets."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import (
    AFTERMATH,
    DESCRIBE,
    DESCRIBE_DATABASE,
    EVENTS,
    PANICS,
    PENDING_DATABASE,
    PODS,
    RESTART,
    UNDO,
    container,
    recreated,
    template,
)
from tests.incidents.needs import SERVICES, STORED, everyone_fine, its_users_fail, its_users_lag
from tests.incidents.scene import alert, failing_spans, hides, metric, shows

BREAKAGES = (
    Breakage(
        "memory limit too small",
        SERVICES,
        ("kubectl -n {ns} set resources deployment/{t} --limits=memory=12Mi --requests=memory=8Mi",),
        (
            its_users_fail(),
            shows(PODS, r"0/1 +(OOMKilled|CrashLoopBackOff) +[1-9]"),
            shows(DESCRIBE, "Reason: +OOMKilled", "Exit Code: +137"),
            alert("KubeContainerOOMKilled"),
            failing_spans("frontend"),
        ),
        (UNDO,),
    ),
    Breakage(
        "CPU limit too small",
        ("frontend", "profile", "rate", "reservation"),
        ("kubectl -n {ns} set resources deployment/{t} --limits=cpu=10m --requests=cpu=10m",),
        (
            shows(PODS, r"1/1 +Running +0"),
            everyone_fine(),
            its_users_lag(p99_s=0.1),
            metric(
                'sum(rate(container_cpu_cfs_throttled_periods_total{pod=~"{t}-.*"}[1m]))'
                ' / sum(rate(container_cpu_cfs_periods_total{pod=~"{t}-.*"}[1m]))',
                least=0.15,
            ),
        ),
        (UNDO,),
    ),
    Breakage(
        "requests that fit no node",
        STORED,
        (
            "kubectl -n {ns} set resources deployment/mongodb-{t} --limits=cpu=64 --requests=cpu=64",
            RESTART,
        ),
        (
            its_users_fail(),
            PENDING_DATABASE,
            shows(
                DESCRIBE_DATABASE,
                r"FailedScheduling .*0/4 nodes are available: 1 node\(s\) had untolerated taint.*, 3 Insufficient cpu\.",
            ),
            PANICS,
            alert("KubePodNotReady"),
        ),
        AFTERMATH,
    ),
    Breakage(
        "node that does not exist",
        (*SERVICES, "frontend"),
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
        (*SERVICES, "frontend"),
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
        "node that tolerates nobody",
        ("kind-worker", "kind-worker2", "kind-worker3"),
        ("kubectl taint nodes {t} maintenance=now:NoExecute",),
        (
            shows(EVENTS, r"TaintManagerEviction .*Marking for deletion Pod {ns}/"),
            shows("kubectl describe node {t}", r"^Taints: +maintenance=now:NoExecute"),
            hides("kubectl -n {ns} get pods -o wide", r" {t} "),
            metric('kube_node_spec_taint{node="{t}",key="maintenance"}', least=1),
        ),
        (
            "kubectl taint nodes {t} maintenance-",
            # What has moved left its data on the node or its registrations behind: all begin again, in order.
            "kubectl -n {ns} rollout restart deployment/geo deployment/rate deployment/profile deployment/recommendation"
            " deployment/reservation deployment/user",
            "sleep 20",
            "kubectl -n {ns} rollout restart deployment/search",
            "sleep 10",
            "kubectl -n {ns} rollout restart deployment/frontend",
        ),
    ),
    Breakage(
        "disruption budget against a drain",
        ("frontend", *SERVICES),
        (
            "kubectl -n {ns} create pdb {t} --selector=io.kompose.service={t} --min-available=1",
            "kubectl drain $(kubectl -n {ns} get pods -l io.kompose.service={t} -o jsonpath='{.items[0].spec.nodeName}')"
            " --ignore-daemonsets --delete-emptydir-data --pod-selector=io.kompose.service={t} --timeout=20s",
        ),
        (
            everyone_fine(),
            shows("kubectl -n {ns} get pdb {t}", r"^{t} +1 +N/A +0 "),
            shows("kubectl get nodes", "Ready,SchedulingDisabled"),
            shows(
                "kubectl drain $(kubectl -n {ns} get pods -l io.kompose.service={t} -o jsonpath='{.items[0].spec.nodeName}')"
                " --ignore-daemonsets --delete-emptydir-data --pod-selector=io.kompose.service={t} --timeout=8s",
                "Cannot evict pod as it would violate the pod's disruption budget.",
            ),
            metric("sum(kube_node_spec_unschedulable)", least=1),
        ),
        ("kubectl -n {ns} delete pdb {t}", "kubectl get nodes -o name | xargs kubectl uncordon"),
    ),
    Breakage(
        "local storage too small",
        SERVICES,
        (container("resources/limits/ephemeral-storage", '"1Ki"'),),
        (
            its_users_fail(least=0.01),
            shows(
                EVENTS,
                r"Evicted +pod/{t}-\w+-\w+ +Pod ephemeral local storage usage exceeds the total limit of containers 1Ki\.",
            ),
            shows(
                "kubectl -n {ns} get pods -l io.kompose.service={t} -o jsonpath='{.items[*].status.reason}'",
                "^Evicted",
            ),
            metric('sum(kube_pod_status_reason{reason="Evicted",pod=~"{t}-.*"})', least=1),
        ),
        (UNDO, "kubectl -n {ns} delete pods -l io.kompose.service={t} --field-selector=status.phase=Failed"),
    ),
)
