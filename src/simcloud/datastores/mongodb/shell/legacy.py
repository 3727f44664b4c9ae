"""``mongo``: the shell that comes with MongoDB 4.4."""

from __future__ import annotations

import json
from typing import Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell import natives
from simcloud.datastores.mongodb.shell.entries import read_entries
from simcloud.datastores.mongodb.shell.javascript import Source, SpiderMonkey, SyntaxFailure, Thrown, Value
from simcloud.datastores.mongodb.shell.javascript.conversions import text
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsError, JsObject
from simcloud.datastores.mongodb.shell.link import BrokenLink, Link, NoConnection, Refused, Unreachable
from simcloud.datastores.mongodb.shell.options import Address, BadCommandLine, Options, parse_options
from simcloud.datastores.mongodb.shell.shell import Shell
from simcloud.datastores.mongodb.shell.tls_errors import NONE_SHOWN, Untrusted
from simcloud.datastores.mongodb.shell.tojson import tojson
from simcloud.datastores.mongodb.version import BUILD_INFO
from simcloud.machine.files import FileError
from simcloud.machine.network import ConnectTimedOut, NameNotFound, ResolverFailure
from simcloud.machine.process import Context

VERSION: Final = "4.4.6"
CONNECT_FAILED: Final = 1
FILE_ERROR: Final = 253
EVAL_ERROR: Final = 252
_FILES: Final = {
    "DB": "db", "DBCollection": "collection", "DBQuery": "query", "DBCommandCursor": "query", "Mongo": "mongo",
    "__Cursor": "query",
}  # fmt: skip
"""The files of the genuine shell, by class."""

_FRAMES: Final[dict[str, tuple[str, ...]]] = {
    "_getErrorWithCode": ("_getErrorWithCode@utils.js:25:13",),
    "__Cursor.prototype._start": ("DBCommandCursor@query.js:717:19", "DBQuery.prototype._exec@query.js:113:28"),
    "__Cursor.prototype.hasNext": ("DBQuery.prototype.hasNext@query.js:288:5",),
    "__Cursor.prototype.next": ("DBQuery.prototype.next@query.js:302:10",),
    "__Cursor.prototype.toArray": ("DBQuery.prototype.toArray@query.js:358:16",),
    "DBQuery.prototype.count": ("DBQuery.prototype.count@query.js:376:11",),
    "DB.prototype.createUser": ("DB.prototype.createUser@db.js:1386:11",),
    "DB.prototype.getProfilingStatus": ("DB.prototype.getProfilingStatus@db.js:1185:15",),
    "DB.prototype.grantRolesToUser": ("DB.prototype.grantRolesToUser@db.js:1629:15",),
    "DB.prototype.revokeRolesFromUser": ("DB.prototype.revokeRolesFromUser@db.js:1643:15",),
    "DB.prototype.getUsers": ("DB.prototype.getUsers@db.js:1687:15",),
    "DB.prototype.getCollectionInfos": ("DB.prototype._getCollectionInfosCommand@db.js:1113:15", "DB.prototype.getCollectionInfos@db.js:1154:20"),
    "DBCollection.prototype.findOne": ("DBCollection.prototype.findOne@collection.js:255:10",),
    "DBCollection.prototype.count": ("DBQuery.prototype.count@query.js:376:11", "DBCollection.prototype.count@collection.js:1401:12"),
    "DBCollection.prototype.aggregate": (
        "doassert@assert.js:20:14", "_assertCommandWorked@assert.js:680:17", "assert.commandWorked@assert.js:780:16",
        "DB.prototype._runAggregate@db.js:281:5", "DBCollection.prototype.aggregate@collection.js:1058:12",
    ),
}  # fmt: skip
"""How functions of the genuine shell stand in its stack traces, by the function here that has their place."""

_CONNECT_STACK: Final = "connect@src/mongo/shell/mongo.js:374:17\n@(connect):2:6"


class LegacyShell(Shell):
    """The shell ``mongo``."""

    messages = SpiderMonkey()
    libraries = ("cursor", "database", "collection", "legacy", "legacy_admin")

    def __init__(self, ctx: Context, options: Options) -> None:
        super().__init__(ctx, options)
        natives.install(self)
        self.engine.describe_internal = _describe_frame

    async def show(self, value: Value) -> None:
        if value is UNDEFINED or await self.own_printer(value):
            return
        await self.out(value if type(value) is str else await self.flat(tojson(self.engine, value)))

    async def format_value(self, value: Value) -> str:
        return await text(self.engine, value)

    async def print_error(self, thrown: Thrown, *, batch: bool) -> None:
        value = thrown.value
        shown = await self.describe(value)
        stack = value.own("stack") if isinstance(value, JsError) else UNDEFINED
        if isinstance(stack, str) and stack:
            await self.out(f"uncaught exception: {shown} :\n{stack.rstrip()}")
        else:
            await self.out(f"uncaught exception: {shown}")

    async def describe(self, value: Value) -> str:
        """Return a thrown value in a line."""
        try:
            if (
                isinstance(value, JsObject)
                and not isinstance(value, JsError)
                and value.class_name == "Object"
            ):
                return await self.flat(tojson(self.engine, value))
            return await self.flat(text(self.engine, value))
        except Thrown:
            return "unknown error"

    async def complain_of_syntax(self, failure: SyntaxFailure, source: Source, *, batch: bool) -> None:
        line, column = source.place(failure.at)
        await self.out(f"uncaught exception: SyntaxError: {failure} :\n@{source.name}:{line}:{column}")

    def connection_error(self, error: Exception, link: Link) -> Thrown:
        return self.engine.error("Error", connection_words(error, link))

    def login_error(self, reply: bson.Document) -> Thrown:
        return self.engine.error("Error", str(reply.get("errmsg", "Authentication failed.")))

    def client(self) -> bson.Document:
        return {
            "application": {"name": "MongoDB Shell"},
            "driver": {"name": "MongoDB Internal Client", "version": VERSION},
            "os": {"type": "Linux", "name": "Ubuntu", "architecture": "x86_64", "version": "18.04"},
        }


def _describe_frame(name: str, source: str, line: int, column: int) -> str:
    """Return the lines of the genuine shell for a function of ours; none for a helper that only we have."""
    frames = _FRAMES.get(name)
    if frames is None:
        owner, _, function = name.partition(".prototype.")
        if name.startswith("_") or function.startswith("_"):
            return ""
        frames = (f"{name}@{_FILES.get(owner, 'utils')}.js:{line}:{column}",)
    return "".join(
        f"{function}@src/mongo/shell/{place}\n" for function, _, place in (f.partition("@") for f in frames)
    )


def connection_words(error: Exception, link: Link) -> str:
    """Format a connection error."""
    if isinstance(error, BrokenLink):
        return f"network error while attempting to run command '{error.command}' on host '{link.place}' "
    if isinstance(error, Untrusted):
        return f"couldn't connect to server {link.place}, connection attempt failed: SSLHandshakeFailed: {_distrust(error, link)}"
    assert isinstance(error, NoConnection)
    cause = error.cause
    if isinstance(cause, NameNotFound):
        why = f"HostNotFound: Could not find address for {link.place}: SocketException: Host not found (authoritative)"
    elif isinstance(cause, ResolverFailure):
        why = (
            f"HostNotFound: Could not find address for {link.place}: SocketException: "
            "Host not found (non-authoritative), try again later"
        )
    elif isinstance(cause, ConnectTimedOut):
        why = f"NetworkTimeout: Error connecting to {link.place} :: caused by :: Socket operation timed out"
    else:
        why = f"SocketException: Error connecting to {link.place} :: caused by :: {cause}"
    return f"couldn't connect to server {link.place}, connection attempt failed: {why}"


def _distrust(error: Untrusted, link: Link) -> str:
    if error.reason == NONE_SHOWN:
        return NONE_SHOWN
    if error.reason:
        return f"SSL peer certificate validation failed: {error.reason}"
    names = ", ".join(error.names)
    return f"The server certificate does not match the host name. Hostname: {link.address.host} does not match CN: {names}"


def format_address(address: Address, options: Options) -> str:
    """Return the address in the greeting, without secrets."""
    settings = ["compressors=disabled", "gssapiServiceName=mongodb"]
    if address.auth_db:
        settings.insert(0, f"authSource={address.auth_db}")
    if options.mechanism:
        settings.insert(0, f"authMechanism={options.mechanism}")
    return f"mongodb://{address.host}:{address.port}/{address.db}?{'&'.join(settings)}"


async def mongo(ctx: Context) -> int:
    """Run the shell."""
    try:
        options = parse_options(ctx.args[1:], "unrecognised option '{name}'")
    except BadCommandLine as bad:
        await ctx.err(f"Error parsing command line: {bad}\ntry 'mongo --help' for more information\n")
        return 1
    if options.has("version"):
        await ctx.out(f"MongoDB shell version v{VERSION}\nBuild Info: {json.dumps(BUILD_INFO, indent=4)}\n")
        return 0
    if options.has("help"):
        await ctx.out(_USAGE)
        return 0
    shell = LegacyShell(ctx, options)
    quiet = options.has("quiet")
    if not quiet:
        await shell.out(f"MongoDB shell version v{VERSION}")
    await shell.load_libraries()
    if not options.has("nodb") and not await _connect(shell, quiet):
        return CONNECT_FAILED
    return await _run(shell, quiet)


async def _connect(shell: LegacyShell, quiet: bool) -> bool:
    options, address = shell.options, shell.options.address
    if address.user and address.password is None:
        address.password = await shell.ask_password()
    if not quiet:
        await shell.out(f"connecting to: {format_address(address, options)}")
    link = Link(shell.ctx, address, shell.client())
    problem = ""
    try:
        await link.open()
        if address.user:
            source = address.auth_db or address.db or "admin"
            await link.login(source, address.user, address.password or "", options.mechanism)
    except Unreachable as error:
        problem = connection_words(error, link)
    except Refused as refused:
        problem = str(refused.reply.get("errmsg", "Authentication failed."))
    if problem:
        await shell.out(f"Error: {problem} :\n{_CONNECT_STACK}")
        await shell.out("exception: connect failed\nexiting with code 1")
        return False
    shell.use(shell.mongo(link), address.db or "test")
    if not quiet:
        session = await shell.flat(shell.start_session(link))
        await shell.out(f'Implicit session: session {{ "id" : {session} }}')
        try:
            found = (await link.run("admin", {"buildInfo": 1})).get("version", VERSION)
        except (*Unreachable, Refused):
            found = VERSION
        await shell.out(f"MongoDB server version: {found}")
    else:
        await shell.flat(shell.start_session(link))
    return True


async def _run(shell: LegacyShell, quiet: bool) -> int:
    for script in shell.options.evals:
        if not await _batch(shell, script, "(shell eval)", show=True):
            await shell.out("exiting with code -4")
            return EVAL_ERROR
    for path in shell.options.files:
        if len(shell.options.files) > 1:
            await shell.out(f"loading file: {path}")
        if not await _file(shell, path):
            await shell.out(f"failed to load: {path}\nexiting with code -3")
            return FILE_ERROR
    if not shell.options.interactive:
        return 0
    terminal = shell.ctx.stdin.isatty
    if terminal and not quiet and not shell.options.has("nodb"):
        await shell.step("show startupWarnings")
    went_well = True
    async for entry in read_entries(shell, "> ", "... ", prompts=terminal):
        if entry.strip() in ("exit", "exit;", "quit", "quit;"):
            break
        if entry.strip():
            went_well = await shell.step(entry)
    if not quiet:
        await shell.out("bye")
    return 0 if went_well or terminal else 1


async def _file(shell: LegacyShell, path: str) -> bool:
    try:
        content = await shell.read_file(path)
    except FileError:
        await shell.out(f"Error: file [{path}] doesn't exist")
        return False
    return await _batch(shell, content, path, show=False)


async def _batch(shell: LegacyShell, script: str, name: str, *, show: bool) -> bool:
    try:
        value = await shell.run_text(script, name)
        if show:
            await shell.show(value)
    except SyntaxFailure as failure:
        await shell.complain_of_syntax(failure, Source(script, name), batch=True)
        return False
    except Thrown as thrown:
        await shell.print_error(thrown, batch=True)
        return False
    return True


_USAGE: Final = """MongoDB shell version v4.4.6
usage: mongo [options] [db address] [file names (ending in .js)]
db address can be:
  foo                   foo database on local machine
  192.168.0.5/foo       foo database on 192.168.0.5 machine
  192.168.0.5:9999/foo  foo database on 192.168.0.5 machine on port 9999
  mongodb://192.168.0.5:9999/foo  connection string URI can also be used
Options:
  --ipv6                               enable IPv6 support (disabled by
                                       default)
  --host arg                           server to connect to
  --port arg                           port to connect to
  -h [ --help ]                        show this usage information
  --version                            show version information
  --verbose                            increase verbosity
  --shell                              run the shell after executing files
  --nodb                               don't connect to mongod on startup - no
                                       'db address' arg expected
  --norc                               will not run the ".mongorc.js" file on
                                       start up
  --quiet                              be less chatty
  --eval arg                           evaluate javascript

Authentication Options:
  -u [ --username ] arg                username for authentication
  -p [ --password ] arg                password for authentication
  --authenticationDatabase arg         user source (defaults to dbname)
  --authenticationMechanism arg        authentication mechanism

TLS Options:
  --tls                                use TLS for all connections
  --tlsCertificateKeyFile arg          PEM certificate/key file for TLS
  --tlsCAFile arg                      Certificate Authority file for TLS
  --tlsAllowInvalidHostnames           allow connections to servers with
                                       non-matching hostnames
  --tlsAllowInvalidCertificates        allow connections to servers with
                                       invalid certificates

file names: a list of files to run. files have to end in .js and will exit after unless --shell is specified
"""
