"""The HTTPS server of a kubelet: health and resource usage of containers.

Logs, exec and the like go through ``Fleet``. Requests are authenticated and authorized by RBAC; those of the API
server, which proxies for its own clients, are answered by ``serve`` at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.errors import ApiError, Unauthorized
from simcloud.kubernetes.client import ApiClient, bearer_token
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.kubernetes.nodes import KUBELET_PORT
from simcloud.machine import CONTENT_TYPE, Labels, Sample, format_samples
from simcloud.machine.network import HTTPS, HttpRequest, HttpResponse, respond, serve_http
from simcloud.machine.process import Container, Context

if TYPE_CHECKING:
    from simcloud.kubernetes.kubelet.pods.worker import PodWorker

HEALTH_PORT: Final = 10248
RESOURCE_METRICS: Final = "/metrics/resource"
METRICS: Final = {"/metrics": "kubelet", "/metrics/cadvisor": "cadvisor", "/metrics/probes": "probes"}
PARTS: Final = {"/metrics": "metrics", "/healthz": "healthz", "/stats": "stats", "/logs": "log", "/configz": "configz",
                "/pods": "pods", "/runningpods": "pods"}  # fmt: skip
"""Which subresource of its node a client must be allowed to get."""
_HELP: Final = {
    f"{subject}_{name}": f"[STABLE] {text.format(subject)}"
    for subject in ("container", "node", "pod")
    for name, text in (
        ("cpu_usage_seconds_total", "Cumulative cpu time consumed by the {} in core-seconds"),
        ("memory_working_set_bytes", "Current working set of the {} in bytes"),
    )
} | {
    "container_start_time_seconds": "[STABLE] Start time of the container since unix epoch in seconds",
    "resource_scrape_error": "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
}
_WITHOUT_TIME: Final = ("container_start_time_seconds", "resource_scrape_error")


def _list_usage(subject: str, of: Labels, containers: list[Container]) -> Iterator[Sample]:
    used_s = round(sum(container.cpu.used_s for container in containers), 6)
    yield f"{subject}_cpu_usage_seconds_total", of, used_s
    size_bytes = float(sum(container.memory_bytes for container in containers))
    yield f"{subject}_memory_working_set_bytes", of, size_bytes


class KubeletServer:
    """The HTTPS door of one node's kubelet."""

    def __init__(self, node: Node, workers: Mapping[str, PodWorker]) -> None:
        self._node = node
        self._workers = workers

    def begin(self, ctx: Context) -> None:
        """The kubelet's process starts to listen."""
        serve_http(ctx, KUBELET_PORT, self.answer, HTTPS)
        serve_http(ctx, HEALTH_PORT, self._answer_health, address="127.0.0.1")

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """One request."""
        path = request.path.partition("?")[0]
        token = bearer_token(request.header("Authorization") or "")
        part = next((part for start, part in PARTS.items() if path.startswith(start)), "proxy")
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
        return self.serve(path)

    def serve(self, path: str) -> HttpResponse:
        """The page at a path, for a client that may see it."""
        if path == "/healthz":
            return respond(200, "ok")
        if path == RESOURCE_METRICS:
            return respond(200, self.resource_metrics(), Content_Type=CONTENT_TYPE)
        if path in METRICS:
            return respond(200, self._node.expose(METRICS[path]), Content_Type=CONTENT_TYPE)
        # The pages are rarely looked at.
        from simcloud.kubernetes.kubelet.pages import serve_page

        found = serve_page(self._node, (worker.pod for worker in self._workers.values()), path)
        return found if found is not None else respond(404, "404 page not found\n")

    async def _answer_health(self, request: HttpRequest) -> HttpResponse:
        is_health = request.path.partition("?")[0] == "/healthz"
        return respond(200, "ok") if is_health else respond(404, "404 page not found\n")

    def resource_metrics(self) -> str:
        """What the node and its containers have used until now, as Prometheus reads it."""
        machine = self._node.machine
        stamp = f" {round(machine.clock() * 1000)}"
        samples: list[Sample] = [
            ("node_cpu_usage_seconds_total", (), round(machine.cpu.used_s, 6)),
            ("node_memory_working_set_bytes", (), float(machine.memory_used_bytes)),
            ("resource_scrape_error", (), 0.0),
        ]
        pods: dict[Labels, list[Container]] = {}
        for namespace, pod, record in self._running():
            container = record.container
            if container is None:
                continue
            owner: Labels = (("namespace", namespace), ("pod", pod))
            of = (("container", record.name), *owner)
            pods.setdefault(owner, []).append(container)
            samples += _list_usage("container", of, [container])
            samples.append(("container_start_time_seconds", of, record.started_s))
        for owner, containers in pods.items():
            samples += _list_usage("pod", owner, containers)
        return format_samples(samples, _HELP, lambda name, _: "" if name in _WITHOUT_TIME else stamp)

    def _running(self) -> Iterator[tuple[str, str, ContainerRecord]]:
        """The running containers, with the namespace and name of their pods."""
        pods = self._node.runtime.pods
        for worker in self._workers.values():
            metadata = worker.pod["metadata"]
            live = pods.get(worker.uid)
            for record in live.containers if live is not None else ():
                if record.running:
                    yield metadata["namespace"], metadata["name"], record
