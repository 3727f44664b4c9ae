"""user-service: users and logins. Ids and logins that were read are cached."""

from __future__ import annotations

import json
from hashlib import sha256
from random import Random
from typing import Any, Final, NoReturn

from aiopslab.apps.socialnet.data.people import USERS, make_username
from aiopslab.apps.socialnet.messages import (
    HANDLER,
    MEMCACHED,
    MONGODB,
    UNAUTHORIZED,
    Creator,
    Login,
    Registration,
)
from aiopslab.apps.socialnet.services.service_call import ServiceCall
from aiopslab.apps.socialnet.services.startup import Startup, make_program
from aiopslab.apps.socialnet.tokens import sign
from simcloud.datastores.memcached import SERVER_ERROR, MemcachedFailure
from simcloud.datastores.mongodb import Document, Int64, MongoError
from simcloud.machine import HOUR_S, log_occasionally
from simcloud.services import SpanContext
from simcloud.services.languages import format_boost
from simcloud.services.rpc import Call
from simcloud.services.rpc.thrift import ServiceError

CPU_S: Final = 0.0001
SALT: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
SALT_LENGTH: Final = 32
NOT_CACHED: Final = "Failed to set the login info of user {} to Memcached:"
NO_ID: Final = " was not found in the User object"
LOGIN_FIELDS: Final = {"password": str, "salt": str, "user_id": int}


class User:
    """The handler of users."""

    def __init__(self, startup: Startup) -> None:
        self._startup = startup
        self._secret = startup.settings.get_text("secret")
        self._cache = startup.connect_cache("user-memcached")
        self.mongo = startup.connect_mongo("user-mongodb")
        startup.read_machine_id()
        self._graph = ServiceCall(
            startup.open_pool("social-graph-service", "social-graph"),
            "InsertUser",
            "",
            startup,
            "Failed to insert user to social-graph-client",
            startup.locate(223, "RegisterUserWithId"),
        )

    async def compose_creator(self, call: Call) -> Creator:
        """Return the author as given, without a check."""
        author: Creator = call.payload
        return author

    async def register(self, call: Call) -> None:
        """Register a new user."""
        new: Registration = call.payload
        startup, function = self._startup, "RegisterUserWithId"
        if await self._find_stored(new.username, None, startup.locate(153, function), "warning") is not None:
            startup.log.warning(f"User {new.username} already existed.", startup.locate(163, function))
            raise ServiceError(HANDLER, f"User {new.username} already existed")
        salt = "".join(startup.ctx.random("salts").choices(SALT, k=SALT_LENGTH))
        document = build_user_document(new, salt)
        span = startup.tracer.begin("user_mongo_insert_cilent", call.span)
        try:
            await self.mongo.run("user", {"insert": "user", "documents": [document], "ordered": True})
        except MongoError as error:
            message = f"Failed to insert user {new.username} to MongoDB: {error}"
            startup.log.error(message, startup.locate(188, function))
            raise ServiceError(HANDLER, message) from None
        finally:
            span.finish()
        await self._graph.call(new.user_id, call.span)

    async def login(self, call: Call) -> str:
        """Check a password and return a token; raises ``ServiceError``."""
        login: Login = call.payload
        known = await self._login(login.username, call.span)
        if (
            sha256((login.password + known["salt"]).encode("utf-8", "replace")).hexdigest()
            != known["password"]
        ):
            raise ServiceError(UNAUTHORIZED, "Incorrect username or password")
        now = str(int(self._startup.ctx.now))
        claims = {
            "user_id": str(int(known["user_id"])),
            "username": login.username,
            "timestamp": now,
            "ttl": "3600",
        }
        return sign(claims, self._secret)

    async def get_user_id(self, call: Call) -> int:
        """Return the id of a user name; raises ``ServiceError``."""
        name: str = call.payload
        startup, key = self._startup, f"{name}:user_id"
        span = startup.tracer.begin("user_mmc_get_user_id_client", call.span)
        try:
            cached = await self._cache.get(key)
        except MemcachedFailure as error:
            raise ServiceError(MEMCACHED, str(error)) from None
        finally:
            span.finish()
        if cached is not None and cached.isdigit() and len(cached) < 20:
            return int(cached)
        found = await self._find_stored(name, call.span, startup.locate(827, "GetUserId"))
        if found is None:
            self._refuse_unknown(name, HANDLER, 837, "GetUserId")
        if not isinstance(found.get("user_id"), int):
            startup.log.error(f"user_id attribute of user {name}{NO_ID}", startup.locate(853, "GetUserId"))
            raise ServiceError(HANDLER, f"user_id attribute of user: {name}{NO_ID}")
        id = int(found["user_id"])
        await self._fill_cache(key, str(id).encode(), name, call.span, 887, "GetUserId")
        return id

    async def _login(self, name: str, span: SpanContext) -> dict[str, Any]:
        startup, key = self._startup, f"{name}:login"
        found: dict[str, Any] | None = None
        get = startup.tracer.begin("user_mmc_get_client", span)
        try:
            cached = await self._cache.get(key)
            found = json.loads(cached) if cached is not None else None
        except MemcachedFailure as error:
            startup.log.warning(f"Memcached error: {error}", startup.locate(588, "Login"))
        except (ValueError, RecursionError):
            pass
        finally:
            get.finish()
        if isinstance(found, dict) and _is_complete(found):
            return found
        stored = await self._find_stored(name, span, startup.locate(644, "Login"))
        if stored is None:
            self._refuse_unknown(name, UNAUTHORIZED, 656, "Login")
        if not _is_complete(stored):
            message = f"user: {name} entry is NOT complete"
            startup.log.error(message, startup.locate(680, "Login"))
            raise ServiceError(HANDLER, message)
        login = {field: stored[field] for field in LOGIN_FIELDS}
        await self._fill_cache(
            key, json.dumps(login, separators=(",", ":")).encode(), name, span, 740, "Login"
        )
        return login

    async def _find_stored(
        self, name: str, parent: SpanContext | None, place: str, severity: str = "error"
    ) -> Document | None:
        span = self._startup.tracer.begin("user_mongo_find_client", parent) if parent else None
        try:
            reply = await self.mongo.run("user", {"find": "user", "filter": {"username": name}, "limit": 1})
        except MongoError as error:
            log = self._startup.log
            (log.error if severity == "error" else log.warning)(str(error), place)
            raise ServiceError(MONGODB, str(error)) from None
        finally:
            if span is not None:
                span.finish()
        found: list[Document] = reply["cursor"]["firstBatch"]
        return found[0] if found else None

    async def _fill_cache(
        self, key: str, value: bytes, name: str, parent: SpanContext, line: int, function: str
    ) -> None:
        span = self._startup.tracer.begin("user_mmc_set_client", parent)
        try:
            await self._cache.set(key, value)
        except MemcachedFailure as error:
            message = f"{NOT_CACHED.format(name)} {error}"
            self._startup.log.warning(message, self._startup.locate(line, function))
        finally:
            span.finish()

    def describe_slow_cache(self, time_s: float, random: Random) -> str:
        """Format the warning that a user's id was not cached, which harms nobody."""
        text = f"{NOT_CACHED.format(make_username(random.randrange(USERS)))} {SERVER_ERROR}"
        return format_boost(int(time_s * 1e6), "warning", text, self._startup.locate(887, "GetUserId"))

    def _refuse_unknown(self, name: str, code: str, line: int, function: str) -> NoReturn:
        message = f"User: {name} doesn't exist in MongoDB"
        self._startup.log.warning(message, self._startup.locate(line, function))
        raise ServiceError(code, f"User: {name} is not registered")


def _is_complete(login: dict[str, Any]) -> bool:
    return all(isinstance(login.get(field), kind) for field, kind in LOGIN_FIELDS.items())


def build_user_document(new: Registration, salt: str) -> Document:
    """Build a user's document for the database."""
    return {
        "user_id": Int64(new.user_id),
        "first_name": new.first_name,
        "last_name": new.last_name,
        "username": new.username,
        "salt": salt,
        "password": sha256((new.password + salt).encode("utf-8", "replace")).hexdigest(),
    }


async def main(startup: Startup) -> int:
    """Run the service, once the database has created the index."""
    handler = User(startup)
    await startup.ensure_index(handler.mongo, "user", "user_id")
    log_occasionally(startup.ctx, 10 * HOUR_S, handler.describe_slow_cache, "stderr")
    server = startup.create_server()
    server.method("ComposeCreatorWithUserId", handler.compose_creator, "compose_creator_server", CPU_S)
    server.method("RegisterUserWithId", handler.register, "register_user_withid_server", CPU_S)
    server.method("Login", handler.login, "login_server", CPU_S)
    server.method("GetUserId", handler.get_user_id, "get_user_id_server", CPU_S)
    return await startup.serve(server)


user_service = make_program("user-service", main)
