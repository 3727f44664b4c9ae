"""Lines that are typed again and again, and what they are expected to show."""

from __future__ import annotations

from tests.incidents.scene import logged, shows

UNDO = "kubectl -n {ns} rollout undo deployment/{t}"
RESTART = "kubectl -n {ns} delete pod -l io.kompose.service={t}"
PODS = "kubectl -n {ns} get pods -l io.kompose.service={t}"
DESCRIBE = "kubectl -n {ns} describe pods --show-events -l io.kompose.service={t}"
EVENTS = "kubectl -n {ns} get events"
CRASHING = shows(PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]")

UNDO_DATABASE = "kubectl -n {ns} rollout undo deployment/mongodb-{t}"
READY_DATABASE = "kubectl -n {ns} rollout status deployment/mongodb-{t} --timeout=50s"
DATABASE_PODS = "kubectl -n {ns} get pods -l io.kompose.service=mongodb-{t}"
DESCRIBE_DATABASE = "kubectl -n {ns} describe pods --show-events -l io.kompose.service=mongodb-{t}"
AFTERMATH = (UNDO_DATABASE, READY_DATABASE, RESTART)
"""A database comes back, and then the service that gave up on it."""
PENDING_DATABASE = shows(DATABASE_PODS, r"0/1 +Pending +0")
PANICS = logged('pod=~"{t}-.*"', "panic: no reachable servers")


def template(change: str, deployment: str = "{t}") -> str:
    """The line that merges a change into the pods of a Deployment."""
    return f'kubectl -n {{ns}} patch deployment {deployment} -p \'{{"spec":{{"template":{{"spec":{change}}}}}}}\''


def container(path: str, value: str, op: str = "add", deployment: str = "{t}") -> str:
    """The line that changes the first container of a Deployment."""
    where = f"/spec/template/spec/containers/0/{path}"
    change = f'[{{"op":"{op}","path":"{where}","value":{value}}}]'
    return f"kubectl -n {{ns}} patch deployment {deployment} --type=json -p '{change}'"


def recreated(change: str) -> str:
    """The line that makes the target's Deployment anew, changed."""
    return (
        "kubectl -n {ns} get deployment {t} -o json | jq 'del(.metadata.resourceVersion, .metadata.uid, .status) | "
        f".spec.template.spec{change}' | kubectl replace --force -f -"
    )


def policy(name: str, kind: str, version: str, spec: str) -> str:
    """The line that puts an object into the namespace."""
    document = f'{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"{name}"}},"spec":{spec}}}'
    return f"echo '{document}' | kubectl -n {{ns}} apply -f -"
