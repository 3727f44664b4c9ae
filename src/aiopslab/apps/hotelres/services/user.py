"""user: whether a password is right. All users are read at the start; afterwards no database is asked."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import text
from aiopslab.apps.hotelres.messages import Login
from aiopslab.apps.hotelres.services.startup import Seed, Startup, program
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.services.rpc import Call

CPU_S: Final = 0.0003


async def _main(startup: Startup) -> None:
    seeds = [Seed("user", "username", data.users())]
    mongo = await startup.database("UserMongoAddress", "user-db", seeds)
    await startup.tracing("UserPort")
    known = await _load(startup, mongo)

    async def check(call: Call) -> bool:
        login: Login = call.payload
        return known.get(login.username) == data.hashed(login.password)

    server = startup.server()
    server.method("/user.User/CheckUser", check, CPU_S)
    await startup.serve(server)


async def _load(startup: Startup, mongo: MongoClient) -> dict[str, str]:
    try:
        found = await mongo.collection("user-db", "user").find({}).all()
    except MongoError as error:
        told = f"Failed get users data: %!(EXTRA *errors.errorString={error})"
        startup.log.error(told, "services/user/server.go:148")
        return {}
    return {text(one, "username"): text(one, "password") for one in found}


user = program("user", _main)
