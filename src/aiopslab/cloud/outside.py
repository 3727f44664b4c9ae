"""What lies outside a cluster: the machine that users sit at, and the way from there to a front door.

Users live beyond the reach of whoever operates the cluster. They come in by a Service's node port, over any node that
takes their connections.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import at
from simcloud.kubernetes.cluster import Cluster
from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.process import Container, Program
from simcloud.services.front_doors import HttpDoor
from simcloud.world.world import World

NAME: Final = "internet"
NETWORK: Final = "203.0.113"
FIRST_HOST: Final = 10


def outside_machine(world: World) -> Machine:
    """The machine outside, made when first asked for."""
    found = world.machines.get(NAME)
    return found if found is not None else world.add_machine(NAME, address=f"{NETWORK}.{FIRST_HOST}")


def start_outside(world: World, name: str, program: Program) -> Container:
    """Run a program outside the cluster, at an address of its own."""
    machine = outside_machine(world)
    # The machine's own container has the first address.
    address = f"{NETWORK}.{FIRST_HOST + len(machine.containers)}"
    container = machine.create_container(name, Image(name, {}), address=address)
    container.start([name], program=program)
    return container


def front_door(cluster: Cluster, namespace: str, service: str) -> HttpDoor:
    """The way in to a Service that has a node port; raises ``LookupError`` when there is none."""
    api = cluster.api
    found = api.log.get(api.key(api.catalogue.named("services"), namespace, service))
    ports = at(found, "spec", "ports", default=[]) if found is not None else []
    port = next((each["nodePort"] for each in ports if each.get("nodePort")), None)
    if port is None:
        raise LookupError(f"Service {namespace}/{service} has no node port: nobody outside can reach it.")
    nodes = api.list(api.catalogue.named("nodes"), None)["items"]
    addresses = [
        each["address"]
        for node in nodes
        for each in at(node, "status", "addresses", default=[])
        if each["type"] == "InternalIP"
    ]
    return HttpDoor(addresses, port)
