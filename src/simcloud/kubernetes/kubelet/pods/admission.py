"""Admission by the kubelet: pods that a node rejects although they are bound to it fail at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.pods.parts import init_parts, main_parts, requests_of

if TYPE_CHECKING:
    from simcloud.kubernetes.kubelet.pods.worker import PodWorker

_COUNTED: Final = ("cpu", "memory", "ephemeral-storage")


class Refusal(Struct, frozen=True):
    """Why a pod is refused."""

    reason: str
    message: str


def refusal(pod: Object, node: Node, others: Mapping[str, PodWorker]) -> Refusal | None:
    """Why this pod cannot run here; None when it can."""
    present = node.client.get("nodes", "", node.name)
    labels = (present or {}).get("metadata", {}).get("labels") or {}
    wanted = pod["spec"].get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return Refusal(
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        )
    running = [
        each.pod
        for uid, each in others.items()
        if uid != pod["metadata"]["uid"] and not each.ended and not each.gone
    ]
    return _too_much(pod, node.allocatable(), running)


def _too_much(pod: Object, allocatable: Object, running: list[Object]) -> Refusal | None:
    most = allocatable.get("pods")
    if most is not None and len(running) + 1 > int(most):
        return _out_of("pods", 1, len(running), int(most))
    for name in _COUNTED:
        asked = _request(pod, name)
        if not asked or name not in allocatable:
            continue
        capacity = _amount(allocatable[name], name)
        used = sum(_request(each, name) for each in running)
        if used + asked > capacity:
            return _out_of(name, asked, used, capacity)
    return None


def _out_of(name: str, asked: int, used: int, capacity: int) -> Refusal:
    return Refusal(
        f"OutOf{name}",
        f"Node didn't have enough resource: {name}, requested: {asked}, used: {used}, capacity: {capacity}",
    )


def _amount(text: str, name: str) -> int:
    return quantity.milli(text) if name == "cpu" else quantity.whole(text)


def _request(pod: Object, name: str) -> int:
    """What a pod asks for: its containers together, or its hungriest init container."""
    main = sum(_amount(requests_of(part.spec).get(name, "0"), name) for part in main_parts(pod))
    first = 0
    for part in init_parts(pod):
        amount = _amount(requests_of(part.spec).get(name, "0"), name)
        if part.sidecar:
            main += amount
        else:
            first = max(first, amount)
    return max(main, first)
