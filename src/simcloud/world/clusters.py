"""Add a Kubernetes cluster and its machines to a world."""

from __future__ import annotations

from collections.abc import Collection

from simcloud.kubernetes import Cluster, node_names, shape_of
from simcloud.kubernetes.api import Api
from simcloud.kubernetes.kubelet import Kubelet
from simcloud.machine.network import HttpHandler, HttpRequest, HttpResponse
from simcloud.world.world import World


def add_cluster(world: World, nodes: int, without: Collection[str] = ()) -> Cluster:
    """Add machines and a cluster with that number of nodes; return the cluster, not yet started.

    Nodes named in ``without`` are left out: they can join later, with ``join_cluster``.
    """
    shape = shape_of(nodes)
    machines = [world.add_machine(name, shape.machine) for name in node_names(nodes) if name not in without]
    cluster = Cluster(world.kernel, machines, world.epoch_s, shape)
    cluster.api.door = _open_lazily(cluster.api)
    cluster.expose = _expose_kubelet
    return cluster


def join_cluster(world: World, cluster: Cluster, name: str) -> None:
    """Add a machine, which boots now, to a started cluster."""
    cluster.join(world.add_machine(name, cluster.shape.machine))


def _expose_kubelet(kubelet: Kubelet, part: str) -> str:
    """Format the metrics of a kubelet, or of cAdvisor in it, as Prometheus reads them."""
    from simcloud.telemetry.collectors import expose_kubelet

    return expose_kubelet(kubelet, part)


def _open_lazily(api: Api) -> HttpHandler:
    """Return a handler that serves the API over HTTP inside the world; the server is slow to import, so only on first use."""

    async def door(request: HttpRequest) -> HttpResponse:
        from simcloud.server.kubernetes import open_door

        return await open_door(api)(request)

    return door
