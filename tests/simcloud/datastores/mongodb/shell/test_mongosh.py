"""``mongosh``: what it prints."""

from __future__ import annotations

import pytest

from tests.simcloud.datastores.mongodb.shell.shells import ShellWorld


@pytest.fixture(scope="module")
def world() -> ShellWorld:
    made = ShellWorld()
    made.evaluated(
        "for (let i = 0; i < 25; i++) db.many.insertOne({_id: i}); db.few.insertMany([{_id: 1, name: 'ann'}, {_id: 2}])",
        "seed",
        shell="mongosh",
    )
    return made


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("db", "seed"),
        ("1 + 1", "2"),
        ("'text'", "text"),
        ("undefined", ""),
        ("db.version()", "4.4.6"),
        ("version()", "2.12.0"),
        ("db.few.find()", "[ { _id: 1, name: 'ann' }, { _id: 2 } ]"),
        ("db.nothing.find()", ""),
        ("db.few.findOne({_id: 9})", "null"),
        ("db.few.countDocuments()", "2"),
        ("db.few.find().toArray().length", "2"),
        ("db.few.find().map(d => d._id)", "[ 1, 2 ]"),
        ("db.getCollectionNames()", "[ 'few', 'many' ]"),
        ("db.few.distinct('name')", "[ 'ann' ]"),
        ("db.few.getIndexes()", "[ { v: 2, key: { _id: 1 }, name: '_id_' } ]"),
        ("db.runCommand({ping: 1})", "{ ok: 1 }"),
        ("db.getUsers()", "{ users: [], ok: 1 }"),
        ("show collections", "few\nmany"),
        ("use other", "switched to db other"),
        ("print({a: 1}, 'x')", "{ a: 1 } x"),
        ("printjson({a: {b: 1}})", "{\n  a: {\n    b: 1\n  }\n}"),
        ("await db.few.countDocuments()", "2"),
        ("const {name} = db.few.findOne(); name", "ann"),
        ("db.w.insertOne({_id: 7})", "{ acknowledged: true, insertedId: 7 }"),
        ("db.w.insertMany([{_id: 8}])", "{ acknowledged: true, insertedIds: { '0': 8 } }"),
        (
            "db.w.updateOne({_id: 7}, {$set: {a: 1}})",
            "{\n  acknowledged: true,\n  insertedId: null,\n  matchedCount: 1,\n  modifiedCount: 1,\n  upsertedCount: 0\n}",
        ),
        ("db.w.deleteMany({})", "{ acknowledged: true, deletedCount: 2 }"),
        ("db.w.createIndex({a: 1})", "a_1"),
        ("db.w.drop()", "true"),
        ("db.createUser({user: 'u', pwd: 'p', roles: []})", "{ ok: 1 }"),
        ("db.auth('u', 'p')", "{ ok: 1 }"),
        ("db.dropUser('u')", "{ ok: 1 }"),
    ],
)
def test_one_script(world: ShellWorld, script: str, expected: str) -> None:
    assert world.evaluated(script, "seed", shell="mongosh") == (
        expected + "\n" if expected or "nothing" in script else ""
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("foo", "Uncaught ReferenceError: foo is not defined"),
        ("throw new Error('hi')", "Uncaught Error: hi"),
        ("foo bar", "Uncaught:\nSyntaxError: Missing semicolon. (1:3)\n\n> 1 | foo bar\n    |    ^\n  2 |\n"),
        ("db.auth('nobody', 'x')", "MongoServerError[AuthenticationFailed]: Authentication failed."),
        ("db.dropUser('nobody')", "MongoServerError[UserNotFound]: User 'nobody@test' not found"),
        ("rs.status()", "MongoServerError[NoReplicationEnabled]: not running with --replSet"),
        ("db.runCommand({nosuch: 1})", "MongoServerError[CommandNotFound]: no such command: 'nosuch'"),
        ("try { db.dropUser('nobody') } catch (e) { e.code }", "11"),
    ],
)
def test_errors(world: ShellWorld, line: str, expected: str) -> None:
    assert world.typed(line, shell="mongosh") == f"test> {expected}\ntest> "


def test_a_long_cursor_goes_on(world: ShellWorld) -> None:
    said = world.typed("db.many.find()", "it", "it", shell="mongosh", db="seed")
    first, second, third, _ = said.split("seed> ")[1:]
    assert first.count("_id") == 20
    assert first.endswith('Type "it" for more\n')
    assert second.count("_id") == 5
    assert third == "no cursor\n"


def test_whole_numbers_are_stored_as_integers(world: ShellWorld) -> None:
    world.evaluated("db.n.insertOne({_id: 1, d: 1.5})", "kinds", shell="mongosh")
    world.evaluated("db.n.insertOne({_id: 2})", "kinds")
    kinds = "db.n.aggregate([{$project: {k: {$type: '$_id'}}}]).toArray().map(d => d.k)"
    assert world.evaluated(kinds, "kinds", shell="mongosh") == "[ 'int', 'double' ]\n"


def test_errors_that_are_not_what_they_seem(world: ShellWorld) -> None:
    said = world.typed(
        "throw Object.assign(new Error('x'), {message: {a: 1}, name: {}})",
        "var e = new Error('y'); e.name = 5; e",
        "throw {toString() { throw 1 }}",
        shell="mongosh",
    )
    assert (
        said
        == "test> Uncaught Error: { a: 1 }\ntest> Error: y { name: 5 }\ntest> Uncaught Error: { toString: [Function: toString] }\ntest> "
    )
