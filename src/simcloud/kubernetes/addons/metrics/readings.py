"""Samples from kubelets: parsed from their text, the last two kept, and converted to usage over time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.quantity import render
from simcloud.kubernetes.api.times import rfc3339

RESOLUTION_S: Final = 15.0
YOUNGEST_S: Final = 10.0
"""A container younger than this has run too short a time for its first reading to mean anything."""

_SAMPLE: Final = re.compile(
    r"^(?:container|node)_(cpu_usage_seconds_total|memory_working_set_bytes|start_time_seconds)"
    r'(?:\{container="([^"]*)",namespace="([^"]*)",pod="([^"]*)"\})? (\S+)(?: (\d+))?$',
    re.MULTILINE,
)

PodName = tuple[str, str]


class Point(Struct):
    """What something had used at one moment. ``start_s`` is when it had used nothing."""

    time_s: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    start_s: float = 0.0


class Batch(Struct):
    """All points of one node."""

    node: Point = field(default_factory=Point)
    pods: dict[PodName, dict[str, Point]] = field(default_factory=dict)


def read(text: str) -> Batch:
    """The points in what a kubelet serves."""
    batch = Batch()
    for name, container, namespace, pod, value, stamp in _SAMPLE.findall(text):
        if pod:
            point = batch.pods.setdefault((namespace, pod), {}).setdefault(container, Point())
        else:
            point = batch.node
        if name == "cpu_usage_seconds_total":
            point.cpu_s, point.time_s = float(value), int(stamp or 0) / 1000
        elif name == "memory_working_set_bytes":
            point.memory_bytes = int(float(value))
        else:
            point.start_s = float(value)
    return batch


class Readings:
    """The last two readings of every node and container, as far as they belong together."""

    def __init__(self) -> None:
        self._nodes: dict[str, Point] = {}
        self._nodes_before: dict[str, Point] = {}
        self._pods: dict[PodName, dict[str, Point]] = {}
        self._pods_before: dict[PodName, dict[str, Point]] = {}

    @property
    def ready(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self._nodes_before or self._pods_before)

    def take(self, batches: Mapping[str, Batch]) -> None:
        """A round of readings, by node; what is not in it any more is forgotten."""
        nodes = {name: batch.node for name, batch in batches.items()}
        self._nodes_before = {name: self._nodes[name] for name in nodes if name in self._nodes}
        self._nodes = nodes
        pods = {name: points for batch in batches.values() for name, points in batch.pods.items()}
        before: dict[PodName, dict[str, Point]] = {}
        for name, points in pods.items():
            known = self._pods.get(name, {})
            earlier = {
                container: found
                for container, point in points.items()
                if (found := _earlier(point, known.get(container))) is not None
            }
            if earlier:
                before[name] = earlier
        self._pods, self._pods_before = pods, before

    def of_node(self, name: str) -> Object | None:
        """A node's use, with its time and window."""
        last, before = self._nodes.get(name), self._nodes_before.get(name)
        if last is None or before is None or last.time_s <= before.time_s:
            return None
        return {**_when(last, before), "usage": _usage(last, before)}

    def of_pod(self, name: PodName) -> Object | None:
        """A pod's use by container; None unless all of them were read twice."""
        points, before = self._pods.get(name), self._pods_before.get(name)
        if not points or before is None or any(container not in before for container in points):
            return None
        containers = [
            {"name": container, "usage": _usage(point, before[container])}
            for container, point in points.items()
        ]
        oldest = min(points, key=lambda container: points[container].time_s)
        return {**_when(points[oldest], before[oldest]), "containers": containers}


def _earlier(point: Point, known: Point | None) -> Point | None:
    """The point to compare with: the last one, or the start of a container that has just been started."""
    if YOUNGEST_S <= point.time_s - point.start_s < RESOLUTION_S:
        return replace(point, time_s=point.start_s, cpu_s=0.0)
    if known is None or point.start_s >= known.time_s or point.time_s <= known.time_s:
        return None
    return known if point.cpu_s >= known.cpu_s else None


def _when(last: Point, before: Point) -> Object:
    window_s = round(last.time_s - before.time_s, 3)
    return {"timestamp": rfc3339(last.time_s), "window": f"{window_s:g}s"}


def _usage(last: Point, before: Point) -> Object:
    nanocores = int((last.cpu_s - before.cpu_s) * 1e9 / (last.time_s - before.time_s))
    return {
        "cpu": f"{nanocores}n" if nanocores else "0",
        "memory": render(Fraction(last.memory_bytes), "binary"),
    }
