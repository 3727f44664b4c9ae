"""``mongo``: what it prints, as the shell of MongoDB 4.4 does."""

from __future__ import annotations

import re

import pytest

from tests.simcloud.datastores.mongodb.shell.shells import ShellWorld

ID = re.compile(r'ObjectId\("[0-9a-f]{24}"\)')


@pytest.fixture(scope="module")
def world() -> ShellWorld:
    made = ShellWorld()
    made.typed(
        "for (var i = 0; i < 45; i++) db.many.insert({_id: i, square: i * i})",
        'db.few.insert([{_id: 1, name: "ann", tags: ["a", "b"]}, {_id: 2, name: "bob", at: ISODate("2020-01-02")}])',
        db="seed",
    )
    return made


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("db", "seed"),
        ("1 + 1", "2"),
        ('"text"', "text"),
        ("null", "null"),
        ("undefined", ""),
        ("var x = 5", ""),
        ("[1, 2]", "[ 1, 2 ]"),
        ("[]", "[ ]"),
        ("({})", "{ }"),
        ("({a: 1})", '{ "a" : 1 }'),
        ("new Date(0)", 'ISODate("1970-01-01T00:00:00Z")'),
        ("new Date(1)", 'ISODate("1970-01-01T00:00:00.001Z")'),
        ("NumberLong(5)", "NumberLong(5)"),
        ('NumberLong("9007199254740993")', 'NumberLong("9007199254740993")'),
        ("NumberInt(5)", "NumberInt(5)"),
        ("/a/i", "/a/i"),
        ('ObjectId("507f1f77bcf86cd799439011")', 'ObjectId("507f1f77bcf86cd799439011")'),
        ('ObjectId("507f1f77bcf86cd799439011").str', "507f1f77bcf86cd799439011"),
        ('UUID("01234567-89ab-cdef-0123-456789abcdef")', 'UUID("01234567-89ab-cdef-0123-456789abcdef")'),
        ('BinData(0, "aGk=")', 'BinData(0,"aGk=")'),
        ("print(1, 'a', {}, [1, 2], null)", "1 a [object Object] 1,2 null"),
        ("printjson({a: {b: 1}})", '{ "a" : { "b" : 1 } }'),
        ("tojson({a: [1]}, '', true)", '{ "a" : [ 1 ] }'),
        ("function f() { return 1 }; f", "function f() { return 1 }"),
        ("db.getName()", "seed"),
        ("db.version()", "4.4.6"),
        ("db.few", "seed.few"),
        ("db.few.sub.deep", "seed.few.sub.deep"),
        ('db.getCollection("odd-name").getFullName()', "seed.odd-name"),
        ('db.getSiblingDB("other").x', "other.x"),
        ("db.few.count()", "2"),
        ('db.few.count({name: "ann"})', "1"),
        ("db.few.countDocuments({})", "2"),
        ("db.few.estimatedDocumentCount()", "2"),
        ("db.nothing.find()", ""),
        ("db.nothing.findOne()", "null"),
        ("db.nothing.drop()", "false"),
        ("db.few.distinct('name')", '[ "ann", "bob" ]'),
        ("db.few.findOne({_id: 2})", '{ "_id" : 2, "name" : "bob", "at" : ISODate("2020-01-02T00:00:00Z") }'),
        ("db.few.find({_id: 1}, {name: 1})", '{ "_id" : 1, "name" : "ann" }'),
        ("db.few.find().sort({_id: -1}).limit(1)", '{ "_id" : 2, "name" : "bob", "at" : ISODate("2020-01-02T00:00:00Z") }'),
        ("db.few.find().skip(1).toArray().length", "1"),
        ("db.few.find().map(d => d.name)", '[ "ann", "bob" ]'),
        ("db.few.find().forEach(d => print(d.name))", "ann\nbob"),
        ("for (const d of db.few.find()) print(d._id)", "1\n2"),
        ("db.many.find().itcount()", "45"),
        ("db.many.find({_id: {$lt: 3}}).count()", "3"),
        ("db.many.aggregate([{$match: {_id: {$gte: 43}}}])", '{ "_id" : 43, "square" : 1849 }\n{ "_id" : 44, "square" : 1936 }'),
        ("db.getCollectionNames()", '[ "few", "many" ]'),
        ("show collections", "few\nmany"),
        ("show tables", "few\nmany"),
        ("it", "no cursor"),
        ("use other", "switched to db other"),
        ("db.runCommand({ping: 1})", '{ "ok" : 1 }'),
        ('db.runCommand("ping")', '{ "ok" : 1 }'),
        ("db.adminCommand({ping: 1}).ok", "1"),
        ("db.isMaster().ismaster", "true"),
        ("db.serverStatus().version", "4.4.6"),
        ("version()", "4.4.6"),
        ("rs.status().codeName", "NoReplicationEnabled"),
        ("db.getUsers()", "[ ]"),
        ("db.getUser('nobody')", "null"),
        ("db.dropUser('nobody')", "false"),
        ("db.auth('nobody', 'x')", "Error: Authentication failed.\n0"),
        ("db.stats().db", "seed"),
        ("hostname()", "store"),
    ],
)  # fmt: skip
def test_one_line(world: ShellWorld, line: str, expected: str) -> None:
    assert world.typed(line, db="seed") == (expected + "\n" if expected else "")


def test_twenty_documents_at_a_time(world: ShellWorld) -> None:
    lines = world.typed("db.many.find()", "it", "it", "it", db="seed").splitlines()
    assert len(lines) == 45 + 2 + 1
    assert lines[0] == '{ "_id" : 0, "square" : 0 }'
    assert lines[20] == lines[41] == 'Type "it" for more'
    assert lines[-2:] == ['{ "_id" : 44, "square" : 1936 }', "no cursor"]


def test_results_of_writing(world: ShellWorld) -> None:
    said = world.typed(
        "db.w.insert({_id: 1})",
        "db.w.insert({_id: 1})",
        "db.w.update({_id: 1}, {$set: {a: 1}})",
        "db.w.update({_id: 9}, {$set: {a: 1}}, {upsert: true})",
        "db.w.remove({_id: 9})",
        "db.w.insertOne({_id: 2})",
        "db.w.insertMany([{_id: 3}, {_id: 4}])",
        "db.w.updateMany({}, {$inc: {n: 1}})",
        "db.w.replaceOne({_id: 4}, {z: 1})",
        "db.w.deleteOne({_id: 3})",
        "db.w.deleteMany({_id: {$gt: 1}})",
        "db.w.findOneAndUpdate({_id: 1}, {$set: {b: 2}}, {returnNewDocument: true})",
        "db.w.updateOne({_id: 1}, {b: 2})",
        "db.w.drop()",
        db="writes",
    )
    duplicate = "E11000 duplicate key error collection: writes.w index: _id_ dup key: { _id: 1.0 }"
    assert said.splitlines() == [
        'WriteResult({ "nInserted" : 1 })',
        "WriteResult({",
        '\t"nInserted" : 0,',
        '\t"writeError" : {',
        '\t\t"code" : 11000,',
        f'\t\t"errmsg" : "{duplicate}"',
        "\t}",
        "})",
        'WriteResult({ "nMatched" : 1, "nUpserted" : 0, "nModified" : 1 })',
        'WriteResult({ "nMatched" : 0, "nUpserted" : 1, "nModified" : 0, "_id" : 9 })',
        'WriteResult({ "nRemoved" : 1 })',
        '{ "acknowledged" : true, "insertedId" : 2 }',
        '{ "acknowledged" : true, "insertedIds" : [ 3, 4 ] }',
        '{ "acknowledged" : true, "matchedCount" : 4, "modifiedCount" : 4 }',
        '{ "acknowledged" : true, "matchedCount" : 1, "modifiedCount" : 1 }',
        '{ "acknowledged" : true, "deletedCount" : 1 }',
        '{ "acknowledged" : true, "deletedCount" : 2 }',
        '{ "_id" : 1, "a" : 1, "n" : 1, "b" : 2 }',
        "uncaught exception: Error: the update operation document must contain atomic operators :",
        *said.splitlines()[-3:-1],
        "true",
    ]


def test_long_documents_take_several_lines_with_tabs(world: ShellWorld) -> None:
    world.typed(
        'db.long.insert({_id: 1, text: "' + "x" * 70 + '", list: [1, {a: []}], empty: {}})', db="docs"
    )
    assert world.typed("db.long.findOne()", db="docs") == (
        '{\n\t"_id" : 1,\n\t"text" : "'
        + "x" * 70
        + '",\n\t"list" : [\n\t\t1,\n\t\t{\n\t\t\t"a" : [ ]\n\t\t}\n\t],'
        '\n\t"empty" : {\n\t\t\n\t}\n}\n'
    )
    one_line = '{ "_id" : 1, "text" : "' + "x" * 70 + '", "list" : [ 1, { "a" : [ ] } ], "empty" : {  } }\n'
    assert world.typed("db.long.find()", db="docs") == one_line


def test_users_and_roles(world: ShellWorld) -> None:
    roles = '[{role: "userAdminAnyDatabase", db: "admin"}, {role: "readWrite", db: "geo-db"}]'
    said = world.typed(
        f'db.createUser({{user: "ann", pwd: "secret", roles: {roles}}})',
        'db.createUser({user: "ann", pwd: "secret", roles: []})',
        'db.createUser({user: "eve", pwd: "x", roles: ["nosuch"]})',
        'db.revokeRolesFromUser("ann", [{role: "readWrite", db: "geo-db"}])',
        'db.getUser("ann").roles',
        'db.grantRolesToUser("ann", [{role: "read", db: "geo-db"}])',
        'db.getUser("ann").roles.length',
        'db.changeUserPassword("ann", "new")',
        'db.auth("ann", "secret")',
        'db.auth("ann", "new")',
        'db.grantRolesToUser("nobody", ["read"])',
        'db.dropUser("ann")',
        "db.getUsers()",
        db="admin",
    )
    assert said.startswith(
        'Successfully added user: {\n\t"user" : "ann",\n\t"roles" : [\n\t\t{\n\t\t\t"role" : "userAdminAnyDatabase",'
    )
    lines = said.splitlines()
    assert 'uncaught exception: Error: couldn\'t add user: User "ann@admin" already exists :' in lines
    assert "uncaught exception: Error: couldn't add user: No role named nosuch@admin :" in lines
    assert lines.count("_getErrorWithCode@src/mongo/shell/utils.js:25:13") == 3
    assert '[ { "role" : "userAdminAnyDatabase", "db" : "admin" } ]' in lines
    assert lines[-1] == "[ ]"
    assert lines[-2] == "true"
    at = lines.index("Error: Authentication failed.")
    assert lines[at - 1 : at + 3] == ["2", "Error: Authentication failed.", "0", "1"]
    assert 'uncaught exception: Error: Could not find user "nobody" for db "admin" :' in lines


def test_indexes(world: ShellWorld) -> None:
    said = world.typed(
        "db.i.insert({a: 1})",
        "db.i.createIndex({a: 1}, {unique: true}).numIndexesAfter",
        "db.i.getIndexes().map(i => i.name)",
        'db.i.dropIndex("a_1").ok',
        "db.none.getIndexes()",
        db="indexes",
    )
    assert said.splitlines()[1:] == ["2", '[ "_id_", "a_1" ]', "1", "[ ]"]


def test_databases_and_their_sizes(world: ShellWorld) -> None:
    lines = world.typed("show dbs").splitlines()
    assert [line.split()[0] for line in lines if line.split()[0] in ("admin", "config", "local", "seed")] == [
        "admin", "config", "local", "seed",
    ]  # fmt: skip
    assert all(re.fullmatch(r"\S+ +\d+\.\d{3}GB", line) for line in lines)


def test_errors_go_on_with_the_next_line(world: ShellWorld) -> None:
    said = world.typed(
        "foo",
        "db.foo.bar()",
        "throw 'oops'",
        "throw {a: 1}",
        "db.many.find({$bad: 1})",
        "1 +* 2",
        "7",
        db="seed",
    )
    assert said.splitlines()[:6] == [
        "uncaught exception: ReferenceError: foo is not defined :",
        "@(shell):1:1",
        "uncaught exception: TypeError: db.foo.bar is not a function :",
        "@(shell):1:1",
        "uncaught exception: oops",
        'uncaught exception: { "a" : 1 }',
    ]
    assert (
        'Error: error: {\n\t"ok" : 0,\n\t"errmsg" : "unknown top level operator: $bad",\n\t"code" : 2,'
        in said
    )
    assert said.endswith("@(shell):1:4\n7\n")


def test_entries_may_take_several_lines(world: ShellWorld) -> None:
    said = world.typed(
        "function f(n) {",
        "  if (n > 1) {",
        "    return n;",
        "  }",
        "  return 'small'",
        "}",
        "f(",
        "3",
        ")",
        "[1,",
        "2]",
        "`a",
        "b`",
    )
    assert said == "3\n[ 1, 2 ]\na\nb\n"


def test_loading_files(world: ShellWorld) -> None:
    world.machine.containers["store"].files.put(
        "/tmp/lib.js", b"function twice(n) { return n * 2 }\nvar loaded = 1;\n"
    )
    assert world.typed('load("/tmp/lib.js")', "twice(4) + loaded", 'load("/tmp/none.js")').splitlines()[
        :3
    ] == [
        "true",
        "9",
        "uncaught exception: Error: error loading js file: /tmp/none.js :",
    ]
    assert world.typed('cat("/tmp/lib.js")').startswith("function twice")


def test_the_server_is_shut_down(world: ShellWorld) -> None:
    lone = ShellWorld()
    assert (
        lone.typed("db.shutdownServer()")
        == "shutdown command only works with the admin database; try 'use admin'\n"
    )
    said = lone.typed("db.shutdownServer()", "db.version()", db="admin")
    assert said.startswith("server should be down...\n")
    assert "couldn't connect to server 127.0.0.1:27017" in said
