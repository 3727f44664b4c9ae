"""Taking back without looking: lines that somebody types who has understood nothing but that something was changed.

Each takes back one kind of change wherever there is any. What was wanted goes with it, so none of them is a repair.
"""

from __future__ import annotations

from typing import Final

WORKLOADS: Final = (
    "kubectl get deployments,statefulsets -A --no-headers -o custom-columns=NS:.metadata.namespace,NAME:.metadata.name "
    "| grep -v -E '^(kube-|local-path|default )'"
)
"""Every workload that is not the cluster's own: its namespace and name."""
NAMESPACES: Final = f"$({WORKLOADS} | awk '{{print $1}}' | sort -u)"
"""Theirs, each once."""
_RELEASES: Final = """helm list -A -o json | jq -r '.[] | .name + " " + .namespace + " " + .revision'"""

UNDO: Final = f"{WORKLOADS} | while read ns name; do kubectl -n $ns rollout undo deployment/$name; done"
SCALE: Final = f"for ns in {NAMESPACES}; do kubectl -n $ns scale deployment --all --replicas=1; done"
FIRST_RELEASE: Final = f"{_RELEASES} | while read name ns now; do helm rollback $name 1 -n $ns; done"
THIS_RELEASE: Final = f"{_RELEASES} | while read name ns now; do helm rollback $name $now -n $ns; done"
APPLY: Final = (
    f"for ns in {NAMESPACES}; do "
    "for one in $(kubectl -n $ns get deployments,services,configmaps -o name); do "
    "kubectl -n $ns apply view-last-applied $one -o json 2> /dev/null | kubectl apply -f - 2> /dev/null; done; done"
)
FILTERS: Final = "for node in $(kubectl get nodes -o name); do ssh ${node#node/} iptables -F FORWARD; done"
