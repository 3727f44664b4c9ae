"""Commands of an operator who has not found the cause: they restart, undo or apply again whatever they can."""

from __future__ import annotations

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
