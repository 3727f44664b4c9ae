"""A Kubernetes in a world: the machines that its shape asks for, and the cluster on them."""

from __future__ import annotations

from aiopslab.cloud.world import World
from aiopslab.cluster.cluster import Cluster
from aiopslab.cluster.nodes import node_names
from aiopslab.cluster.shapes import shape_of


def add_cluster(world: World, nodes: int) -> Cluster:
    """A cluster of so many nodes, not yet started."""
    shape = shape_of(nodes)
    machines = [world.add_machine(name, shape.machine) for name in node_names(nodes)]
    return Cluster(world.kernel, machines, world.epoch_s, shape)
