"""Who is let in: quotas, limits, accounts, webhooks, and policies of the network."""

from __future__ import annotations

from tests.incidents.breakage import Breakage
from tests.incidents.hotels.needs import SERVICES
from tests.incidents.lines import EVENTS, RESTART, UNDO, policy, template
from tests.incidents.needs import everyone_fine, its_users_fail
from tests.incidents.scene import alert, failing_spans, shows

WEBHOOK = (
    '{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"guard"},'
    '"webhooks":[{"name":"guard.example.com","admissionReviewVersions":["v1"],"sideEffects":"None","clientConfig":'
    '{"service":{"namespace":"default","name":"guard","path":"/validate"}},"rules":[{"apiGroups":[""],'
    '"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]}]}'
)

BREAKAGES = (
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
)
