"""user: checks passwords. All users are read at startup; the database is not used afterwards."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.hotelres import data
from aiopslab.apps.hotelres.fields import get_text
from aiopslab.apps.hotelres.messages import Login
from aiopslab.apps.hotelres.services.startup import Startup, make_program
from simcloud.datastores.mongodb import MongoClient, MongoError
from simcloud.services.rpc import Call

CPU_S: Final = 0.0003


async def _main(startup: Startup) -> None:
    mongo = await startup.connect_database("UserMongoAddress")
    await startup.connect_tracing("UserPort")
    passwords = await _load(startup, mongo)

    async def check(call: Call) -> bool:
        login: Login = call.payload
        return passwords.get(login.username) == data.hash_password(login.password)

    server = startup.create_server()
    server.method("/user.User/CheckUser", check, CPU_S)
    await startup.serve(server)


async def _load(startup: Startup, mongo: MongoClient) -> dict[str, str]:
    try:
        found = await mongo.collection(startup.database, "user").find({}).all()
    except MongoError as error:
        message = f"Failed get users data: %!(EXTRA *errors.errorString={error})"
        startup.log.error(message, "services/user/server.go:156")
        return {}
    return {get_text(document, "username"): get_text(document, "password") for document in found}


user = make_program("user", _main)
