"""Who is let in: quotas, limits, accounts, webhooks, and policies of the network."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.lines import EVENTS, PODS, RESTART, UNDO, policy, recreated, template
from tests.incidents.needs import EVERYONE, SERVICES, everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, metric, shows, users_fail

WEBHOOK = (
    '{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"guard"},'
    '"webhooks":[{"name":"guard.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","clientConfig":'
    '{"service":{"namespace":"default","name":"guard","path":"/validate"}},"rules":[{"apiGroups":[""],'
    '"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]}]}'
)

BREAKAGES = (
    Breakage(
        "quota on pods",
        SERVICES,
        ("kubectl -n {ns} create quota tiny --hard=pods=5", RESTART),
        (
            its_users_fail(),
            shows("kubectl -n {ns} get deployment {t}", r"0/1 +0 +0"),
            shows(
                EVENTS,
                r'FailedCreate .*pods "{t}-\w+-\w+" is forbidden: exceeded quota: tiny, requested: pods=1, used: pods=\d+, limited: pods=5',
            ),
            shows("kubectl -n {ns} describe quota tiny", r"^pods +18 +5"),
            metric('kube_resourcequota{resourcequota="tiny",type="used"}', least=18),
            failing_spans("frontend"),
        ),
        (
            "kubectl -n {ns} delete quota tiny",
            "kubectl -n {ns} rollout restart deployment/{t}",
        ),
    ),
    Breakage(
        "quota on memory",
        SERVICES,
        ("kubectl -n {ns} create quota memory --hard=limits.memory=8Gi", RESTART),
        (
            its_users_fail(),
            shows(
                EVENTS,
                r"is forbidden: failed quota: memory: must specify limits.memory for: hotel-reserv-{t}",
            ),
            shows("kubectl -n {ns} get deployment {t}", r"0/1 +0 +0"),
            alert("KubeDeploymentReplicasMismatch"),
        ),
        (
            "kubectl -n {ns} delete quota memory",
            "kubectl -n {ns} rollout restart deployment/{t}",
        ),
    ),
    Breakage(
        "limit range",
        SERVICES,
        (
            policy("small", "LimitRange", "v1", '{"limits":[{"type":"Container","max":{"cpu":"500m"}}]}'),
            RESTART,
        ),
        (
            its_users_fail(),
            shows(
                EVENTS,
                r'FailedCreate .*pods "{t}-\w+-\w+" is forbidden: maximum cpu usage per Container is 500m, but limit is 1',
            ),
            shows("kubectl -n {ns} get deployment {t}", r"0/1 +0 +0"),
            shows("kubectl -n {ns} describe limitrange small", r"Container +cpu +- +500m"),
            failing_spans("frontend"),
        ),
        (
            "kubectl -n {ns} delete limitrange small",
            "kubectl -n {ns} rollout restart deployment/{t}",
        ),
    ),
    Breakage(
        "namespace restricted",
        SERVICES,
        ("kubectl label namespace {ns} pod-security.kubernetes.io/enforce=restricted", RESTART),
        (
            its_users_fail(),
            shows(
                EVENTS,
                r'FailedCreate .*is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
            ),
            shows("kubectl -n {ns} get deployment {t}", r"0/1 +0 +0"),
            failing_spans("frontend"),
        ),
        (
            "kubectl label namespace {ns} pod-security.kubernetes.io/enforce-",
            "kubectl -n {ns} rollout restart deployment/{t}",
        ),
    ),
    Breakage(
        "service account that is not there",
        SERVICES,
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
        "priority class that is not there",
        SERVICES,
        (template('{"priorityClassName":"gold"}'),),
        (
            everyone_fine(),
            shows(
                EVENTS,
                r'FailedCreate .*pods "{t}-\w+-" is forbidden: no PriorityClass with name gold was found',
            ),
            shows("kubectl -n {ns} describe deployment {t}", r"ReplicaFailure +True +FailedCreate"),
            shows(
                "kubectl -n {ns} rollout status deployment/{t} --timeout=5s",
                "0 out of 1 new replicas have been updated",
            ),
        ),
        (UNDO,),
    ),
    Breakage(
        "webhook that is not there",
        SERVICES,
        (
            "echo '" + WEBHOOK + "' | kubectl apply -f -",
            RESTART,
        ),
        (
            its_users_fail(),
            shows("kubectl -n {ns} get deployment {t}", r"0/1 +0 +0"),
            shows(
                EVENTS,
                r'FailedCreate .*replicaset/{t}-\w+ .*failed calling webhook "guard.example.com": failed to call webhook: '
                r'Post "https://guard.default.svc:443/validate\?timeout=10s": service "guard" not found',
            ),
            failing_spans("frontend"),
            alert("KubeDeploymentReplicasMismatch"),
        ),
        (
            "kubectl delete validatingwebhookconfiguration guard",
            "kubectl -n {ns} rollout restart deployment/{t}",
        ),
    ),
    Breakage(
        "namespace closed",
        ("frontend",),
        (
            policy(
                "closed",
                "NetworkPolicy",
                "networking.k8s.io/v1",
                '{"podSelector":{},"policyTypes":["Ingress","Egress"]}',
            ),
        ),
        (
            users_fail(*EVERYONE, kind="timeout|timed out"),
            shows("kubectl -n {ns} get networkpolicy", r"^closed +<none>"),
            shows(PODS, r"1/1 +Running +0"),
            shows("curl -sS -m 3 http://172.18.0.3:30500/", "timed out|Timeout was reached"),
        ),
        ("kubectl -n {ns} delete networkpolicy closed",),
    ),
)
