"""The database tools of the image: ``mongostat``, ``mongotop`` and ``mongodump``."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

from simcloud.datastores.mongodb.bson import Binary, Document, new_uuid
from simcloud.datastores.mongodb.driver import MongoClient, MongoError
from simcloud.datastores.mongodb.encoding import encode
from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Program
from simcloud.userland.commands import Options, UsageError, parse

VERSION: Final = "100.3.1"
GIT_VERSION: Final = "4d25a5b9a7ef6ed7b2a2fd4c9d2b0d5fdc6f8c33"
OPTIONS: Final = "h:u:p:n:o:d:c:q:f:v"
LONG_OPTIONS: Final = (
    "host=", "port=", "username=", "password=", "authenticationDatabase=", "rowcount=", "out=", "db=", "collection=",
    "help", "version", "quiet", "noheaders",
)  # fmt: skip
PORT: Final = 27017
STAT_COLUMNS: Final = (
    "insert", "query", "update", "delete", "getmore", "command", "dirty", "used", "flushes", "vsize", "res", "qrw", "arw", "net_in",
    "net_out", "conn", "time",
)  # fmt: skip
HEADER_EVERY: Final = 10
MAX_DOCUMENTS: Final = 1_000_000
Tool = Callable[[Context, Options, MongoClient], Awaitable[int]]


class SessionClient(MongoClient):
    """A client like the tools' driver, which sends every command in a session."""

    def __init__(
        self, ctx: Context, address: str, user: str | None, password: str | None, source: str
    ) -> None:
        super().__init__(ctx, address, user, password, source=source)
        self._session = {"id": Binary(new_uuid(ctx.random("mongo tools session")), 4)}

    async def run(self, db: str, body: Document) -> Document:
        """Run any command in the session."""
        return await super().run(db, {**body, "lsid": self._session})


def make_tool(name: str, run: Tool) -> Program:
    """Return a program that parses the common options, connects and runs."""

    async def program(ctx: Context) -> int:
        try:
            options = parse(ctx.args, OPTIONS, LONG_OPTIONS)
        except UsageError as mistake:
            text = str(mistake).partition("\n")[0].partition(": ")[2]
            await _report(ctx, f"error parsing command line options: {text}")
            return 1
        if options.any("version"):
            await ctx.out(f"{name} version: {VERSION}\ngit version: {GIT_VERSION}\nGo version: go1.15.8\n")
            return 0
        host, _, port = options.last("h", "host", default="localhost").partition(":")
        address = f"{host}:{port or options.last('port', default=str(PORT))}"
        user, password = options.last("u", "username") or None, options.last("p", "password") or None
        source = options.last("authenticationDatabase") or options.last("d", "db") or "admin"
        # The driver of the tools checks the server over two more connections.
        client, *_ = clients = [SessionClient(ctx, address, user, password, source) for _ in range(3)]
        try:
            for each in clients:
                await each.connect()
            return await run(ctx, options, client)
        except MongoError as error:
            await _report(ctx, f"Failed: {_describe(error, address)}")
            return 1
        except FileError as error:
            await _report(ctx, f"Failed: error creating directory for dump file: {error}")
            return 1
        finally:
            for each in clients:
                each.close()

    return program


def _describe(error: MongoError, address: str) -> str:
    failed = "error connecting to host: could not connect to server: "
    if str(error) == "no reachable servers":
        topology = f"{{ Type: Single, Servers: [{{ Addr: {address}, Type: Unknown }}, ] }}"
        return f"{failed}server selection error: server selection timeout, current topology: {topology}"
    if error.code == 18:
        during = (
            "connection() error occurred during connection handshake: auth error: sasl conversation error"
        )
        reason = "(AuthenticationFailed) Authentication failed."
        return f'{failed}{during}: unable to authenticate using mechanism "SCRAM-SHA-1": {reason}'
    return f"({'Unauthorized' if error.code == 13 else 'Error'}) {error}"


def _stamp(ctx: Context) -> str:
    return datetime.fromtimestamp(ctx.now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "+0000"


async def _report(ctx: Context, text: str) -> None:
    await ctx.err(f"{_stamp(ctx)}\t{text}\n")


def _parse_number(text: str, missing: float) -> float:
    try:
        return float(text)
    except ValueError:
        return missing


async def _stat(ctx: Context, options: Options, client: MongoClient) -> int:
    rows = int(_parse_number(options.last("n", "rowcount"), 0))
    interval_s = max(1.0, _parse_number(next(iter(options.operands), ""), 1.0))
    before = await client.run("admin", {"serverStatus": 1, "recordStats": 0})
    count = 0
    while not rows or count < rows:
        await ctx.sleep(interval_s)
        now = await client.run("admin", {"serverStatus": 1, "recordStats": 0})
        values = _format_status(before, now, interval_s, ctx.now)
        widths = [max(len(name), len(value)) for name, value in zip(STAT_COLUMNS, values, strict=True)]
        if count % HEADER_EVERY == 0 and not options.any("noheaders"):
            await ctx.out(_format_row(STAT_COLUMNS, widths))
        await ctx.out(_format_row(values, widths))
        before = now
        count += 1
    return 0


def _format_row(values: tuple[str, ...], widths: list[int]) -> str:
    return " ".join(value.rjust(width) for value, width in zip(values, widths, strict=True)) + "\n"


def _format_status(before: Document, now: Document, interval_s: float, time_s: float) -> tuple[str, ...]:
    def rate(section: str, name: str) -> int:
        return int((now[section][name] - before[section][name]) / interval_s + 0.5)

    def operations(name: str) -> str:
        count = rate("opcounters", name)
        return str(count) if count or name == "getmore" else "*0"

    cache = now["wiredTiger"]["cache"]
    whole = cache["maximum bytes configured"]
    checkpoints = [status["wiredTiger"]["transaction"]["transaction checkpoints"] for status in (before, now)]
    moment = datetime.fromtimestamp(time_s, UTC)
    return (
        *(operations(name) for name in ("insert", "query", "update", "delete", "getmore")),
        f"{rate('opcounters', 'command')}|0",
        f"{cache['tracked dirty bytes in the cache'] / whole:.1%}",
        f"{cache['bytes currently in the cache'] / whole:.1%}",
        str(checkpoints[1] - checkpoints[0]),
        f"{now['mem']['virtual'] / 1024:.2f}G",
        f"{now['mem']['resident']:.1f}M",
        "0|0",
        "1|0",
        _format_bytes(rate("network", "bytesIn")),
        _format_bytes(rate("network", "bytesOut")),
        str(now["connections"]["current"]),
        f"{moment:%b} {moment.day:>2} {moment:%H:%M:%S}.{moment.microsecond // 1000:03d}",
    )


def _format_bytes(count: int) -> str:
    return (
        f"{count}b"
        if count < 1000
        else f"{count / 1000:.1f}k"
        if count < 1_000_000
        else f"{count / 1e6:.1f}m"
    )


async def _top(ctx: Context, options: Options, client: MongoClient) -> int:
    rows = int(_parse_number(options.last("n", "rowcount"), 0))
    interval_s = max(1.0, _parse_number(next(iter(options.operands), ""), 1.0))
    await _report(ctx, "connected to: mongodb://localhost/")
    count = 0
    while not rows or count < rows:
        await ctx.sleep(interval_s)
        totals: Document = (await client.run("admin", {"top": 1}))["totals"]
        names = sorted(name for name in totals if name != "note")
        width = max(map(len, names), default=2)
        stamp = datetime.fromtimestamp(int(ctx.now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines = [f"{'ns':>{width}}    total    read    write    {stamp}"]
        lines += [f"{name:>{width}}      0ms     0ms      0ms                        " for name in names]
        await ctx.out("".join(f"{line}\n" for line in ["", *lines]))
        count += 1
    return 0


async def _dump(ctx: Context, options: Options, client: MongoClient) -> int:
    out = options.last("o", "out", default="dump")
    wanted = options.last("d", "db")
    reply = await client.run("admin", {"listDatabases": 1, "nameOnly": True})
    databases = (
        [wanted]
        if wanted
        else [each["name"] for each in reply["databases"] if each["name"] not in ("local", "config")]
    )
    for db in databases:
        collections = (await client.run(db, {"listCollections": 1}))["cursor"]["firstBatch"]
        for name in sorted(each["name"] for each in collections):
            if options.last("c", "collection") not in ("", name) or name == "system.profile":
                continue
            path = f"{out}/{db}/{name}"
            ctx.files.mkdir(f"{out}/{db}", parents=True)
            await _report(ctx, f"writing {db}.{name} to {path}.bson")
            reply = await client.run(db, {"find": name, "filter": {}, "batchSize": MAX_DOCUMENTS})
            documents = reply["cursor"]["firstBatch"]
            ctx.files.write(f"{path}.bson", b"".join(map(encode, documents)))
            ctx.files.write(
                f"{path}.metadata.json", json.dumps({"indexes": [], "type": "collection"}).encode()
            )
            ending = "" if len(documents) == 1 else "s"
            await _report(ctx, f"done dumping {db}.{name} ({len(documents)} document{ending})")
    return 0


TOOLS: Final[dict[str, Program]] = {
    name: make_tool(name, run)
    for name, run in (("mongostat", _stat), ("mongotop", _top), ("mongodump", _dump))
}
