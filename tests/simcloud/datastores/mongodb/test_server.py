"""What a client gets from mongod."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.datastores.mongodb.bson import ObjectId
from simcloud.datastores.mongodb.driver import MongoClient, MongoError, NotFound
from tests.simcloud.datastores.mongodb.world import MongoWorld


@pytest.fixture(scope="module")
def world() -> MongoWorld:
    return MongoWorld()


def test_documents_are_inserted_found_counted_and_removed(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        hotels = client.collection("geo-db", "geo")
        await hotels.ensure_index("hotelId")
        await hotels.insert({"hotelId": "1", "lat": 37.7}, {"hotelId": "2", "lat": 37.8})
        one = await hotels.find({"hotelId": "1"}).one()
        await hotels.update({"hotelId": "2"}, {"$set": {"lat": 1.0}})
        both = await hotels.find().sort("-hotelId").all()
        await hotels.remove({"hotelId": "1"})
        return one, both, await hotels.count()

    one, both, count = world.run(work)
    assert (one["hotelId"], one["lat"]) == ("1", 37.7)
    assert isinstance(one["_id"], ObjectId)
    assert [(each["hotelId"], each["lat"]) for each in both] == [("2", 1.0), ("1", 37.7)]
    assert count == 1


def test_one_of_nothing_is_not_found(world: MongoWorld) -> None:
    error = world.run(lambda client: client.collection("geo-db", "geo").find({"hotelId": "none"}).one())
    assert isinstance(error, NotFound) and str(error) == "not found"


def test_a_second_document_with_the_same_key_is_refused_in_mongods_words(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        users = client.collection("user-db", "user")
        await users.ensure_index("username", unique=True)
        await users.insert({"_id": 1, "username": "a"})
        await users.insert({"_id": 2, "username": "a"})

    error = world.run(work)
    assert (error.code, error.message) == (
        11000,
        'E11000 duplicate key error collection: user-db.user index: username_1 dup key: { username: "a" }',
    )


def test_large_results_come_in_batches(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        many = client.collection("test", "many")
        await many.insert(*({"_id": number} for number in range(1000)))
        first = await client.run("test", {"find": "many", "batchSize": 10})
        more = await client.run(
            "test", {"getMore": first["cursor"]["id"], "collection": "many", "batchSize": 5}
        )
        return len(first["cursor"]["firstBatch"]), more["cursor"]["nextBatch"], len(await many.find().all())

    assert world.run(work) == (10, [{"_id": number} for number in range(10, 15)], 1000)


def test_a_cursor_nobody_knows_is_not_found(world: MongoWorld) -> None:
    error = world.command("test", {"getMore": 12345, "collection": "many"})
    assert (error.code, error.message) == (43, "cursor id 12345 not found")


@pytest.mark.parametrize(
    ("db", "body", "code", "message"),
    [
        ("test", {"nonsense": 1}, 59, "no such command: 'nonsense'"),
        ("test", {"listDatabases": 1}, 13, "listDatabases may only be run against the admin database."),
        ("admin", {"replSetGetStatus": 1}, 76, "not running with --replSet"),
        ("test", {"find": "x", "filter": {"a": {"$foo": 1}}}, 2, "unknown operator: $foo"),
        ("test", {"find": "x", "filter": {"$foo": 1}}, 2, "unknown top level operator: $foo"),
        ("test", {"drop": "nothing"}, 26, "ns not found"),
        ("test", {"aggregate": "x", "pipeline": [{"$foo": 1}], "cursor": {}}, 40324, "Unrecognized pipeline stage name: '$foo'"),
        ("a b", {"ping": 1}, 73, "Invalid database name: 'a b'"),
    ],
)  # fmt: skip
def test_refusals_are_mongods_own(world: MongoWorld, db: str, body: Any, code: int, message: str) -> None:
    world.run(lambda client: client.collection("test", "x").insert({"a": 1}))
    error = world.command(db, body)
    assert isinstance(error, MongoError)
    assert (error.code, error.message) == (code, message)


def test_find_and_modify_returns_the_old_or_the_new(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        await client.collection("test", "counters").insert({"_id": "x", "n": 1})
        change = {"findAndModify": "counters", "query": {"_id": "x"}, "update": {"$inc": {"n": 1}}}
        old = await client.run("test", change)
        new = await client.run("test", {**change, "new": True})
        gone = await client.run("test", {"findAndModify": "counters", "query": {"_id": "x"}, "remove": True})
        return old["value"], new["value"], gone["value"], await client.collection("test", "counters").count()

    assert world.run(work) == ({"_id": "x", "n": 1}, {"_id": "x", "n": 3}, {"_id": "x", "n": 3}, 0)


def test_upsert_adds_what_the_query_says(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        timeline = client.collection("test", "timeline")
        for post in (1, 2):
            await timeline.upsert(
                {"user_id": 7}, {"$push": {"posts": {"$each": [{"id": post}], "$position": 0}}}
            )
        return await timeline.find({"user_id": 7}).all()

    (found,) = world.run(work)
    assert (found["user_id"], found["posts"]) == (7, [{"id": 2}, {"id": 1}])


def test_explain_names_the_index_or_the_scan(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        await client.collection("test", "plans").ensure_index("a")
        await client.collection("test", "plans").insert({"a": 1}, {"a": 2})
        plans = []
        for filter in ({"a": 1}, {"b": 1}, {"a": {"$gt": 1}, "b": 1}):
            reply = await client.run("test", {"explain": {"find": "plans", "filter": filter}})
            plans.append((reply["queryPlanner"]["winningPlan"], reply["executionStats"]["totalDocsExamined"]))
        return plans

    (by_index, one), (scan, two), (mixed, _) = world.run(work)
    assert (by_index["stage"], by_index["inputStage"]["stage"], one) == ("FETCH", "IXSCAN", 1)
    assert by_index["inputStage"]["indexBounds"] == {"a": ["[1, 1]"]}
    assert (scan["stage"], scan["filter"], two) == ("COLLSCAN", {"b": {"$eq": 1}}, 2)
    assert mixed["inputStage"]["indexBounds"] == {"a": ["(1, inf]"]}


def test_a_collection_gets_another_name_unless_it_is_taken(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        old, new = client.collection("mail", "letters"), client.collection("mail", "letters_2026")
        await old.insert({"_id": 1})
        await client.run("admin", {"renameCollection": "mail.letters", "to": "mail.letters_2026"})
        moved = await old.count(), await new.count()
        await old.insert({"_id": 2})
        with pytest.raises(MongoError, match="target namespace exists"):
            await client.run("admin", {"renameCollection": "mail.letters_2026", "to": "mail.letters"})
        back = {"renameCollection": "mail.letters_2026", "to": "mail.letters", "dropTarget": True}
        await client.run("admin", back)
        with pytest.raises(MongoError, match=r"Source collection mail.letters_2026 does not exist"):
            await client.run("admin", back)
        return moved, await old.find().all()

    assert world.run(work) == ((0, 1), [{"_id": 1}])


def test_lists_and_statistics(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        await client.collection("shop", "orders").insert({"_id": 1})
        databases = await client.run("admin", {"listDatabases": 1, "nameOnly": True})
        collections = await client.run("shop", {"listCollections": 1})
        indexes = await client.run("shop", {"listIndexes": "orders"})
        stats = await client.run("shop", {"collStats": "orders"})
        status = await client.run("admin", {"serverStatus": 1})
        dropped = await client.run("shop", {"dropDatabase": 1})
        return databases, collections, indexes, stats, status, dropped

    databases, collections, indexes, stats, status, dropped = world.run(work)
    assert {"name": "shop"} in databases["databases"] and {"name": "admin"} in databases["databases"]
    assert [each["name"] for each in collections["cursor"]["firstBatch"]] == ["orders"]
    assert indexes["cursor"]["firstBatch"] == [{"v": 2, "key": {"_id": 1}, "name": "_id_"}]
    assert (stats["count"], stats["size"]) == (1, 14)
    assert status["version"] == "4.4.6" and status["connections"]["current"] >= 1
    assert dropped == {"dropped": "shop", "ok": 1.0}


def test_an_index_is_listed_with_its_fields_in_the_order_of_mongod(world: MongoWorld) -> None:
    given = {"sparse": True, "name": "at_1", "ns": "shop.orders", "key": {"at": 1}, "unique": 1}
    world.command("shop", {"createIndexes": "orders", "indexes": [given]})
    listed = world.command("shop", {"listIndexes": "orders"})["cursor"]["firstBatch"][1]
    wanted = {"v": 2, "unique": True, "key": {"at": 1}, "name": "at_1", "sparse": True}
    assert list(listed.items()) == list(wanted.items())


def test_a_document_of_hostile_depth_is_refused(world: MongoWorld) -> None:
    deep: Any = 1
    for _ in range(500):
        deep = {"a": deep}
    error = world.run(lambda client: client.collection("test", "deep").insert({"a": deep}))
    assert error.code == 15


def test_an_endless_pattern_stays_bounded(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        await client.collection("test", "text").insert({"t": "a" * 5000 + "b"})
        return await client.collection("test", "text").find({"t": {"$regex": "(a*)*\\1c"}}).all()

    outcome = world.run(work)
    assert outcome == [] or outcome.code == 51156


def test_expired_documents_go_within_a_minute() -> None:
    world = MongoWorld()

    async def work(client: MongoClient) -> Any:
        from simcloud.datastores.mongodb.bson import date

        old, new = date(world.machine.clock() - 100), date(world.machine.clock() + 1000)
        await client.collection("test", "sessions").insert({"_id": 1, "at": old}, {"_id": 2, "at": new})
        index = {"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 10}
        await client.run("test", {"createIndexes": "sessions", "indexes": [index]})

    world.run(work)
    world.kernel.run_for(70)
    assert world.run(lambda client: client.collection("test", "sessions").find().all())[0]["_id"] == 2
