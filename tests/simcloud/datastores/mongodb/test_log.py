"""The log: the lines and their order at start, per connection, and for what takes long."""

from __future__ import annotations

import json
from typing import Any

from simcloud.datastores.mongodb.driver import MongoClient
from tests.simcloud.datastores.mongodb.world import MongoWorld

START = [
    23285, 22601, 4648601, 4615611, 23403, 51765, 21951, 22297, 22315, 22430, 22430, 4795906, 23987, 4366408, 22262, 22120, 20320, 20345,
    20459, 20536, 20320, 20345, 20625, 23015, 23015, 23016, 20712, 20320, 20345, 20345,
]  # fmt: skip


def test_the_first_lines_are_those_of_a_fresh_server() -> None:
    world = MongoWorld()
    assert [json.loads(line)["id"] for line in world.lines] == START
    assert world.lines[3] == (
        '{"t":{"$date":"2026-01-05T09:00:00.351+00:00"},"s":"I",  "c":"STORAGE",  "id":4615611, "ctx":"initandlisten",'
        '"msg":"MongoDB starting","attr":{"pid":1,"port":27017,"dbPath":"/data/db","architecture":"64-bit","host":"store"}}'
    )


def test_a_connection_leaves_two_lines_and_one_about_a_client_that_describes_itself() -> None:
    world = MongoWorld()
    world.command("admin", {"ping": 1})
    world.kernel.run_for(1)
    (accepted,), (ended,) = world.logged(22943), world.logged(22944)
    assert accepted["attr"].pop("remote").startswith("10.1.0.2:")
    assert accepted["attr"] == {"connectionId": 1, "connectionCount": 1}
    assert (ended["ctx"], ended["attr"]["connectionCount"]) == ("conn1", 0)
    assert not world.logged(51800)
    world.command("admin", {"isMaster": 1, "client": {"driver": {"name": "other"}}})
    (described,) = world.logged(51800)
    assert described["attr"]["doc"] == {"driver": {"name": "other"}}


def test_a_slow_query_is_logged_with_its_plan() -> None:
    world = MongoWorld()

    async def work(client: MongoClient) -> Any:
        many = client.collection("test", "many")
        await many.insert(*({"_id": number, "a": number} for number in range(60_000)))
        return await many.find({"a": 5}).all()

    assert world.run(work) == [{"_id": 5, "a": 5}]
    line = world.logged(51803)[-1]
    assert (line["msg"], line["attr"]["ns"], line["attr"]["planSummary"]) == (
        "Slow query",
        "test.many",
        "COLLSCAN",
    )
    assert line["attr"]["docsExamined"] == 60_000
    assert line["attr"]["durationMillis"] >= 100


def test_the_log_can_be_asked_for() -> None:
    world = MongoWorld()
    reply = world.command("admin", {"getLog": "startupWarnings"})
    assert any("Access control is not enabled" in line for line in reply["log"])


def test_two_runs_write_the_same() -> None:
    first, second = MongoWorld("--auth"), MongoWorld("--auth")
    for world in (first, second):
        world.local("admin", {"createUser": "ann", "pwd": "x", "roles": ["root"]})
        world.command("admin", {"serverStatus": 1}, username="ann", password="x")
    assert first.lines == second.lines
