"""Metrics of a cluster: the state of its objects, from their copy, and what containers use, from the kubelets' cAdvisor.

Both are read as a Prometheus beside the cluster would read them, and feed the same rules, so that alerts fire as on the embedded
cloud. The pages of the kubelets come through the API server. Metrics that the programs themselves expose are not read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from aiopslab.cloud.kubernetes.client import ClusterClient
from aiopslab.cloud.kubernetes.clock import ClusterClock
from aiopslab.cloud.kubernetes.http_client import HttpFailed
from simcloud.kubernetes import KUBELET_PORT, Cluster
from simcloud.kubernetes.api import Object, at
from simcloud.machine.network import HostUnreachable
from simcloud.telemetry import Monitoring, Reading, Target
from simcloud.telemetry.collectors import KubeState

INTERVAL_S: Final = 15.0
TIMEOUT_S: Final = 10.0
FAMILIES: Final = (
    "container_cpu_",
    "container_fs_",
    "container_memory_",
    "container_network_",
    "container_threads",
)
_SAMPLE: Final = re.compile(rb"^(\w+)\{([^}]*)\} (\S+)", re.MULTILINE)
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

Post = Callable[[Callable[[], None]], None]


class NodeReader:
    """Reads the metrics of all nodes' containers again and again, and keeps the newest."""

    def __init__(
        self, client: ClusterClient, clock: ClusterClock, post: Post, namespaces: Iterable[str]
    ) -> None:
        self._client = client
        self._clock = clock
        self._post = post
        self._namespaces = frozenset(namespaces)
        self._nodes: tuple[str, ...] = ()
        self._targets: dict[str, Target] = {}
        self._readings: dict[str, dict[tuple[str, str], Reading]] = {}
        self._down: set[str] = set()

    def start(self) -> None:
        """Read from now on."""
        self._client.start(self._run())

    def list_targets(self, nodes: Sequence[Object]) -> list[Target]:
        """Return a target for each node."""
        self._nodes = tuple(node["metadata"]["name"] for node in nodes)
        for node in nodes:
            name = node["metadata"]["name"]
            if name not in self._targets:
                known = {
                    entry["type"]: entry["address"] for entry in at(node, "status", "addresses", default=[])
                }
                place = f"{known.get('InternalIP', name)}:{KUBELET_PORT}"
                labels = (("node", name),)
                self._targets[name] = Target(
                    "kubelet", place, self._make_reader(name), labels, path="/metrics/cadvisor"
                )
        return [self._targets[name] for name in self._nodes]

    def _make_reader(self, name: str) -> Callable[[], list[Reading]]:
        def read() -> list[Reading]:
            if name in self._down:
                raise HostUnreachable
            return list(self._readings.get(name, {}).values())

        return read

    async def _run(self) -> None:
        while True:
            await asyncio.gather(*map(self._read, self._nodes))
            await asyncio.sleep(self._clock.to_wall(INTERVAL_S))

    async def _read(self, node: str) -> None:
        path = f"/api/v1/nodes/{node}/proxy/metrics/cadvisor"
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await self._client.http.request("GET", path)
        except (HttpFailed, TimeoutError):
            answer = None
        page = answer.body if answer is not None and answer.status == 200 else None
        samples = None if page is None else list(parse_page(page, self._namespaces))
        self._post(lambda: self._take(node, samples))

    def _take(self, node: str, samples: list[tuple[str, str, float]] | None) -> None:
        if samples is None:
            self._down.add(node)
            return
        self._down.discard(node)
        known, found = self._readings.get(node, {}), {}
        for name, labels, value in samples:
            reading = known.get((name, labels)) or Reading(name, tuple(_LABEL.findall(labels)))
            reading.value = value
            found[name, labels] = reading
        self._readings[node] = found


def parse_page(page: bytes, namespaces: frozenset[str]) -> Iterable[tuple[str, str, float]]:
    """Yield name, labels and value of each sample of containers in these namespaces."""
    for name, labels, value in _SAMPLE.findall(page):
        text = labels.decode(errors="replace")
        if name.decode().startswith(FAMILIES) and dict(_LABEL.findall(text)).get("namespace") in namespaces:
            yield name.decode(), text, float(value)


def watch_metrics(monitoring: Monitoring, cluster: Cluster, reader: NodeReader) -> None:
    """Let a monitoring read a copy of a cluster instead of simulated machines, from now on."""
    state = Target("kube-state-metrics", "kube-state-metrics:8080", KubeState(cluster.api).read)
    monitoring.scraper.discover = lambda: [state, *reader.list_targets(cluster.api.log.objects("", "nodes"))]
    reader.start()
    monitoring.start()
