"""``Prometheus`` of the public AIOpsLab release; the embedded cloud's own always runs."""

from __future__ import annotations

from typing import Any

from simcloud.telemetry.stack import NAMESPACE


class Prometheus:
    """The cloud's Prometheus. It is deployed with the cloud and ends with it."""

    def __init__(self) -> None:
        self.name = "Prometheus"
        self.namespace = NAMESPACE
        self.helm_configs: dict[str, Any] = {}

    def get_service_json(self) -> dict[str, Any]:
        """Return its name, namespace and description."""
        return {
            "Name": self.name,
            "Namespace": self.namespace,
            "Desc": "Metrics of the cluster and of all services.",
            "Supported Operations": ["queries in PromQL"],
        }

    def get_service_summary(self) -> str:
        """Return a description as text."""
        return "\n".join(f"{name}: {value}" for name, value in self.get_service_json().items())

    def deploy(self) -> None:
        """Do nothing: it runs."""

    def teardown(self) -> None:
        """Do nothing: it ends with the cloud."""
