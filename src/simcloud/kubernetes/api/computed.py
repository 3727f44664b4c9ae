"""Resources that are computed on request and never stored: component statuses and usage metrics.

Component statuses are always served. Metrics need a metrics server: ``metrics_server`` describes what such a program
serves, and ``aggregation`` how it is found.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.aggregation import ExtensionServer, Provider
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema import Schema

METRICS: Final = "metrics.k8s.io"
_COMPONENTS: Final = (("scheduler", "ok"), ("controller-manager", "ok"), ("etcd-0", "ok"))


def component_statuses(_: str | None) -> list[Object]:
    """The control plane's parts, which here are well whenever anything answers at all."""
    return [
        {
            "apiVersion": "v1",
            "kind": "ComponentStatus",
            "metadata": {"name": name, "creationTimestamp": None},
            "conditions": [{"type": "Healthy", "status": "True", "message": message}],
        }
        for name, message in _COMPONENTS
    ]


def metrics_server(nodes: Provider, pods: Provider) -> ExtensionServer:
    """What a metrics server serves: ``metrics.k8s.io/v1beta1`` with NodeMetrics and PodMetrics from these providers."""
    resources = tuple(
        Resource(METRICS, "v1beta1", plural, "", kind, namespaced, ("get", "list"), schema=Schema("any"))
        for plural, kind, namespaced in (("nodes", "NodeMetrics", False), ("pods", "PodMetrics", True))
    )
    return ExtensionServer(resources, {"nodes": nodes, "pods": pods})
