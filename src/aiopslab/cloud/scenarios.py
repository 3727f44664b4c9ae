"""Worlds that are ready to be looked at, measured and copied."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from aiopslab.apps.base import Journey
from aiopslab.apps.synthetic import FIRST_PORT, FRONT, SyntheticApp, deploy
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import Users
from simcloud.machine.image import Image
from simcloud.machine.process import Container
from simcloud.services.front_doors import RpcDoor
from simcloud.world.world import World

NODES: Final = ("node-1", "node-2", "node-3")
SETTLE_S: Final = 2.0


def _read(chance: Random) -> tuple[str, str]:
    return "read", f"user-{chance.randrange(1000)}"


def _write(chance: Random) -> tuple[str, dict[str, Any]]:
    return "write", {"user": f"user-{chance.randrange(1000)}", "items": chance.randrange(1, 9)}


READ: Final = Journey("read", 0.9, _read)
WRITE: Final = Journey("write", 0.1, _write)


@dataclass
class SyntheticCloud:
    """The synthetic application on three machines, with users on it."""

    world: World
    app: SyntheticApp
    users: Users
    crowd: Container


def synthetic_cloud(
    seed: int = 0,
    services: int = 27,
    rate: float = 10.0,
    journeys: tuple[Journey, ...] = (READ, WRITE),
    settle_s: float = SETTLE_S,
    telemetry: bool = True,
) -> SyntheticCloud:
    """Machines, services, a document store on the last machine, and users; a few seconds old."""
    world = World(seed, telemetry=telemetry)
    machines = [world.add_machine(name) for name in NODES]
    app = deploy(machines, world.resolver, Image("app", {}), services)
    users = Users(RpcDoor(FRONT, FIRST_PORT), journeys, OpenLoop(Steady(rate)))
    outside = world.add_machine("internet", address="203.0.113.10")
    crowd = outside.create_container("users", Image("users", {}), address="203.0.113.11")
    crowd.start(["users"], program=users.program)
    world.run_for(settle_s)
    return SyntheticCloud(world, app, users, crowd)


def first_observation(cloud: SyntheticCloud) -> bytes:
    """What an agent might type first, and what it sees."""
    return cloud.world.shell("node-1", "tail -n 3 /var/log/containers/front.log").stdout
