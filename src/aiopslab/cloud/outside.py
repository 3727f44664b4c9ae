"""The machine outside a cluster where users run, and the route from there to an application's front door.

Operators and agents cannot reach that machine. Users connect to a Service's node port, on any node that
accepts their connections.
"""

from __future__ import annotations

from typing import Final

from aiopslab.generators.workload import HttpDoor
from simcloud.kubernetes import Cluster
from simcloud.kubernetes.api import at
from simcloud.machine import Image, Machine
from simcloud.machine.process import Container, Program
from simcloud.world import World

NAME: Final = "internet"
NETWORK: Final = "203.0.113"
FIRST_HOST: Final = 10


def get_outside_machine(world: World) -> Machine:
    """Return the machine outside the cluster; the first call creates it."""
    found = world.machines.get(NAME)
    return found if found is not None else world.add_machine(NAME, address=f"{NETWORK}.{FIRST_HOST}")


def start_outside(world: World, name: str, program: Program) -> Container:
    """Run a program outside the cluster, in a container with its own address; return the container."""
    machine = get_outside_machine(world)
    # The machine's own container has the first address.
    address = f"{NETWORK}.{FIRST_HOST + len(machine.containers)}"
    container = machine.create_container(name, Image(name, {}), address=address)
    container.start([name], program=program)
    return container


def find_front_door(cluster: Cluster, namespace: str, service: str, host: str = "") -> HttpDoor:
    """Return the door of a Service with a node port; raises ``LookupError`` if it has none.

    With a host, the door is the port ``https``, and the certificate for the host must be of the cluster's authority.
    """
    api = cluster.api
    found = api.log.get(api.key(api.catalogue.find("services"), namespace, service))
    ports = at(found, "spec", "ports", default=[]) if found is not None else []
    named = [port for port in ports if not host or port.get("name") == "https"]
    node_port = next((port["nodePort"] for port in named if port.get("nodePort")), None)
    if node_port is None:
        raise LookupError(
            f"Service {namespace}/{service} has no node port, so it cannot be reached from outside."
        )
    nodes = api.list(api.catalogue.find("nodes"), None)["items"]
    addresses = [
        address["address"]
        for node in nodes
        for address in at(node, "status", "addresses", default=[])
        if address["type"] == "InternalIP"
    ]
    return HttpDoor(addresses, node_port, host, cluster.pki.sign("ca").certificate if host else b"")
