"""The lock of fsync: writers wait, readers do not."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.driver import MongoClient
from simcloud.machine.process import Context
from tests.simcloud.datastores.mongodb.world import MongoWorld


def test_writers_wait_until_the_lock_is_given_back() -> None:
    world = MongoWorld()
    seen: list[float] = []

    async def writer(ctx: Context) -> int:
        client = MongoClient(ctx, "store:27017")
        await client.connect()
        await client.collection("a", "b").insert({"_id": 1})
        seen.append(ctx.now)
        return 0

    async def work(client: MongoClient) -> Any:
        await client.collection("a", "b").insert({"_id": 0})
        locked = await client.run("admin", {"fsync": 1, "lock": True})
        world.client.start(["writer"], program=writer)
        await world.kernel.sleep(20)
        count = await client.collection("a", "b").count()
        under_way = await client.run("admin", {"currentOp": 1})
        unlocked = await client.run("admin", {"fsyncUnlock": 1})
        await world.kernel.sleep(1)
        return locked, count, under_way, unlocked, await client.collection("a", "b").count()

    locked, before, under_way, unlocked, after = world.run(work)
    assert (locked["info"], locked["lockCount"]) == (
        "now locked against writes, use db.fsyncUnlock() to unlock",
        1,
    )
    assert under_way["fsyncLock"] is True
    waiting = [each for each in under_way["inprog"] if each["waitingForLock"]]
    assert [each["command"]["insert"] for each in waiting] == ["b"]
    assert (unlocked["info"], unlocked["lockCount"]) == ("fsyncUnlock completed", 0)
    assert (before, after) == (1, 2)
    assert len(seen) == 1


def test_what_is_not_locked_cannot_be_unlocked() -> None:
    failure = MongoWorld().command("admin", {"fsyncUnlock": 1})
    assert (failure.code, failure.message) == (20, "fsyncUnlock called when not locked")
