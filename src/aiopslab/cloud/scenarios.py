"""A ready-made world with the synthetic application, for tests, benchmarks and copies."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from aiopslab.apps import FIRST_PORT, FRONT, Journey, SyntheticApp, deploy
from aiopslab.generators.workload import OpenLoop, RpcDoor, Steady, Users
from simcloud.machine import Image
from simcloud.machine.process import Container
from simcloud.world import World

NODES: Final = ("node-1", "node-2", "node-3")
SETTLE_S: Final = 2.0


def _make_read(chance: Random) -> tuple[str, str]:
    return "read", f"user-{chance.randrange(1000)}"


def _make_write(chance: Random) -> tuple[str, dict[str, Any]]:
    return "write", {"user": f"user-{chance.randrange(1000)}", "items": chance.randrange(1, 9)}


READ: Final = Journey("read", 0.9, _make_read)
WRITE: Final = Journey("write", 0.1, _make_write)


@dataclass
class SyntheticCloud:
    """The synthetic application on three machines, with users."""

    world: World
    app: SyntheticApp
    users: Users
    crowd: Container


def build_synthetic_cloud(
    seed: int = 0,
    services: int = 27,
    rate: float = 10.0,
    journeys: tuple[Journey, ...] = (READ, WRITE),
    settle_s: float = SETTLE_S,
    telemetry: bool = True,
) -> SyntheticCloud:
    """Build machines, services, a document store on the last machine, and users; run them for ``settle_s``."""
    world = World(seed, telemetry=telemetry)
    machines = [world.add_machine(name) for name in NODES]
    app = deploy(machines, world.resolver, Image("app", {}), services)
    users = Users(RpcDoor(FRONT, FIRST_PORT), journeys, OpenLoop(Steady(rate)))
    outside = world.add_machine("internet", address="203.0.113.10")
    crowd = outside.create_container("users", Image("users", {}), address="203.0.113.11")
    crowd.start(["users"], program=users.program)
    world.run_for(settle_s)
    return SyntheticCloud(world, app, users, crowd)


def take_first_observation(cloud: SyntheticCloud) -> bytes:
    """Run a command that an agent might start with; return its output."""
    return cloud.world.shell("node-1", "tail -n 3 /var/log/containers/front.log").stdout
