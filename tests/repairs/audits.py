"""Repairs of what costs too much, and of violations of the security policy."""

from __future__ import annotations

from tests.repairs.table import Repairs

K = "kubectl -n {ns}"
RESTART = f"{K} rollout restart deployment/{{t}}"
GET = f"{K} get deployment {{t}} -o json"
CONTAINER = ".spec.template.spec.containers[0]"
IDLE = "{t}-{suffix}"
TOOL = "{t}-{tool}"


def edit(fix: str, what: str = "deployment {t}") -> str:
    """Return the line that changes an object with a jq filter."""
    return f"{K} get {what} -o json | jq '{fix}' | {K} replace -f -"


def change_container(change: str) -> str:
    """Return the line that merges a change into the target's first container."""
    return f'{K} patch deployment {{t}} -p \'{{"spec":{{"template":{{"spec":{{"containers":[{{"name":"{{c}}",{change}}}]}}}}}}}}\''


def isolate(spec: str, name: str = TOOL) -> str:
    """Return the line that creates a NetworkPolicy; ``spec`` is JSON without its braces."""
    policy = f'{{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{{"name":"{name}"}},"spec":{{{spec}}}}}'
    return f"echo '{policy}' | {K} apply -f -"


def bind(role: str, subject: str) -> str:
    """Return the line that binds another role, or to others, under the same name."""
    return f"{K} delete rolebinding {{t}}-{{suffix}}; {K} create rolebinding {{t}}-{{suffix}} --clusterrole={role} {subject}"


ACCOUNT = "--serviceaccount={ns}:default"
PARTNER = '"podSelector":{"matchLabels":{"exposure":"partner"}}'
OWN = '"podSelector":{"matchLabels":{"app":"{t}-{tool}"}}'
INGRESS = '"policyTypes":["Ingress"]'

REPAIRS = {
    "idle_workload": Repairs(
        right=(
            f"{K} delete deployment {IDLE}",
            f"{K} scale deployment/{IDLE} --replicas=0",
            edit(".spec.replicas = 0", f"deployment {IDLE}"),
        ),
        wrong=(
            f"{K} delete pods -l app={IDLE}",
            f"{K} scale deployment/{IDLE} --replicas=3",
            f"{K} delete deployment {IDLE} --cascade=orphan",
            f"{K} delete deployment {IDLE}; {K} delete deployment {{t}}",
            f"{K} scale deployment/jaeger --replicas=0",
        ),
    ),
    "oversized_requests": Repairs(
        right=(
            f"{K} set resources deployment/{{t}} --requests=cpu=50m,memory=64Mi --limits=cpu=1,memory=1Gi",
            edit(f"del({CONTAINER}.resources)"),
            change_container('"resources":{"requests":{"cpu":"10m","memory":"32Mi"}}'),
        ),
        wrong=(
            RESTART,
            f"{K} set resources deployment/{{t}} --requests=cpu=1500m",
            f"{K} set resources deployment/{{t}} --requests=cpu=2m,memory=4Mi --limits=cpu=2m,memory=4Mi",
            f"{K} scale deployment/{{t}} --replicas=0",
        ),
    ),
    "runaway_autoscaler": Repairs(
        right=(
            f"{K} delete hpa {{t}}; {K} scale deployment/{{t}} --replicas=1; {K} set resources deployment/{{t}} --requests=cpu=0",
            f'{K} patch hpa {{t}} -p \'{{"spec":{{"minReplicas":1,"maxReplicas":2}}}}\'; {K} set resources deployment/{{t}} --requests=cpu=50m; sleep 400',
            f"{K} delete hpa {{t}}; {K} rollout undo deployment/{{t}}; {K} scale deployment/{{t}} --replicas=1",
        ),
        wrong=(
            f"{K} scale deployment/{{t}} --replicas=1; sleep 60",
            f"{K} delete hpa {{t}}",
            f'{K} patch hpa {{t}} -p \'{{"spec":{{"minReplicas":6}}}}\'',
            f"{K} delete hpa {{t}}; {K} scale deployment/{{t}} --replicas=0",
        ),
    ),
    "broad_role_binding": Repairs(
        right=(
            f"{K} delete rolebinding {{t}}-{{suffix}}",
            bind("view", ACCOUNT),
            f'{K} patch rolebinding {{t}}-{{suffix}} --type=json -p \'[{{"op":"remove","path":"/subjects"}}]\'',
        ),
        wrong=(
            RESTART,
            f"{K} delete serviceaccount default",
            # Every service account of the namespace, by their group.
            bind("cluster-admin", "--group=system:serviceaccounts:{ns}"),
            f"{K} delete rolebinding {{t}}-{{suffix}}; kubectl create clusterrolebinding {{t}}-{{suffix}} --clusterrole=cluster-admin {ACCOUNT}",
            f"{K} create serviceaccount {{t}}; {bind('cluster-admin', '--serviceaccount={ns}:{t}')}",
        ),
    ),
    "exposed_service": Repairs(
        right=(
            f'{K} patch service {{t}} -p \'{{"spec":{{"type":"ClusterIP"}}}}\'',
            edit('.spec.type = "ClusterIP" | del(.spec.ports[].nodePort)', "service {t}"),
            edit('.spec.type = "ClusterIP" | del(.spec.ports[].nodePort)', "service {t}").replace(
                "replace", "apply"
            ),
        ),
        wrong=(
            RESTART,
            edit('.spec.type = "NodePort" | del(.spec.ports[].nodePort)', "service {t}"),
            f"{K} delete service {{t}}",
            isolate('"podSelector":{"matchLabels":{"app":"{t}"}},"policyTypes":["Ingress"]', "{t}"),
        ),
    ),
    "privileged_container": Repairs(
        right=(
            change_container('"securityContext":{"privileged":false}'),
            edit(f"del({CONTAINER}.securityContext)"),
            change_container('"securityContext":{"privileged":null,"allowPrivilegeEscalation":false}'),
        ),
        wrong=(
            RESTART,
            change_container('"securityContext":{"capabilities":{"drop":["ALL"]}}'),
            f"{K} scale deployment/{{t}} --replicas=0",
            f"{K} delete deployment {{t}}",
        ),
    ),
    "unisolated_workload": Repairs(
        right=(
            isolate(f"{PARTNER},{INGRESS}"),
            isolate(
                f'{OWN},{INGRESS},"ingress":[{{"from":[{{"podSelector":{{"matchLabels":{{"app":"{{t}}"}}}}}}]}}]'
            ),
            isolate(
                f'{OWN},"policyTypes":["Ingress","Egress"],"egress":[{{}}],"ingress":[{{"from":[{{"ipBlock":{{"cidr":"203.0.113.0/24"}}}}]}}]'
            ),
        ),
        wrong=(
            f"{K} delete deployment {TOOL}",
            isolate(f'{OWN},{INGRESS},"ingress":[{{}}]'),
            isolate(f'{OWN},"policyTypes":["Egress"]'),
            # Rules that name everybody.
            isolate(f'{OWN},{INGRESS},"ingress":[{{"from":[{{"namespaceSelector":{{}}}}]}}]'),
            isolate(f'{OWN},{INGRESS},"ingress":[{{"from":[{{"ipBlock":{{"cidr":"0.0.0.0/0"}}}}]}}]'),
            isolate(
                f'"podSelector":{{"matchExpressions":[{{"key":"app","operator":"In","values":["tool"]}}]}},{INGRESS}'
            ),
        ),
    ),
}
