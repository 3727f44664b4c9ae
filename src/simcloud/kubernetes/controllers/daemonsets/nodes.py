"""Nodes that match a DaemonSet, and the node affinity of its pods."""

from __future__ import annotations

from typing import Final, TypeAlias

from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.placement import meets_term, tolerates

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TAINTS: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
Fit: TypeAlias = tuple[bool, bool]
"""Whether a node shall get a pod, and whether a present one may stay."""
_HOST_NETWORK_TAINT: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def tolerations(spec: Object) -> list[Object]:
    """What a daemon's pod tolerates: what its template says, and the troubles of a node that it serves."""
    tolerated: list[Object] = copy(spec.get("tolerations") or [])
    for key, effect in (*_TAINTS, *([_HOST_NETWORK_TAINT] if spec.get("hostNetwork") else [])):
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        same = [
            toleration
            for toleration in tolerated
            if wanted.items() <= toleration.items() and not toleration.get("value")
        ]
        if same:
            same[0].pop("tolerationSeconds", None)
        else:
            tolerated.append(wanted)
    return tolerated


def should_run(node: Object, daemon_set: Object) -> Fit:
    """Whether a node shall get a pod, and whether a present one may stay."""
    spec = daemon_set["spec"]["template"]["spec"]
    name = node["metadata"]["name"]
    if spec.get("nodeName", name) != name or not _fits(spec, node):
        return False, False
    taints = node.get("spec", {}).get("taints") or ()
    tolerated = tolerations(spec) if taints else []
    untolerated = [
        taint
        for taint in taints
        if taint["effect"] != "PreferNoSchedule"
        and not any(tolerates(toleration, taint) for toleration in tolerated)
    ]
    return not untolerated, all(taint["effect"] != "NoExecute" for taint in untolerated)


def bind(spec: Object, node: str) -> None:
    """Make a pod's affinity name one node; the scheduler does the rest."""
    affinity = spec.setdefault("affinity", {})
    required = affinity.setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required["nodeSelectorTerms"] = [{"matchFields": [field]}]


def target_node(pod: Object) -> str:
    """The node that a pod runs on or was made for; empty if neither is known."""
    name: str = pod["spec"].get("nodeName", "")
    for term in at(pod, "spec", "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms", default=()):
        for field in term.get("matchFields") or ():
            if not name and field["key"] == "metadata.name" and field["operator"] == "In":
                name = field["values"][0]
    return name


def _fits(spec: Object, node: Object) -> bool:
    labels = node["metadata"].get("labels") or {}
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False
    terms = at(spec, "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    return terms is None or any(meets_term(term, node["metadata"]["name"], labels) for term in terms)
