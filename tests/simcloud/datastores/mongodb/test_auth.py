"""Who gets in, and who may do what."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from tests.simcloud.datastores.mongodb.world import MongoWorld

ADMIN = {"username": "admin", "password": "admin"}
ROLES = [{"role": "userAdminAnyDatabase", "db": "admin"}, {"role": "readWrite", "db": "geo-db"}]


def user(name: str, *roles: Any) -> dict[str, Any]:
    return {"createUser": name, "pwd": name, "roles": list(roles)}


@pytest.fixture
def world() -> MongoWorld:
    world = MongoWorld("--auth")
    assert world.local("admin", user("admin", *ROLES))["ok"] == 1.0
    return world


def test_the_first_user_can_be_made_from_inside_only() -> None:
    world = MongoWorld("--auth")
    error = world.command("admin", user("admin", "root"))
    assert (error.code, error.message) == (13, "command createUser requires authentication")
    world.local("admin", user("admin", "root"))
    second = world.local("admin", user("eve", "root"))
    assert (second.code, second.message) == (13, "command createUser requires authentication")


def test_a_user_who_logs_in_may_work(world: MongoWorld) -> None:
    async def work(client: MongoClient) -> Any:
        await client.collection("geo-db", "geo").insert({"hotelId": "1"})
        return await client.collection("geo-db", "geo").count()

    assert world.run(work, **ADMIN) == 1
    (line,) = [each for each in world.logged(20250) if each["attr"]["principalName"] == "admin"]
    assert (line["msg"], line["attr"]["mechanism"]) == ("Authentication succeeded", "SCRAM-SHA-1")


def test_nobody_in_particular_may_do_nothing(world: MongoWorld) -> None:
    error = world.command("geo-db", {"count": "geo"})
    assert (error.code, error.message) == (13, "command count requires authentication")
    assert world.command("admin", {"ping": 1})["ok"] == 1.0


def test_a_wrong_password_and_an_unknown_user_look_the_same_outside_and_differ_in_the_log(
    world: MongoWorld,
) -> None:
    words = "server returned error on SASL authentication step: Authentication failed."
    for name in ("admin", "nobody"):
        error = world.command("admin", {"ping": 1}, username=name, password="wrong")
        assert (error.code, error.message) == (18, words)
    assert [each["attr"]["error"] for each in world.logged(20249)] == [
        "AuthenticationFailed: SCRAM authentication failed, storedKey mismatch",
        'UserNotFound: Could not find user "nobody" for db "admin"',
    ]


def test_revoking_a_role_shows_at_the_next_command(world: MongoWorld) -> None:
    revoke = {"revokeRolesFromUser": "admin", "roles": [{"role": "readWrite", "db": "geo-db"}]}
    world.command("admin", revoke, **ADMIN)
    error = world.command("geo-db", {"count": "geo", "query": {"hotelId": "1"}}, **ADMIN)
    words = (
        'not authorized on geo-db to execute command { count: "geo", query: { hotelId: "1" }, $db: "geo-db" }'
    )
    assert (error.code, error.message) == (13, words)
    (line,) = world.logged(20436)
    assert (line["c"], line["msg"]) == ("ACCESS", "Checking authorization failed")
    assert line["attr"]["error"] == {"code": 13, "codeName": "Unauthorized", "errmsg": words}
    grant = {"grantRolesToUser": "admin", "roles": [{"role": "readWrite", "db": "geo-db"}]}
    world.command("admin", grant, **ADMIN)
    assert world.command("geo-db", {"count": "geo"}, **ADMIN)["n"] == 0


def test_a_dropped_user_is_out_even_where_he_was_in(world: MongoWorld) -> None:
    world.command("admin", user("root", "root"), **ADMIN)

    async def work(client: MongoClient) -> Any:
        await client.run("admin", {"dropUser": "admin"})
        return await client.run("geo-db", {"count": "geo"})

    error = world.run(work, **ADMIN)
    assert error.message == "command count requires authentication"
    again = world.command("admin", {"dropUser": "admin"}, username="root", password="root")
    assert (again.code, again.message) == (11, "User 'admin@admin' not found")


def test_a_changed_password_counts_from_then_on(world: MongoWorld) -> None:
    world.command("admin", {"updateUser": "admin", "pwd": "fresh"}, **ADMIN)
    assert isinstance(world.command("admin", {"ping": 1}, **ADMIN), MongoError)
    assert world.command("admin", {"ping": 1}, username="admin", password="fresh")["ok"] == 1.0


FIND, INSERT = {"find": "geo"}, {"insert": "geo", "documents": [{"a": 1}]}
MATRIX = {
    "read": (True, False, False, False, False),
    "readWrite": (True, True, False, False, True),
    "dbAdmin": (False, False, False, False, True),
    "userAdmin": (False, False, True, False, False),
    "dbOwner": (True, True, True, False, True),
    "readAnyDatabase": (True, False, False, False, False),
    "clusterMonitor": (False, False, False, True, False),
    "root": (True, True, True, True, True),
}


@pytest.mark.parametrize("role", MATRIX)
def test_each_role_allows_what_it_says(world: MongoWorld, role: str) -> None:
    world.command("admin", user("boss", "root"), **ADMIN)
    home = "admin" if role in ("readAnyDatabase", "clusterMonitor", "root") else "geo-db"
    given = user("ann", {"role": role, "db": home})
    world.command("admin", given, username="boss", password="boss")
    attempts = (
        ("geo-db", FIND),
        ("geo-db", INSERT),
        ("geo-db", user("new", {"role": "read", "db": "geo-db"})),
        ("admin", {"serverStatus": 1}),
        ("geo-db", {"createIndexes": "geo", "indexes": [{"key": {"a": 1}, "name": "a_1"}]}),
    )
    outcomes = tuple(
        not isinstance(world.command(db, body, username="ann", password="ann"), MongoError)
        for db, body in attempts
    )
    assert outcomes == MATRIX[role]


def test_a_role_that_does_not_exist_cannot_be_given(world: MongoWorld) -> None:
    error = world.command("geo-db", user("x", "readwrite"), **ADMIN)
    assert (error.code, error.message) == (31, "No role named readwrite@geo-db")


def test_own_roles_can_be_defined(world: MongoWorld) -> None:
    privileges = [{"resource": {"db": "geo-db", "collection": "geo"}, "actions": ["find"]}]
    role = {"createRole": "looker", "privileges": privileges, "roles": []}
    world.command("geo-db", role, **ADMIN)
    world.command("geo-db", user("ann", "looker"), **ADMIN)
    ann = {"username": "ann", "password": "ann", "source": "geo-db"}
    assert world.command("geo-db", FIND, **ann)["ok"] == 1.0
    assert world.command("geo-db", INSERT, **ann).code == 13


def test_users_survive_a_restart(world: MongoWorld) -> None:
    world.start()
    info = world.command("admin", {"usersInfo": "admin"}, **ADMIN)
    assert info["users"][0]["_id"] == "admin.admin"
    assert info["users"][0]["mechanisms"] == ["SCRAM-SHA-1", "SCRAM-SHA-256"]
    assert "credentials" not in info["users"][0]


def test_the_same_user_cannot_be_made_twice(world: MongoWorld) -> None:
    error = world.command("admin", user("admin", "root"), **ADMIN)
    assert (error.code, error.message) == (51003, 'User "admin@admin" already exists')
