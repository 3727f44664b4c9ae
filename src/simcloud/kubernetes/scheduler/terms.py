"""The affinity terms of a pod about other pods, parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector, from_label_selector
from simcloud.kubernetes.component_client import ComponentClient

HARD_WEIGHT: Final = 1
"""What a rule that must hold counts for, when nodes are scored for the pods that it speaks of."""

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class Term(Struct, frozen=True):
    """Pods that a selector chooses, in some namespaces, in the same place by a node's label."""

    key: str
    selector: LabelSelector
    namespaces: tuple[str, ...]
    namespace_selector: LabelSelector | None
    weight: int

    def covers(self, namespace: str, client: ComponentClient) -> bool:
        """Whether the term speaks of pods in a namespace."""
        if namespace in self.namespaces:
            return True
        if self.namespace_selector is None:
            return False
        found = client.get("namespaces", "", namespace)
        return self.namespace_selector.matches(found["metadata"].get("labels") if found is not None else None)

    def matches(self, namespace: str, labels: Mapping[str, str], client: ComponentClient) -> bool:
        """Whether the term speaks of a pod with these labels."""
        return self.covers(namespace, client) and self.selector.matches(labels)


class Company(Struct, frozen=True):
    """All such rules of a pod: those that must hold, then those that count when nodes are scored."""

    near: tuple[Term, ...] = ()
    far: tuple[Term, ...] = ()
    preferred_near: tuple[Term, ...] = ()
    preferred_far: tuple[Term, ...] = ()


ALONE: Final = Company()


def company(namespace: str, affinity: Object | None) -> Company:
    """The rules in a pod's affinity."""
    near, far = (affinity or {}).get("podAffinity"), (affinity or {}).get("podAntiAffinity")
    if not near and not far:
        return ALONE
    return Company(
        _parse_required(namespace, near),
        _parse_required(namespace, far),
        _parse_preferred(namespace, near),
        _parse_preferred(namespace, far),
    )


def _parse_required(namespace: str, rules: Object | None) -> tuple[Term, ...]:
    return tuple(_term(namespace, term, HARD_WEIGHT) for term in (rules or {}).get(_REQUIRED) or ())


def _parse_preferred(namespace: str, rules: Object | None) -> tuple[Term, ...]:
    weighted = (rules or {}).get(_PREFERRED) or ()
    return tuple(_term(namespace, term["podAffinityTerm"], term["weight"]) for term in weighted)


def _term(namespace: str, spec: Object, weight: int) -> Term:
    names, selector = tuple(spec.get("namespaces") or ()), spec.get("namespaceSelector")
    return Term(
        spec["topologyKey"],
        from_label_selector(spec.get("labelSelector")),
        names if names or selector is not None else (namespace,),
        None if selector is None else from_label_selector(selector),
        weight,
    )
