"""Whatever a client sends, the server answers and goes on, and no command takes for ever."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.datastores.mongodb.bson import ObjectId, Regex
from simcloud.datastores.mongodb.commands import COMMANDS
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from tests.simcloud.datastores.mongodb.world import MongoWorld

WORDS = st.sampled_from(
    ["a", "x", "$set", "$inc", "$push", "$each", "$position", "$gt", "$in", "$regex", "$elemMatch", "$not", "$or",
     "$expr", "$add", "$concat", "$slice", "$map", "$group", "$match", "$project", "$unwind", "_id", "q", "u", "limit",
     "key", "name", "$arrayElemAt", "$range", "$dateToString", "role", "db", "$lookup", "$", "a.$[].b", ""]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=4), WORDS,
    st.sampled_from([ObjectId(b"x" * 12), Regex("(", "i"), Regex("a", "q")]), st.just("$a"), st.just("$$ROOT"),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
)
FIELDS = st.sampled_from(
    ["filter", "query", "sort", "projection", "pipeline", "cursor", "documents", "updates", "deletes", "indexes", "index",
     "key", "update", "remove", "limit", "skip", "batchSize", "collection", "cursors", "roles", "pwd", "hint", "fields",
     "ordered", "payload", "mechanism", "privileges", "writeConcern", "upsert", "new", "arrayFilters", "scale", "to"]
)  # fmt: skip
STATEMENTS = st.lists(
    st.fixed_dictionaries({"q": VALUES, "u": VALUES, "limit": st.integers(0, 1)}, optional={"upsert": st.booleans(), "multi": st.booleans()}),
    min_size=1, max_size=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def world() -> MongoWorld:
    return MongoWorld()


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(sorted(set(COMMANDS) - {"shutdown"})),
    target=st.one_of(st.just("x"), st.just(1), VALUES),
    fields=st.dictionaries(FIELDS, VALUES, max_size=4),
    statements=STATEMENTS,
)
def test_any_command_is_answered(
    world: MongoWorld, name: str, target: Any, fields: Any, statements: Any
) -> None:
    body = {name: target, **fields}
    if name in ("update", "delete"):
        body["updates" if name == "update" else "deletes"] = statements
    outcome = world.command("admin", body)
    assert isinstance(outcome, MongoError) or outcome["ok"] == 1.0


MANY = list(range(2_000))
HUGE_LOOP = [{"$project": {"r": {"$map": {"input": MANY, "in": {"$sum": {"$literal": MANY}}}}}}]
DOUBLING = [{"$set": {"a": {"$concat": ["$a", "$a"]}}}] * 40


@pytest.mark.parametrize("pipeline", [HUGE_LOOP, DOUBLING], ids=["loop", "doubling"])
def test_work_without_end_is_ended(world: MongoWorld, pipeline: list[Any]) -> None:
    async def work(client: MongoClient) -> Any:
        await client.collection("test", "one").upsert({"_id": 1}, {"$set": {"a": "aa"}})
        return await client.run("test", {"aggregate": "one", "pipeline": pipeline, "cursor": {}})

    assert world.run(work).code == 50
