"""A metrics server without a pod: for tests of those who read metrics."""

from __future__ import annotations

from simcloud.kubernetes.api.aggregation import Provider
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.computed import metrics_server


def serve_metrics(api: Api, nodes: Provider, pods: Provider) -> None:
    """Serve ``metrics.k8s.io`` from these providers from now on."""
    server = metrics_server(nodes, pods)
    for resource in server.resources:
        api.catalogue.add(resource)
        api.providers[resource.key] = server.providers[resource.plural]
