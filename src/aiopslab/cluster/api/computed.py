"""Resources that are computed when asked for and never stored: component health and usage metrics.

Component statuses are always served. Metrics are served once somebody who measures pods and nodes
says so, as a cluster has ``metrics.k8s.io`` only with a metrics server in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from aiopslab.cluster.api.bootstrap.api_services import api_service
from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.resources import Resource
from aiopslab.cluster.api.schema import Schema

if TYPE_CHECKING:
    from aiopslab.cluster.api.api import Api

Provider: TypeAlias = Callable[[str | None], list[Object]]
"""Makes the objects of a resource; it is told the namespace, None for all of them."""

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


def serve_metrics(api: Api, nodes: Provider, pods: Provider) -> None:
    """Serve ``metrics.k8s.io/v1beta1`` from now on, with NodeMetrics and PodMetrics from these providers."""
    for plural, kind, namespaced, provider in (
        ("nodes", "NodeMetrics", False, nodes),
        ("pods", "PodMetrics", True, pods),
    ):
        resource = Resource(
            METRICS, "v1beta1", plural, "", kind, namespaced, ("get", "list"), schema=Schema("any")
        )
        api.catalogue.add(resource)
        api.providers[resource.key] = provider
    service = api_service(METRICS, "v1beta1", api.timestamp())
    service["spec"]["service"] = {"name": "metrics-server", "namespace": "kube-system", "port": 443}
    service["spec"]["insecureSkipTLSVerify"] = True
    service["spec"] |= {"groupPriorityMinimum": 100, "versionPriority": 100}
    api.create(api.catalogue.named("apiservices", "apiregistration.k8s.io"), "", service)
