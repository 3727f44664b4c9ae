"""The targets of the Prometheus in a cluster: found through the API, and read if its pod can reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from simcloud.kubernetes import KUBELET_PORT, Cluster
from simcloud.kubernetes.api import Key, Object, at
from simcloud.machine.network import ConnectionRefused, Namespace, NetworkUnreachable
from simcloud.telemetry.collectors import Exposition, KubeletReadings, Programs
from simcloud.telemetry.scrape import Readings, Report, Reported, Target
from simcloud.telemetry.sink import Telemetry
from simcloud.telemetry.stack.exporters import KUBE_STATE_PORT, NODE_PORT, StoreExporter
from simcloud.telemetry.stack.names import NAMESPACE
from simcloud.telemetry.stack.programs import ask_process
from simcloud.telemetry.stack.store_metrics import STORES, StoreKind

APP: Final = "app.kubernetes.io/name"
API_PORT: Final = 6443
PORTS: Final = {"alertmanager": 9093, "kube-state-metrics": KUBE_STATE_PORT, "node-exporter": NODE_PORT}


class Discovery:
    """Finds the targets of a cluster. ``source`` is the network of Prometheus' pod, ``jobs`` those of its configuration."""

    def __init__(self, cluster: Cluster, telemetry: Telemetry) -> None:
        self.source: Namespace | None = None
        self.jobs: frozenset[str] = frozenset()
        self._cluster = cluster
        self._api = cluster.api
        self._hosts = [machine.host.namespace.address for machine in cluster.machines]
        self._programs = Programs(telemetry, self._hosts)
        self._server = Exposition(cluster.api.requests.metrics)
        self._kubelets: dict[str, KubeletReadings] = {}

    def find_targets(self) -> list[Target]:
        """Return the present targets of all jobs."""
        found = [*self._find_own(), *self._find_system(), *self._find_stores(), *self._find_programs()]
        return [target for target in found if target.job in self.jobs]

    def ask(self, address: str, port: int) -> object:
        """Return what the process at an address reports, if Prometheus can reach it."""
        if self.source is None:
            raise NetworkUnreachable
        return ask_process(self.source, address, port)

    def find_service_address(self, name: str) -> str:
        """Return the address of a Service of the stack; raises ``ConnectionRefused`` if there is none."""
        service = self._api.log.get(Key("", "services", NAMESPACE, name))
        address: str = at(service, "spec", "clusterIP", default="") if service is not None else ""
        if address in ("", "None"):
            raise ConnectionRefused
        return address

    def _find_own(self) -> Iterator[Target]:
        yield Target("prometheus", "localhost:9090", partial(self._read, "127.0.0.1", 9090))
        for pod in self._api.log.objects("", "pods", NAMESPACE):
            name, address = (
                at(pod, "metadata", "labels", APP, default=""),
                at(pod, "status", "podIP", default=""),
            )
            if name in PORTS and address and at(pod, "status", "phase", default="") == "Running":
                port = PORTS[name]
                labels = (("node", str(pod["spec"]["nodeName"])),) if name == "node-exporter" else ()
                yield Target(name, f"{address}:{port}", partial(self._read, address, port), labels)

    def _find_system(self) -> Iterator[Target]:
        control_plane = self._cluster.machines[0].host.namespace.address
        read = self._guard(control_plane, API_PORT, self._server.read)
        yield Target("apiserver", f"{control_plane}:{API_PORT}", read, scheme="https")
        for node in self._api.log.objects("", "nodes"):
            name, address = node["metadata"]["name"], _get_address(node)
            if name in self._cluster.kubelets:
                if name not in self._kubelets:
                    self._kubelets[name] = KubeletReadings(self._cluster.kubelets[name])
                    self._hosts.append(address)
                read = self._guard(address, KUBELET_PORT, self._kubelets[name].read)
                instance = f"{address}:{KUBELET_PORT}"
                yield Target("kubelet", instance, read, (("node", name),), "https", "/metrics/cadvisor")

    def _find_stores(self) -> Iterator[Target]:
        wanted = {kind.store_port: kind for kind in STORES.values() if kind.exporter in self.jobs}
        for service in self._api.log.objects("", "services") if wanted else ():
            metadata = service["metadata"]
            for port in service["spec"].get("ports") or ():
                kind = wanted.get(port["port"])
                if kind is not None and kind.has_targets and port.get("protocol", "TCP") == "TCP":
                    address = f"{metadata['name']}.{metadata['namespace']}.svc:{port['port']}"
                    labels = (("namespace", metadata["namespace"]), ("service", metadata["name"]))
                    yield Target(
                        kind.exporter,
                        address,
                        partial(self._read_store, kind, address),
                        labels,
                        path="/scrape",
                    )
        for kind in wanted.values():
            if not kind.has_targets:
                instance = f"{kind.exporter}.{NAMESPACE}.svc:{kind.port}"
                yield Target(kind.exporter, instance, partial(self._read_store, kind, ""))

    def _find_programs(self) -> Iterator[Target]:
        for target in self._programs.targets():
            target.read = partial(self._read_program, target.instance, target.read)
            yield target

    def _guard(
        self, address: str, port: int, read: Callable[[], Reported | None]
    ) -> Callable[[], Reported | None]:
        """Return a function that reads a target only if Prometheus can reach it."""

        def read_if_reached() -> Reported | None:
            self.ask(address, port)
            return read()

        return read_if_reached

    def _read(self, address: str, port: int) -> Reported:
        reported = self.ask(address, port)
        return reported if isinstance(reported, (list, Report)) else []

    def _read_store(self, kind: StoreKind, target: str) -> Readings:
        exporter = self.ask(self.find_service_address(kind.exporter), kind.port)
        if not isinstance(exporter, StoreExporter):
            return []
        return (
            exporter.probe(f"{kind.scheme}://{target}" if kind.scheme else target)
            if target
            else exporter.read()
        )

    def _read_program(self, address: str, read: Callable[[], Reported | None]) -> Reported | None:
        host = self._cluster.machines[0].network.find(address)
        port = host.first_port() if host is not None else None
        self.ask(address, port or 1)
        return read()


def _get_address(node: Object) -> str:
    addresses = at(node, "status", "addresses", default=[])
    return next((str(entry["address"]) for entry in addresses if entry["type"] == "InternalIP"), "")
