"""InterPodAffinity: pods that must, or must not, share a place with others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from aiopslab.cluster.api.objects import Object, at
from aiopslab.cluster.api.selectors import from_label_selector
from aiopslab.cluster.scheduler.framework import Check, Rejection, View
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

_NAME: Final = "InterPodAffinity"
_APART: Final = Rejection(_NAME, ("node(s) didn't match pod affinity rules",), final=True)
_TOGETHER: Final = Rejection(_NAME, ("node(s) didn't match pod anti-affinity rules",))
_UNWELCOME: Final = Rejection(_NAME, ("node(s) didn't satisfy existing pods anti-affinity rules",))


def prepare(pod: PodInfo, view: View) -> Check | None:
    """Nothing to check where nobody has such rules about this pod."""
    attracted, repelled = required(pod, "podAffinity"), required(pod, "podAntiAffinity")
    shunned = [
        (node, other, term)
        for node in view.nodes()
        for other in node.shunning()
        for term in required(other, "podAntiAffinity")
        if _matches(term, other, pod, view)
    ]
    if not attracted and not repelled and not shunned:
        return None

    def present(node: NodeInfo) -> Iterable[NodeInfo]:
        return (node if one.name == node.name else one for one in view.nodes())

    def holds(term: Object, node: NodeInfo) -> bool:
        value = node.labels.get(term["topologyKey"])
        return value is not None and any(
            _matches(term, pod, other, view)
            for one in present(node)
            if one.labels.get(term["topologyKey"]) == value
            for other in one.pods.values()
        )

    def first_of_its_kind(node: NodeInfo) -> bool:
        """A pod that matches its own rules may come first, where no other matches them anywhere."""
        return (
            all(_matches(term, pod, pod, view) and term["topologyKey"] in node.labels for term in attracted)
            and not any(
                all(_matches(term, pod, other, view) for term in attracted)
                for one in present(node)
                for other in one.pods.values()
            )
        )  # fmt: skip

    def check(node: NodeInfo) -> Rejection | None:
        if not all(holds(term, node) for term in attracted) and not first_of_its_kind(node):
            return _APART
        if any(holds(term, node) for term in repelled):
            return _TOGETHER
        for where, other, term in shunned:
            gone = where.name == node.name and other.uid not in node.pods
            value = node.labels.get(term["topologyKey"])
            if not gone and value is not None and where.labels.get(term["topologyKey"]) == value:
                return _UNWELCOME
        return None

    return check


def required(pod: PodInfo, side: str) -> list[Object]:
    """The rules of a pod that must hold."""
    found = at(pod.spec, "affinity", side, "requiredDuringSchedulingIgnoredDuringExecution")
    return list(found or ())


def _matches(term: Object, owner: PodInfo, other: PodInfo, view: View) -> bool:
    return _in_scope(term, owner, other.namespace, view) and from_label_selector(
        term.get("labelSelector")
    ).matches(other.labels)


def _in_scope(term: Object, owner: PodInfo, namespace: str, view: View) -> bool:
    names, selector = term.get("namespaces") or (), term.get("namespaceSelector")
    if not names and selector is None:
        return namespace == owner.namespace
    if namespace in names or selector is None:
        return namespace in names
    found = view.client.get("namespaces", "", namespace)
    labels = found["metadata"].get("labels") if found is not None else None
    return from_label_selector(selector).matches(labels)
