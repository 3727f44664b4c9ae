"""Lines that are typed again and again, and what they are expected to show."""

from __future__ import annotations

from tests.incidents.scene import shows

UNDO = "kubectl -n {ns} rollout undo deployment/{t}"
RESTART = "kubectl -n {ns} delete pod -l {label}={t}"
PODS = "kubectl -n {ns} get pods -l {label}={t}"
DESCRIBE = "kubectl -n {ns} describe pods --show-events -l {label}={t}"
EVENTS = "kubectl -n {ns} get events"
ONE_AT_MOST = (
    "kubectl -n {ns} patch deployment {t} -p"
    ' \'{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1,"maxSurge":0}}}}\''
)
"""A new pod takes the place of the old one, whether it gets ready or not."""
CRASHING = shows(PODS, r"0/1 +(Error|CrashLoopBackOff) +[1-9]")
BARE = "del(.metadata.resourceVersion, .metadata.uid, .status)"
PUT_BACK = "kubectl apply -f /tmp/saved.json"
THROTTLED = (
    'sum(rate(container_cpu_cfs_throttled_periods_total{pod=~"{t}-.*"}[1m]))'
    ' / sum(rate(container_cpu_cfs_periods_total{pod=~"{t}-.*"}[1m]))'
)
"""The share of periods in which a container wanted more than it may have."""
UNDISTURBED = r"1/1 +Running +(0|\d+ \(\d+d ago\))"
"""A pod that has not restarted since the breakage, at most in its weeks before."""
RESTARTED = r"1/1 +Running +[12] \([0-9ms]+ ago\)"
"""A pod that has restarted just now, perhaps after a restart in its weeks before."""
RUNNING = shows(PODS, UNDISTURBED)


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
        f"kubectl -n {{ns}} get deployment {{t}} -o json | jq '{BARE} | "
        f".spec.template.spec{change}' | kubectl replace --force -f -"
    )


def policy(name: str, kind: str, version: str, spec: str) -> str:
    """The line that puts an object into the namespace."""
    document = f'{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"{name}"}},"spec":{spec}}}'
    return f"echo '{document}' | kubectl -n {{ns}} apply -f -"


def saved(kind: str, name: str) -> str:
    """The line that keeps an object, so that ``PUT_BACK`` makes it anew."""
    return f"kubectl -n {{ns}} get {kind} {name} -o json | jq '{BARE}' > /tmp/saved.json"


def netem(change: str, deployment: str = "{t}") -> str:
    """The line that changes how the network of a Deployment's pod fares."""
    pod = f"$(kubectl -n {{ns}} get pod -l {{label}}={deployment} -o name | head -1)"
    return (
        f"kubectl -n {{ns}} debug {pod} --image=nicolaka/netshoot --profile=netadmin -q -- tc qdisc {change}"
    )


def queueing(deployment: str = "{t}") -> str:
    """The line that shows the queueing disciplines of a Deployment's pod."""
    return netem("show dev eth0", deployment).replace(" -q -- ", " -q --attach -- ")


def memcached(deployment: str, command: str) -> str:
    """The line that sends a command to a cache, whose image has no network tools but bash."""
    talk = f'exec 3<>/dev/tcp/localhost/11211; printf "{command}\\r\\nquit\\r\\n" >&3; cat <&3'
    return f"kubectl -n {{ns}} exec deploy/{deployment} -- bash -c '{talk}'"


def port(service: str, field: str, value: int) -> str:
    """The line that changes the first port of a Service."""
    change = f'[{{"op":"replace","path":"/spec/ports/0/{field}","value":{value}}}]'
    return f"kubectl -n {{ns}} patch service {service} --type=json -p '{change}'"
