"""The program of the metrics server.

Its access to nodes and pods is given to its image, as with CoreDNS; it reads usage from the kubelets over the
network, with its pod's own token.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.addons.activity_logs import Logger
from simcloud.kubernetes.addons.metrics.readings import RESOLUTION_S, Batch, Readings, read
from simcloud.kubernetes.addons.programs import wait_for_signal
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.computed import METRICS, metrics_server
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.network.http_client import exchange, go_words
from simcloud.kubernetes.nodes import KUBELET_PORT
from simcloud.machine import Image
from simcloud.machine.files import FileError
from simcloud.machine.network import HTTPS, HttpRequest, HttpResponse, NetworkError, respond, serve_http
from simcloud.machine.process import Context
from simcloud.sim import TimedOut, gather

IMAGE: Final = "registry.k8s.io/metrics-server/metrics-server:v0.8.0"
PORT: Final = 10250
SCRAPE_LIMIT_S: Final = 13.5
"""Nine tenths of the time between two rounds."""

STAGGER_S: Final = 0.008
"""So far apart, for each node there is, the requests of one round may lie."""

TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
MEMORY_BYTES: Final = 18 * 1024**2
SCRAPE_CPU_S: Final = 0.002
"""What reading one node costs."""


def metrics_server_image(api: Api) -> Image:
    """The image of the metrics server for a cluster."""

    async def run(ctx: Context) -> int:
        return await MetricsServer(ctx, api).run()

    return Image(IMAGE, {"metrics-server": run}, entrypoint=["/metrics-server"])


class MetricsServer:
    """One running metrics server."""

    def __init__(self, ctx: Context, api: Api) -> None:
        self._ctx = ctx
        self._api = api
        self._readings = Readings()
        self._log = Logger(ctx)

    async def run(self) -> int:
        """Scrape and serve until a signal ends the program."""
        ctx = self._ctx
        ctx.memory.use(MEMORY_BYTES)
        ctx.process.start_runtime()
        address = ctx.container.namespace.address
        log = self._log.write_text
        log("serving.go:380] Generated self-signed cert (/tmp/apiserver.crt, /tmp/apiserver.key)")
        log("handler.go:288] Adding GroupVersion metrics.k8s.io v1beta1 to ResourceManager")
        try:
            serve_http(ctx, PORT, self._health, HTTPS)
        except NetworkError as error:
            self._log.write("run.go:72", "command failed", "E", err=str(error).lower())
            return 1
        log(f"secure_serving.go:211] Serving securely on [::]:{PORT}")
        ctx.spawn(self._rounds(), "scraping")
        self._api.aggregation.listen(address, PORT, metrics_server(self._nodes, self._pods))
        try:
            return await wait_for_signal(ctx)
        finally:
            self._api.aggregation.leave(address, PORT)

    async def _health(self, request: HttpRequest) -> HttpResponse:
        path = request.path.partition("?")[0]
        if path in ("/livez", "/healthz"):
            return respond(200, "ok")
        if path != "/readyz":
            return respond(403, f'forbidden: User "system:anonymous" cannot get path "{path}"')
        if self._readings.ready:
            return respond(200, "ok")
        self._log.write(
            "server.go:192", "Failed probe", probe="metric-storage-ready", err="no metrics to serve"
        )
        return respond(500, "[-]metric-storage-ready failed: reason withheld\nreadyz check failed\n")

    # -- asking --------------------------------------------------------------------------------

    async def _rounds(self) -> None:
        ctx = self._ctx
        while True:
            began = ctx.kernel.now
            nodes = self._api.log.objects("", "nodes")
            draws = ctx.random("metrics-server")
            works = [self._scrape(node, draws.random() * STAGGER_S * len(nodes)) for node in nodes]
            found = await gather(ctx.kernel, works, "scrape")
            self._readings.take({name: batch for name, batch in found if batch is not None})
            await ctx.sleep(max(0.0, began + RESOLUTION_S - ctx.kernel.now))

    async def _scrape(self, node: Object, wait_s: float) -> tuple[str, Batch | None]:
        ctx = self._ctx
        name = str(node["metadata"]["name"])
        await ctx.sleep(wait_s)
        address = next(
            (
                entry["address"]
                for entry in at(node, "status", "addresses", default=[])
                if entry["type"] == "InternalIP"
            ),
            name,
        )
        port = at(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port", default=KUBELET_PORT)
        url = f"https://{address}:{port}/metrics/resource"
        try:
            with ctx.kernel.timeout(SCRAPE_LIMIT_S):
                response = await exchange(
                    ctx.container.namespace,
                    address,
                    port,
                    HTTPS,
                    HttpRequest("GET", "/metrics/resource", self._headers()),
                )
        except TimedOut:
            return self._log_failure(name, f'Get \\"{url}\\": context deadline exceeded')
        except NetworkError as error:
            return self._log_failure(name, f'Get \\"{url}\\": {go_words(error, f"{address}:{port}")}')
        if not isinstance(response, HttpResponse) or response.status != 200:
            status = f"{response.status} {response.reason}" if isinstance(response, HttpResponse) else "000"
            return self._log_failure(name, f'request failed, status: \\"{status}\\"')
        await ctx.cpu(SCRAPE_CPU_S)
        return name, read(response.body.decode())

    def _headers(self) -> dict[str, str]:
        try:
            token = self._ctx.files.read(TOKEN).decode()
        except FileError:
            return {"User-Agent": "metrics-server/v0.8.0"}
        return {"User-Agent": "metrics-server/v0.8.0", "Authorization": f"Bearer {token.strip()}"}

    def _log_failure(self, node: str, why: str) -> tuple[str, None]:
        self._log.write_text(f'scraper.go:149] "Failed to scrape node" err="{why}" node="{node}"', "E")
        return node, None

    # -- telling -------------------------------------------------------------------------------

    def _nodes(self, _: str | None) -> list[Object]:
        items = []
        for node in self._api.log.objects("", "nodes"):
            use = self._readings.of_node(node["metadata"]["name"])
            if use is not None:
                items.append(self._make_metrics("NodeMetrics", node, use))
        return items

    def _pods(self, namespace: str | None) -> list[Object]:
        items = []
        for pod in self._api.log.objects("", "pods", namespace):
            metadata = pod["metadata"]
            use = self._readings.of_pod((metadata["namespace"], metadata["name"]))
            if use is not None and at(pod, "status", "phase") == "Running":
                items.append(self._make_metrics("PodMetrics", pod, use))
        return items

    def _make_metrics(self, kind: str, of: Object, use: Object) -> Object:
        metadata: Object = {"name": of["metadata"]["name"]}
        if "namespace" in of["metadata"]:
            metadata["namespace"] = of["metadata"]["namespace"]
        metadata["creationTimestamp"] = self._api.timestamp()
        if of["metadata"].get("labels"):
            metadata["labels"] = of["metadata"]["labels"]
        return {"kind": kind, "apiVersion": f"{METRICS}/v1beta1", "metadata": metadata, **use}
