"""Add a Kubernetes cluster and its machines to a world."""

from __future__ import annotations

from simcloud.kubernetes import Cluster, node_names, shape_of
from simcloud.kubernetes.api import Api
from simcloud.machine.network import HttpHandler, HttpRequest, HttpResponse
from simcloud.world.world import World


def add_cluster(world: World, nodes: int) -> Cluster:
    """Add machines and a cluster with that number of nodes; return the cluster, not yet started."""
    shape = shape_of(nodes)
    machines = [world.add_machine(name, shape.machine) for name in node_names(nodes)]
    cluster = Cluster(world.kernel, machines, world.epoch_s, shape)
    cluster.api.door = _open_lazily(cluster.api)
    return cluster


def _open_lazily(api: Api) -> HttpHandler:
    """Return a handler that serves the API over HTTP inside the world; the server is slow to import, so only on first use."""

    async def door(request: HttpRequest) -> HttpResponse:
        from simcloud.server.kubernetes import open_door

        return await open_door(api)(request)

    return door
