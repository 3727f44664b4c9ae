"""Native functions of the shells: printing, commands, files, time."""

from __future__ import annotations

from simcloud.datastores.mongodb.shell.documents import to_document, to_script
from simcloud.datastores.mongodb.shell.handles import Handle, collection_handle, database_handle
from simcloud.datastores.mongodb.shell.inspect import inspect
from simcloud.datastores.mongodb.shell.javascript import Source, SyntaxFailure
from simcloud.datastores.mongodb.shell.javascript.builtins.natives import (
    Natives,
    argument,
    native,
    number_argument,
    text_argument,
)
from simcloud.datastores.mongodb.shell.javascript.engine import Engine, WaitingNative
from simcloud.datastores.mongodb.shell.javascript.executor import run_inner
from simcloud.datastores.mongodb.shell.javascript.numbers import to_uint32
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Boxed, Value, truthy
from simcloud.datastores.mongodb.shell.link import Link, Refused, Unreachable
from simcloud.datastores.mongodb.shell.options import BadCommandLine, parse_address
from simcloud.datastores.mongodb.shell.shell import Shell
from simcloud.datastores.mongodb.shell.tojson import tojson
from simcloud.machine.files import FileError

MAX_SLEEP_S = 86_400.0


def install(shell: Shell) -> None:
    """Give a shell's scripts these functions."""
    functions: dict[str, WaitingNative] = {}
    for make in (_printing, _commands, _files, _machine):
        functions.update(make(shell))
    for name, function in functions.items():
        shell.engine.define(name, native(shell.engine, name, function))
    opening = functions["__open"]
    for name, run in (("Mongo", opening), ("DB", _refuse), ("DBCollection", _refuse)):
        Natives(name).install(shell.engine, run, run)


def _refuse(engine: Engine, this: Value, args: list[Value]) -> Value:
    raise engine.type_error("use db.getSiblingDB() and db.getCollection()")


def _link(engine: Engine, value: Value) -> Link:
    if type(value) is Boxed and isinstance(value.value, Link):
        return value.value
    raise engine.type_error("not a connection")


def _printing(shell: Shell) -> dict[str, WaitingNative]:
    async def print_(engine: Engine, this: Value, args: list[Value]) -> Value:
        await shell.out(" ".join([await shell.format_value(arg) for arg in args]))
        return UNDEFINED

    async def tojson_(engine: Engine, this: Value, args: list[Value]) -> Value:
        nolint = argument(args, 2)
        indent = await text_argument(engine, args, 1, "")
        one_line = None if nolint is UNDEFINED or nolint is None else truthy(nolint)
        return await tojson(engine, argument(args, 0), one_line=one_line, indent=indent)

    async def tojson_one_line(engine: Engine, this: Value, args: list[Value]) -> Value:
        return await tojson(engine, argument(args, 0), one_line=True)

    async def inspect_(engine: Engine, this: Value, args: list[Value]) -> Value:
        return await inspect(engine, argument(args, 0), compact=argument(args, 1) is not False)

    async def hide(engine: Engine, this: Value, args: list[Value]) -> Value:
        for name in args[0].names():
            args[0].hidden[name] = None
        return UNDEFINED

    return {
        "print": print_,
        "tojson": tojson_,
        "tojsononeline": tojson_one_line,
        "__inspect": inspect_,
        "__hide": hide,
    }


def _commands(shell: Shell) -> dict[str, WaitingNative]:
    async def command(engine: Engine, this: Value, args: list[Value]) -> Value:
        link = _link(engine, argument(args, 0))
        body = to_document(engine, argument(args, 2), whole=shell.whole_numbers)
        try:
            reply = await link.run(await text_argument(engine, args, 1), body)
        except Unreachable as error:
            raise shell.connection_error(error, link) from None
        except Refused as refused:
            raise shell.login_error(refused.reply) from None
        shell.ctx.spend_bytes(200)
        return to_script(engine, reply)

    async def login(engine: Engine, this: Value, args: list[Value]) -> Value:
        link = _link(engine, argument(args, 0))
        db, user, password = [await text_argument(engine, args, index) for index in (1, 2, 3)]
        try:
            await link.login(db, user, password, await text_argument(engine, args, 4, ""))
        except Unreachable as error:
            raise shell.connection_error(error, link) from None
        except Refused as refused:
            raise shell.login_error(refused.reply) from None
        return UNDEFINED

    async def logout(engine: Engine, this: Value, args: list[Value]) -> Value:
        _link(engine, argument(args, 0)).logout(await text_argument(engine, args, 1))
        return UNDEFINED

    async def open_(engine: Engine, this: Value, args: list[Value]) -> Value:
        try:
            address = parse_address(await text_argument(engine, args, 0, "127.0.0.1:27017"))
        except BadCommandLine as bad:
            raise engine.error("Error", str(bad)) from None
        link = Link(shell.ctx, address, shell.client())
        try:
            await link.open()
            if address.user and address.password is not None:
                source = address.auth_db or address.db or "admin"
                await link.login(source, address.user, address.password)
        except Unreachable as error:
            raise shell.connection_error(error, link) from None
        except Refused as refused:
            raise shell.login_error(refused.reply) from None
        made = shell.mongo(link)
        made.hide("defaultDB", address.db or "test")
        return made

    async def database(engine: Engine, this: Value, args: list[Value]) -> Value:
        return database_handle(engine, argument(args, 0), await text_argument(engine, args, 1))

    async def collection(engine: Engine, this: Value, args: list[Value]) -> Value:
        db = argument(args, 0)
        if not isinstance(db, Handle):
            raise engine.type_error("not a database")
        return collection_handle(engine, db, await text_argument(engine, args, 1))

    return {
        "__command": command,
        "__login": login,
        "__logout": logout,
        "__open": open_,
        "__database": database,
        "__collection": collection,
    }


def _files(shell: Shell) -> dict[str, WaitingNative]:
    async def load(engine: Engine, this: Value, args: list[Value]) -> Value:
        path = await text_argument(engine, args, 0)
        text = await _read(shell, engine, path)
        try:
            await run_inner(engine, shell.read(Source(text, path)))
        except SyntaxFailure as failure:
            raise engine.error("SyntaxError", str(failure)) from None
        return True

    async def cat(engine: Engine, this: Value, args: list[Value]) -> Value:
        return engine.charge_text(await _read(shell, engine, await text_argument(engine, args, 0)))

    async def pwd(engine: Engine, this: Value, args: list[Value]) -> Value:
        return shell.ctx.files.cwd

    return {"load": load, "cat": cat, "pwd": pwd}


async def _read(shell: Shell, engine: Engine, path: str) -> str:
    try:
        return await shell.read_file(path)
    except FileError as error:
        if engine.messages.is_v8:
            words = error.code.lower() if error.code != "ENOENT" else "no such file or directory"
            raise engine.error("Error", f"{error.code}: {words}, open '{path}'") from None
        raise engine.error("Error", f"error loading js file: {path}") from None


def _machine(shell: Shell) -> dict[str, WaitingNative]:
    async def sleep(engine: Engine, this: Value, args: list[Value]) -> Value:
        milliseconds = await number_argument(engine, args, 0, 0.0)
        await shell.ctx.sleep(
            min(max(0.0, milliseconds / 1000), MAX_SLEEP_S) if milliseconds == milliseconds else 0.0
        )
        return UNDEFINED if engine.messages.is_v8 else None

    async def quit_(engine: Engine, this: Value, args: list[Value]) -> Value:
        status = await number_argument(engine, args, 0, 0.0)
        shell.ctx.exit(to_uint32(status) & 0xFF)

    async def hostname(engine: Engine, this: Value, args: list[Value]) -> Value:
        return shell.ctx.container.hostname

    async def prompt_password(engine: Engine, this: Value, args: list[Value]) -> Value:
        return await shell.ask_password()

    return {
        "sleep": sleep,
        "quit": quit_,
        "exit": quit_,
        "hostname": hostname,
        "getHostName": hostname,
        "passwordPrompt": prompt_password,
    }
