"""The driver in libmongoc's manner: it gives up soon, and says on what."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.driver import MongoError
from simcloud.datastores.mongodb.libmongoc import MongocPool
from simcloud.machine.process import Context
from tests.simcloud.datastores.mongodb.test_tls import ARGS, pem
from tests.simcloud.datastores.mongodb.world import MongoWorld

UNIQUE = {"createIndexes": "user", "indexes": [{"key": {"user_id": 1}, "name": "user_id_1", "unique": True}]}
EXPIRED = "No suitable servers found: `serverSelectionTimeoutMS` expired: "


def run(world: MongoWorld, *bodies: dict[str, Any], host: str = "store") -> Any:
    result: list[Any] = []

    async def program(ctx: Context) -> int:
        pool = MongocPool(ctx, f"{host}:27017")
        try:
            result.extend([await pool.run("user", body) for body in bodies])
        except MongoError as error:
            result.append(error)
        return 0

    process = world.client.start(["service"], program=program)
    world.kernel.run_task(world.kernel.spawn(process.wait(), "service"))
    return result[-1]


def test_it_works_with_a_server() -> None:
    user = {"insert": "user", "documents": [{"_id": 1, "user_id": 1}]}
    world = MongoWorld()
    assert run(world, UNIQUE, user)["n"] == 1
    assert run(world, {"insert": "user", "documents": [{"_id": 2, "user_id": 1}]}).code == 11000


def test_refused_connections_are_named() -> None:
    world = MongoWorld("--port", "27018")
    before = world.kernel.now
    assert run(world, UNIQUE).message == f"{EXPIRED}[connection refused calling ismaster on 'store:27017']"
    assert world.kernel.now - before < 0.5


def test_a_server_that_requires_tls_closes_the_connection() -> None:
    world = MongoWorld(*ARGS, "requireTLS", start=False)
    world.files["/etc/tls/tls.pem"] = pem(30)
    world.start()
    assert run(world, UNIQUE).message == f"{EXPIRED}[connection closed calling ismaster on 'store:27017']"


def test_a_name_nobody_knows() -> None:
    assert run(MongoWorld(), UNIQUE, host="nowhere").message == f"{EXPIRED}[Failed to resolve 'nowhere']"
