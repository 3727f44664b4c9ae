"""Telemetry servers: Prometheus, Jaeger or Loki at a URL, or behind a Service of the cluster; a small Prometheus and Loki can be installed.

They only serve what actions show. One that does not answer is an error in one sentence, within a limited time.
"""

from __future__ import annotations

import asyncio
import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, Final
from urllib.parse import unquote, urlencode, urlsplit

import msgspec
import yaml

from aiopslab.cloud.kubernetes.client import ClusterClient, ClusterFailed
from aiopslab.cloud.kubernetes.http_client import Answer, HttpClient, HttpFailed
from simcloud.kubernetes.api import Object
from simcloud.telemetry import Parameters
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.rules import read_default_text
from simcloud.telemetry.stack import NAMESPACE as MONITORING

TIMEOUT_S: Final = 20.0
SERVICE: Final = "service:"
INSTALL: Final = "install"
INSTALLED: Final = {
    "Prometheus": f"{SERVICE}{MONITORING}/prometheus-server:9090",
    "Loki": f"{SERVICE}{MONITORING}/loki:3100",
}
"""The addresses of the servers that ``list_server_objects`` describes."""


class TelemetryFailed(ClusterFailed):
    """A telemetry server does not answer, or refuses a request; the message says why."""


class TelemetryServer:
    """Sends requests to a server at ``address``: a URL, or ``service:NAMESPACE/NAME:PORT``, reached through the API server.

    ``install`` stands for the address of the server that was installed under that name.
    """

    def __init__(self, client: ClusterClient, name: str, address: str) -> None:
        self._client = client
        self.name = name
        self._headers = {}
        address = INSTALLED[name] if address == INSTALL else address
        if address.startswith(SERVICE):
            namespace, _, service = address.removeprefix(SERVICE).partition("/")
            self._http, self.place = client.http, address
            self._prefix = f"/api/v1/namespaces/{namespace}/services/{service}/proxy"
        else:
            parts = urlsplit(address)
            host = parts.netloc.rpartition("@")[2]
            self.place = f"{parts.scheme}://{host}{parts.path}"  # without credentials: agents see it
            self._http, self._prefix = HttpClient(self.place), ""
            self._headers["Connection"] = "close"
            if parts.username:
                pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
                self._headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"

    def get(self, path: str, query: Mapping[str, Any] | Parameters) -> Any:
        """Return the document of a response; raises ``TelemetryFailed``."""
        answer = self._client.call(self._get(f"{self._prefix}{path}?{urlencode(query, doseq=True)}"))
        try:
            document = msgspec.json.decode(answer.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            document = None
        if isinstance(document, Mapping) and "errorType" in document:
            raise TelemetryFailed(f"{self.name} error: {document['errorType']}: {document.get('error')}")
        if answer.status >= 400 or not isinstance(document, Mapping):
            found = document.get("message") if isinstance(document, Mapping) else None
            text = answer.body[:200].decode(errors="replace").strip()
            raise self._make_failure(str(found or f"HTTP {answer.status} {text}".strip()))
        return document

    async def _get(self, target: str) -> Answer:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._http.request("GET", target, headers=self._headers)
        except TimeoutError:
            raise self._make_failure(f"no response within {TIMEOUT_S:g} s") from None
        except HttpFailed as error:
            raise self._make_failure(str(error)) from None

    def _make_failure(self, why: str) -> TelemetryFailed:
        return TelemetryFailed(f"{self.name} does not answer at {self.place}: {why}.")


class RemotePrometheus:
    """Prometheus' HTTP API at a server. ``now_s`` returns the cluster's time; all methods raise ``TelemetryFailed``."""

    def __init__(self, server: TelemetryServer, now_s: Callable[[], float]) -> None:
        self._server = server
        self._now_s = now_s

    def query(self, parameters: Parameters) -> Any:
        """Return the value of an expression at one time, now by default."""
        return self._ask("query", {"time": [f"{self._now_s():.3f}"], **parameters})

    def query_range(self, parameters: Parameters) -> Any:
        """Return an expression's values over time."""
        return self._ask("query_range", parameters)

    def alerts(self, parameters: Parameters) -> Any:
        """Return the pending and firing alerts."""
        return self._ask("alerts", parameters)

    def read(self, selectors: Sequence[str], seconds: float) -> MetricStore:
        """Return a store with the samples of the last seconds of all series that match one of the selectors."""
        store = MetricStore()
        for selector in selectors:
            for series in self.query({"query": [f"{selector}[{math.ceil(seconds)}s]"]})["result"]:
                handle = store.series_of(tuple(sorted(series["metric"].items())))
                if not handle.times:
                    for time_s, value in series.get("values") or ():
                        store.append(handle, round(time_s * 1000), float(value))
        return store

    def _ask(self, path: str, parameters: Parameters) -> Any:
        document = self._server.get(f"/api/v1/{path}", parameters)
        if not isinstance(document.get("data"), Mapping):
            raise TelemetryFailed(f"The server at {self._server.place} does not answer as a Prometheus does.")
        return document["data"]


def list_server_objects(names: Iterable[str]) -> list[Object]:
    """Return the objects of telemetry servers and their namespace: Prometheus with kube-state-metrics and the default alert rules, Loki
    with Promtail."""
    objects: list[Object] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MONITORING}}]
    for name in names:
        file = resources.files("aiopslab.cloud.kubernetes") / f"{name.lower()}.yaml"
        objects += yaml.safe_load_all(file.read_text("utf-8"))
    for obj in objects:
        if "prometheus.yml" in obj.get("data", ()):
            obj["data"]["rules.yaml"] = read_default_text()
    return objects
