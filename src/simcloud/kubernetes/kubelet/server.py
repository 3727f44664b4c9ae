"""The HTTPS server of a kubelet: health and resource usage of containers.

Only ``/metrics/resource`` of the genuine kubelet's paths is served, for the metrics server; logs, exec and the like
go through ``Fleet``. Requests are authenticated and authorized by RBAC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.errors import ApiError, Unauthorized
from simcloud.kubernetes.client import ApiClient, bearer_token
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.kubernetes.nodes import KUBELET_PORT
from simcloud.machine.network import HTTPS, HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Context

if TYPE_CHECKING:
    from simcloud.kubernetes.kubelet.pods.worker import PodWorker

RESOURCE_METRICS: Final = "/metrics/resource"
_FAMILIES: Final = (
    (
        "container_cpu_usage_seconds_total",
        "counter",
        "Cumulative cpu time consumed by the container in core-seconds",
    ),
    ("container_memory_working_set_bytes", "gauge", "Current working set of the container in bytes"),
    (
        "container_start_time_seconds",
        "gauge",
        "Start time of the container since unix epoch in seconds",
    ),
    ("node_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the node in core-seconds"),
    ("node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes"),
)


class KubeletServer:
    """The HTTPS door of one node's kubelet."""

    def __init__(self, node: Node, workers: Mapping[str, PodWorker]) -> None:
        self._node = node
        self._workers = workers

    def begin(self, ctx: Context) -> None:
        """The kubelet's process starts to listen."""
        serve_http(ctx, KUBELET_PORT, self.answer, HTTPS)

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """One request."""
        path = request.path.partition("?")[0]
        token = bearer_token(request.header("Authorization") or "")
        part = "metrics" if path.startswith("/metrics") else "healthz" if path == "/healthz" else "proxy"
        try:
            if not token:
                raise Unauthorized
            client = ApiClient.authenticate(self._node.api, token)
        except Unauthorized:
            return respond(401, "Unauthorized", Content_Type="text/plain; charset=utf-8")
        try:
            client.authorize("get", version="v1", plural="nodes", subresource=part, name=self._node.name)
        except ApiError:
            refusal = (
                f"Forbidden (user={client.user.name}, verb=get, resource=nodes, subresource(s)=[{part}])"
            )
            return respond(403, refusal, Content_Type="text/plain; charset=utf-8")
        if path == "/healthz":
            return respond(200, "ok")
        if path == RESOURCE_METRICS:
            return respond(
                200, self.resource_metrics(), Content_Type="text/plain; version=0.0.4; charset=utf-8"
            )
        return respond(404, "404 page not found\n")

    def resource_metrics(self) -> str:
        """What the node and its containers have used until now, as Prometheus reads it."""
        samples: dict[str, list[str]] = {name: [] for name, _, _ in _FAMILIES}
        stamp = round(self._node.machine.clock() * 1000)
        for namespace, pod, record in self._running():
            container = record.container
            if container is None:
                continue
            of = f'{{container="{record.name}",namespace="{namespace}",pod="{pod}"}}'
            used = (container.cpu.used_s, container.memory_bytes, record.started_s)
            for (name, _, _), value in zip(_FAMILIES[:3], used, strict=True):
                suffix = f" {stamp}" if name != "container_start_time_seconds" else ""
                samples[name].append(f"{name}{of} {value!r}{suffix}")
        machine = self._node.machine
        samples["node_cpu_usage_seconds_total"] = [
            f"node_cpu_usage_seconds_total {machine.cpu.used_s!r} {stamp}"
        ]
        samples["node_memory_working_set_bytes"] = [
            f"node_memory_working_set_bytes {machine.memory_used_bytes} {stamp}"
        ]
        lines: list[str] = []
        for name, kind, about in _FAMILIES:
            lines += [f"# HELP {name} [STABLE] {about}", f"# TYPE {name} {kind}", *samples[name]]
        return "\n".join([*lines, ""])

    def _running(self) -> Iterator[tuple[str, str, ContainerRecord]]:
        """The running containers, with the namespace and name of their pods."""
        pods = self._node.runtime.pods
        for worker in self._workers.values():
            metadata = worker.pod["metadata"]
            live = pods.get(worker.uid)
            for record in live.containers if live is not None else ():
                if record.running:
                    yield metadata["namespace"], metadata["name"], record
