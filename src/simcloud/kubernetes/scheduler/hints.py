"""Queueing hints: which changes may make a rejected pod schedulable, according to the filters that rejected it.

A pod that no filter rejected, because there was no node, is retried after any change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.scheduler.filters import (
    affinity,
    claims,
    pod_affinity,
    ports,
    resources,
    restrictions,
    spread,
    taints,
    unschedulable,
    zones,
)
from simcloud.kubernetes.scheduler.node_info import NodeInfo, conflicts
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.terms import Term

NODE: Final = "node"
NODE_GONE: Final = "node gone"
PLACED: Final = "pod placed"
GONE: Final = "pod gone"
RELABELLED: Final = "pod relabelled"
CLAIM: Final = "persistentvolumeclaims"
VOLUME: Final = "persistentvolumes"
CLASS: Final = "storageclasses.storage.k8s.io"
STORAGE: Final = (CLAIM, VOLUME, CLASS)


class Change(Struct, frozen=True):
    """Something that happened: to a node or a pod, now and before, or to another object."""

    kind: str
    client: ComponentClient
    node: NodeInfo | None = None
    node_before: NodeInfo | None = None
    pod: PodInfo | None = None
    pod_before: PodInfo | None = None
    object: Object | None = None
    before: Object | None = None


Hint = Callable[[PodInfo, Change], bool]


def node_of(obj: Object | None) -> NodeInfo | None:
    """A node as it would be without pods."""
    if obj is None:
        return None
    info = NodeInfo(obj["metadata"]["name"])
    info.set_node(obj)
    return info


def _always(pod: PodInfo, change: Change) -> bool:
    return True


def _new_node(pod: PodInfo, change: Change) -> bool:
    return change.node_before is None


def _has_new_labels(pod: PodInfo, change: Change) -> bool:
    """A new node, or one with other labels."""
    before, now = change.node_before, change.node
    return before is None or now is None or before.labels != now.labels


def _is_uncordoned(pod: PodInfo, change: Change) -> bool:
    before, now = change.node_before, change.node
    return now is not None and not now.unschedulable and (before is None or before.unschedulable)


def _tolerable(pod: PodInfo, change: Change) -> bool:
    return _now_but_not_before(change, lambda node: _tolerates(pod, node))


def _suitable(pod: PodInfo, change: Change) -> bool:
    return _now_but_not_before(change, lambda node: affinity.suits(pod, node))


def _larger(pod: PodInfo, change: Change) -> bool:
    """A node that is large enough when empty, and has more of something that the pod wants than before."""
    before, now = change.node_before, change.node
    if now is None or any(amount > now.allocatable.get(name, 0) for name, amount in pod.requests.items()):
        return False
    wanted = (*(name for name, amount in pod.requests.items() if amount), "pods")
    return before is None or any(
        now.allocatable.get(name, 0) > before.allocatable.get(name, 0) for name in wanted
    )


def _frees_ports(pod: PodInfo, change: Change) -> bool:
    left = change.pod
    return left is not None and any(conflicts(port, other) for port in left.ports for other in pod.ports)


def _frees_claim(pod: PodInfo, change: Change) -> bool:
    left = change.pod
    return (
        left is not None
        and left.namespace == pod.namespace
        and any(claim in left.claims for claim in pod.claims)
    )


def _own_claim(pod: PodInfo, change: Change) -> bool:
    metadata = (change.object or {}).get("metadata") or {}
    return metadata.get("namespace") == pod.namespace and metadata.get("name") in pod.claims


def _of_the_kind(pod: PodInfo, change: Change) -> bool:
    """A pod that a constraint counts came, went, or became one or none."""
    wanted = spread.constraints(pod, "DoNotSchedule")

    def counts(other: PodInfo | None) -> list[bool]:
        same = other is not None and other.namespace == pod.namespace
        return [
            other is not None and same and constraint.selector.matches(other.labels) for constraint in wanted
        ]

    before, now = counts(change.pod_before), counts(change.pod)
    return before != now if change.kind == RELABELLED else any(now)


def _domain(pod: PodInfo, change: Change) -> bool:
    """A node with the labels of all constraints came, went, or changed these."""
    wanted = spread.constraints(pod, "DoNotSchedule")
    before, now = change.node_before, change.node
    if now is None or not all(constraint.key in now.labels for constraint in wanted):
        return False
    if before is None or change.kind == NODE_GONE:
        return True
    if any(before.labels.get(constraint.key) != now.labels[constraint.key] for constraint in wanted):
        return True
    return (
        any(constraint.honours_taints for constraint in wanted)
        and before.blocking_taints != now.blocking_taints
    )


def _better_company(pod: PodInfo, change: Change) -> bool:
    """A pod came that is wanted, or one went that was not, or that did not want this one."""
    now, before = change.pod, change.pod_before
    rules, client = pod.company, change.client
    if now is None:
        return False
    if change.kind == GONE:
        return _any(rules.far, now, client) or _any(now.company.far, pod, client)
    if _all(rules.near, now, client) and not (before is not None and _all(rules.near, before, client)):
        return True
    return before is not None and _any(rules.far, before, client) and not _any(rules.far, now, client)


HINTS: Final[Mapping[str, Mapping[str, Hint]]] = {
    NODE: {
        unschedulable.NAME: _is_uncordoned,
        taints.NAME: _tolerable,
        affinity.NAME: _suitable,
        ports.NAME: _new_node,
        resources.NAME: _larger,
        restrictions.NAME: _new_node,
        claims.NAME: _has_new_labels,
        zones.NAME: _has_new_labels,
        spread.NAME: _domain,
        pod_affinity.NAME: _has_new_labels,
    },
    NODE_GONE: {spread.NAME: _domain},
    PLACED: {spread.NAME: _of_the_kind, pod_affinity.NAME: _better_company},
    RELABELLED: {spread.NAME: _of_the_kind, pod_affinity.NAME: _better_company},
    GONE: {
        ports.NAME: _frees_ports,
        resources.NAME: _always,
        restrictions.NAME: _frees_claim,
        spread.NAME: _of_the_kind,
        pod_affinity.NAME: _better_company,
    },
    CLAIM: {
        restrictions.NAME: _own_claim,
        claims.NAME: _own_claim,
        zones.NAME: _own_claim,
    },
    VOLUME: {claims.NAME: _always, zones.NAME: _always},
    CLASS: {claims.NAME: _always, zones.NAME: _always},
}


def after_own_change(pod: PodInfo, plugins: Sequence[str]) -> bool:
    """Whether a change of the waiting pod itself may help it."""
    return not plugins or any(plugin in _OWN for plugin in plugins)


_OWN: Final = (
    unschedulable.NAME,
    taints.NAME,
    resources.NAME,
    spread.NAME,
    pod_affinity.NAME,
)


def _now_but_not_before(change: Change, holds: Callable[[NodeInfo], bool]) -> bool:
    before, now = change.node_before, change.node
    return now is not None and holds(now) and (before is None or not holds(before))


def _tolerates(pod: PodInfo, node: NodeInfo) -> bool:
    tolerations = pod.spec.get("tolerations") or ()
    return all(taints.is_tolerated(taint, tolerations) for taint in node.blocking_taints)


def _any(terms: Sequence[Term], other: PodInfo, client: ComponentClient) -> bool:
    return any(term.matches(other.namespace, other.labels, client) for term in terms)


def _all(terms: Sequence[Term], other: PodInfo, client: ComponentClient) -> bool:
    return bool(terms) and all(term.matches(other.namespace, other.labels, client) for term in terms)
