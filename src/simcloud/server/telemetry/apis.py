"""The query APIs of a cluster's telemetry: their paths and their errors."""

from __future__ import annotations

from typing import Final, Protocol

from simcloud.telemetry import Answer, Monitoring, Parameters, PrometheusPaths, Topology
from simcloud.telemetry.logs import LokiApi
from simcloud.telemetry.traces import JaegerApi

_JAEGER: Final = ("/api/services", "/api/operations", "/api/traces", "/api/dependencies", "/api/metrics")


class QueryApi(Protocol):
    """An API, as functions of paths and parameters."""

    def serves(self, path: str) -> bool:
        """Return whether the path is one of its own."""

    def takes_forms(self, path: str) -> bool:
        """Return whether parameters may come by POST."""

    def answer(self, path: str, parameters: Parameters) -> Answer:
        """Answer a request."""


def apis_of(monitoring: Monitoring) -> list[QueryApi]:
    """Return all that is served of a cluster that is watched."""
    return [
        PrometheusPaths(monitoring.api),
        JaegerPaths(monitoring.jaeger),
        LokiPaths(monitoring.loki),
        TopologyPath(monitoring.topology),
    ]


class JaegerPaths:
    """Jaeger's query service: ``/api/traces`` and others."""

    def __init__(self, api: JaegerApi) -> None:
        self.answer = api.answer

    def serves(self, path: str) -> bool:
        """Return whether the path is one of its own."""
        return path in _JAEGER or path.startswith(tuple(f"{start}/" for start in _JAEGER))

    def takes_forms(self, path: str) -> bool:
        """Jaeger only answers to GET."""
        return False


class LokiPaths:
    """Loki: paths below ``/loki/api/v1/``."""

    def __init__(self, api: LokiApi) -> None:
        self.serves = api.serves
        self.answer = api.answer

    def takes_forms(self, path: str) -> bool:
        """All questions may come as forms."""
        return path != "/ready"


class TopologyPath:
    """Our own API: the service topology, for ``aiopslab cluster status``."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology

    def serves(self, path: str) -> bool:
        """There is one path."""
        return path == "/topology"

    def takes_forms(self, path: str) -> bool:
        """There is nothing long to say."""
        return False

    def answer(self, path: str, parameters: Parameters) -> Answer:
        """``lookback_s`` is the age up to which calls count."""
        try:
            return 200, self._topology.document(float((parameters.get("lookback_s") or ["300"])[0]))
        except ValueError:
            return 400, "lookback_s must be a number of seconds above 0\n"
