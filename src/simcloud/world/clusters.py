"""A Kubernetes in a world: the machines that its shape asks for, and the cluster on them."""

from __future__ import annotations

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.nodes import node_names
from simcloud.kubernetes.shapes import shape_of
from simcloud.machine.network.http import HttpHandler, HttpRequest, HttpResponse
from simcloud.world.world import World


def add_cluster(world: World, nodes: int) -> Cluster:
    """A cluster of so many nodes, not yet started."""
    shape = shape_of(nodes)
    machines = [world.add_machine(name, shape.machine) for name in node_names(nodes)]
    cluster = Cluster(world.kernel, machines, world.epoch_s, shape)
    cluster.api.door = _opened_by_the_first(cluster.api)
    return cluster


def _opened_by_the_first(api: Api) -> HttpHandler:
    """Whoever is in the world reaches its API over HTTP, too; few do, and the server takes long to load."""

    async def door(request: HttpRequest) -> HttpResponse:
        from simcloud.server.kubernetes.inside import open_door

        return await open_door(api)(request)

    return door
