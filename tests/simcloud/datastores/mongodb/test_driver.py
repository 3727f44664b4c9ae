"""The driver in mgo's manner, above all when things go wrong."""

from __future__ import annotations

import re
from typing import Any

from simcloud.datastores.mongodb.driver import MongoClient
from simcloud.machine.process import Signal
from tests.simcloud.datastores.mongodb.world import MongoWorld


def test_nobody_there_takes_ten_seconds_to_find_out() -> None:
    world = MongoWorld(start=False)
    before = world.kernel.now
    error = world.command("admin", {"ping": 1})
    assert (error.code, error.message) == (0, "no reachable servers")
    assert 10.0 <= world.kernel.now - before < 11.0


def test_a_server_that_comes_up_in_time_is_found() -> None:
    world = MongoWorld(start=False)
    world.kernel.call_later(4.0, lambda _: world.launch(), None)
    assert world.command("admin", {"ping": 1})["ok"] == 1.0


def test_a_server_that_dies_is_an_eof_and_then_dialled_anew() -> None:
    world = MongoWorld()

    async def work(client: MongoClient) -> Any:
        await client.run("admin", {"ping": 1})
        world.process.send(Signal.KILL, outside=True)
        await world.kernel.sleep(1)
        world.launch()
        return await client.run("admin", {"ping": 1})

    assert world.run(work)["ok"] == 1.0


def test_a_server_that_hangs_is_given_up_after_a_minute() -> None:
    world = MongoWorld()

    async def work(client: MongoClient) -> Any:
        await client.run("admin", {"ping": 1})
        for process in world.machine.containers["store"].processes.values():
            process.send(Signal.STOP, outside=True)
        return await client.run("admin", {"ping": 1})

    before = world.kernel.now
    error = world.run(work)
    assert re.fullmatch(r"read tcp 10\.1\.0\.2:\d+->10\.1\.0\.1:27017: i/o timeout", error.message)
    assert 60 <= world.kernel.now - before < 61
