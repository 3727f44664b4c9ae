"""The paths of Prometheus' HTTP server that answer with documents or plain text, outside the cluster and inside."""

from __future__ import annotations

from typing import Any, Final

from simcloud.telemetry.prometheus_api import ApiRefusal, Parameters, PrometheusApi

Answer = tuple[int, Any]
"""A status, and a document or a plain text."""

NOT_FOUND: Final = "404 page not found\n"
PROMETHEUS: Final = "/api/v1/"
_READY: Final = {"/-/ready": "Prometheus Server is Ready.\n", "/-/healthy": "Prometheus Server is Healthy.\n"}
_BY_FORM: Final = frozenset({"query", "query_range", "labels", "series"})


class PrometheusPaths:
    """Prometheus: paths below ``/api/v1/``."""

    def __init__(self, api: PrometheusApi) -> None:
        self._api = api

    def serves(self, path: str) -> bool:
        """Return whether the path is one of its own."""
        return path in _READY or (
            path.startswith(PROMETHEUS) and self._api.serves(path.removeprefix(PROMETHEUS))
        )

    def takes_forms(self, path: str) -> bool:
        """Queries may be longer than an address."""
        return path.removeprefix(PROMETHEUS) in _BY_FORM

    def answer(self, path: str, parameters: Parameters) -> Answer:
        """Answer a request."""
        if path in _READY:
            return 200, _READY[path]
        try:
            return 200, self._api.answer(path.removeprefix(PROMETHEUS), parameters)
        except ApiRefusal as refusal:
            return refusal.status, refusal.document
