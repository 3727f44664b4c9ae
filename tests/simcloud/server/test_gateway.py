"""Real HTTP clients at the front door of an application in a living cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx2
import pytest

from aiopslab.apps.base import Journey
from aiopslab.cloud.outside import find_front_door, start_outside
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import Users
from simcloud.machine.network.http import HttpRequest
from simcloud.server.gateway import Gateway
from simcloud.server.kubernetes.live import Live
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

SPEED = 200.0


class Lab:
    """nginx behind a node port."""

    def __init__(self) -> None:
        self.world = World(3)
        self.cluster = add_cluster(self.world, 3)
        self.cluster.start()
        self.world.run_for(30)
        self.terminal = Terminal(self.world, self.cluster)
        self.type("kubectl create deployment web --image nginx:1.19 --replicas 2 --port 80")
        self.type("kubectl expose deployment web --type NodePort --port 80")
        self.world.run_for(30)

    def type(self, line: str) -> str:
        done = self.terminal.run(line)
        assert done.status == 0, done.stderr
        return done.stdout.decode()

    def ask(self, questions: Callable[[httpx2.AsyncClient], Awaitable[None]]) -> None:
        """Ask as real clients do, while the world runs."""

        async def main() -> None:
            live = Live(self.world.kernel, SPEED)
            gateway = Gateway(find_front_door(self.cluster, "default", "web"), live)
            start_outside(self.world, f"gateway-{self.world.kernel.now:.0f}", gateway.program)
            running = asyncio.create_task(live.run())
            transport = httpx2.ASGITransport(app=gateway)
            async with httpx2.AsyncClient(transport=transport, base_url="http://web") as client:
                await questions(client)
            running.cancel()

        asyncio.run(main())


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


def test_a_real_client_is_answered(lab: Lab) -> None:
    async def questions(client: httpx2.AsyncClient) -> None:
        page = await client.get("/")
        assert page.status_code == 200
        assert "Welcome to nginx!" in page.text
        missing = await client.get("/nothing?a=1")
        assert missing.status_code == 404
        many = await asyncio.gather(*(client.get("/") for _ in range(20)))
        assert {each.status_code for each in many} == {200}
        large = await client.post("/", content=b"x" * (2 << 20))
        assert large.status_code == 413

    lab.ask(questions)


def test_nothing_behind_the_door_is_a_502(lab: Lab) -> None:
    async def questions(client: httpx2.AsyncClient) -> None:
        refused = await client.get("/")
        assert refused.status_code == 502
        assert refused.text == "No answer from the front door: connect: Connection refused\n"

    lab.type("kubectl scale deployment web --replicas 0")
    lab.world.run_for(40)
    lab.ask(questions)
    lab.type("kubectl scale deployment web --replicas 2")
    lab.world.run_for(30)


def test_users_come_in_by_the_node_port(lab: Lab) -> None:
    page = Journey("page", 1.0, lambda _chance: HttpRequest("GET", "/"), lambda answer: answer.status == 200)
    users = Users(find_front_door(lab.cluster, "default", "web"), [page], OpenLoop(Steady(20.0)))
    begun = lab.world.kernel.now
    start_outside(lab.world, "users", users.program)
    lab.world.run_for(30)
    summary = users.results.between(begun, begun + 25)
    assert summary.requests > 400
    assert summary.errors == 0


def test_a_service_without_a_node_port_has_no_front_door(lab: Lab) -> None:
    with pytest.raises(LookupError, match="default/kubernetes has no node port"):
        find_front_door(lab.cluster, "default", "kubernetes")
