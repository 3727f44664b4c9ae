"""Labels of nodes that have a newer name, and the warnings of their use."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import items, text

NEWER_LABELS = {
    "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
}
"""Each old label, since when it is old, and its newer name."""


def label_warning(path: str, key: str) -> list[str]:
    """What is warned of a label of nodes."""
    if key not in NEWER_LABELS:
        return []
    since, newer = NEWER_LABELS[key]
    return [f'{path}: deprecated since {since}; use "{newer}" instead']


def term_warnings(path: str, term: Object) -> list[str]:
    """What is warned of a term that selects nodes."""
    told: list[str] = []
    for index, requirement in enumerate(items(term, "matchExpressions")):
        key = text(requirement, "key")
        place = f"{path}.matchExpressions[{index}].key"
        told += [line.replace(": ", f": {key} is ", 1) for line in label_warning(place, key)]
    return told
