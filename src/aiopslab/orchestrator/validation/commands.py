"""Commands of an operator who has not found the cause: they restart, undo or apply again whatever they can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LIST_WORKLOADS: Final = (
    "kubectl get deployments,statefulsets -A --no-headers -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name "
    "| grep -v -E '^(kube-|local-path|default )'"
)
"""Lists namespace and name of every workload that is not part of the cluster itself."""
LIST_NAMESPACES: Final = f"$({LIST_WORKLOADS} | awk '{{print $1}}' | sort -u)"
"""The namespaces of these workloads."""
_LIST_RELEASES: Final = """helm list -A -o json | jq -r '.[] | .name + " " + .namespace + " " + .revision'"""

UNDO_ROLLOUTS: Final = (
    f"{LIST_WORKLOADS} | while read ns name; do kubectl -n $ns rollout undo deployment/$name; done"
)
SCALE_ALL: Final = f"for ns in {LIST_NAMESPACES}; do kubectl -n $ns scale deployment --all --replicas=1; done"
ROLL_BACK_RELEASES: Final = (
    f"{_LIST_RELEASES} | while read name ns now; do helm rollback $name 1 -n $ns; done"
)
REAPPLY_RELEASES: Final = (
    f"{_LIST_RELEASES} | while read name ns now; do helm rollback $name $now -n $ns; done"
)
APPLY_ALL: Final = (
    f"for ns in {LIST_NAMESPACES}; do "
    "for object in $(kubectl -n $ns get deployments,services,configmaps -o name); do "
    "kubectl -n $ns apply view-last-applied $object -o json 2> /dev/null | kubectl apply -f - 2> /dev/null; done; done"
)
FLUSH_FILTERS: Final = (
    "for node in $(kubectl get nodes -o name); do ssh ${node#node/} iptables -F FORWARD; done"
)

_KINDS: Final = "deployments,services,configmaps,networkpolicies"
NEWEST: Final = (
    f"kubectl -n {{ns}} get {_KINDS} -o json | "
    "jq -r '.items | max_by(.metadata.resourceVersion | tonumber) | (.kind | ascii_downcase) + \"/\" + .metadata.name'"
)
"""Prints the object with the newest resource version."""
_UNREADY: Final = (
    "kubectl -n {ns} get deployments -o json | "
    "jq -r '.items[] | select((.status.readyReplicas // 0) < .spec.replicas) | .metadata.name'"
)
_RESET: Final = (
    "kubectl -n {ns} apply view-last-applied $object -o json 2> /dev/null | kubectl apply -f - 2> /dev/null"
)
_WORKERS: Final = "$(kubectl get nodes -o name | grep -v control-plane)"

BLIND_REPAIRS: Final[Mapping[str, tuple[str, ...]]] = {
    "nothing": (),
    "restart all": (),
    "undo all": (UNDO_ROLLOUTS,),
    "apply all again": (APPLY_ALL, REAPPLY_RELEASES),
    "roll back all": (ROLL_BACK_RELEASES, UNDO_ROLLOUTS),
    "drain all": (
        f"for node in {_WORKERS}; do kubectl drain $node --ignore-daemonsets --delete-emptydir-data --force --timeout=60s; "
        "kubectl uncordon $node; done",
    ),
    "recreate from a dump": (
        "kubectl -n {ns} get deployments,services -o json | "
        "jq 'del(.items[].metadata.resourceVersion, .items[].metadata.uid, .items[].status)' > dump.json; "
        "kubectl -n {ns} delete -f dump.json; kubectl -n {ns} create -f dump.json",
    ),
    "revert the newest change": (
        f"object=$({NEWEST}); case $object in deployment/*) kubectl -n {{ns}} rollout undo $object;; "
        f"networkpolicy/*) kubectl -n {{ns}} delete $object;; *) {_RESET};; esac",
    ),
    "reset live to last-applied": (
        f"for object in $(kubectl -n {{ns}} get {_KINDS} -o name); do "
        "kubectl -n {ns} apply view-last-applied $object -o json 2> /dev/null > applied.json && "
        "! kubectl diff -f applied.json > /dev/null 2>&1 && kubectl apply -f applied.json; done",
    ),
    "a fixed script of guarded lines": (
        "for node in $(kubectl get nodes -o json | jq -r '.items[] | select(.spec.unschedulable) | .metadata.name'); do kubectl uncordon $node; done",
        "kubectl -n {ns} get deployments -o json | jq -r '.items[] | select(.spec.replicas == 0) | .metadata.name' | "
        "xargs -r -I@ kubectl -n {ns} scale deployment/@ --replicas=1",
        f"for name in $({_UNREADY}); do kubectl -n {{ns}} rollout undo deployment/$name; done",
        "sleep 20",
        f"for name in $({_UNREADY}); do object=deployment/$name; {_RESET}; done",
        "sleep 20",
        "for name in $(kubectl -n {ns} get endpoints -o json | jq -r '.items[] | select(.subsets | not) | .metadata.name'); do "
        f"object=service/$name; {_RESET}; done",
        f"for name in $({_UNREADY}); do kubectl -n {{ns}} rollout restart deployment/$name; done",
        FLUSH_FILTERS,
    ),
}
"""Lines that are typed before the submission, by recipe; ``{ns}`` is the application's namespace."""
