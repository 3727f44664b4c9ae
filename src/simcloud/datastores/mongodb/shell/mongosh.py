"""``mongosh``: the newer shell, on Node.js."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell import natives
from simcloud.datastores.mongodb.shell.entries import read_entries
from simcloud.datastores.mongodb.shell.inspect import inspect
from simcloud.datastores.mongodb.shell.javascript import V8, Source, SyntaxFailure, Thrown, Value
from simcloud.datastores.mongodb.shell.javascript.builtins.errors import define_kind
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, JsError, JsObject
from simcloud.datastores.mongodb.shell.link import BrokenLink, Link, NoConnection, Refused, Unreachable
from simcloud.datastores.mongodb.shell.options import BadCommandLine, Options, parse_options
from simcloud.datastores.mongodb.shell.shell import Shell
from simcloud.datastores.mongodb.shell.tls_errors import SELF_SIGNED, UNKNOWN_ISSUER, Untrusted
from simcloud.machine.files import FileError
from simcloud.machine.network import ConnectTimedOut, NameNotFound, ResolverFailure
from simcloud.machine.process import Context

VERSION: Final = "2.12.0"
SELECTION_TIMEOUT_S: Final = 2.0
_DISTRUST: Final = {
    SELF_SIGNED: "self-signed certificate",
    UNKNOWN_ISSUER: "unable to verify the first certificate",
}
_ERRORS: Final = (
    ("MongoError", "Error"),
    ("MongoServerError", "MongoError"),
    ("MongoNetworkError", "MongoError"),
    ("MongoBulkWriteError", "MongoServerError"),
    ("MongoshInvalidInputError", "Error"),
)
"""The kinds of error that mongosh adds, and what they are below."""


class Mongosh(Shell):
    """The shell ``mongosh``."""

    messages = V8()
    libraries = ("cursor", "database", "collection", "mongosh")
    whole_numbers = True

    def __init__(self, ctx: Context, options: Options) -> None:
        super().__init__(ctx, options)
        natives.install(self)
        for kind, parent in _ERRORS:
            define_kind(self.engine, kind, parent)

    async def show(self, value: Value) -> None:
        if value is UNDEFINED or await self.own_printer(value):
            return
        await self.out(await self.flat(self.format_value(value)))

    async def format_value(self, value: Value) -> str:
        return value if type(value) is str else await inspect(self.engine, value)

    async def print_error(self, thrown: Thrown, *, batch: bool) -> None:
        shown = await self.describe(thrown.value)
        if batch:
            await self.ctx.err(f"{shown}\n")
        elif isinstance(thrown.value, JsError) and _of_server(thrown.value):
            await self.out(shown)
        else:
            await self.out(f"Uncaught {shown}")

    async def describe(self, value: Value) -> str:
        """Return a thrown value in a line."""
        if not isinstance(value, JsError):
            shown = await self.flat(inspect(self.engine, value))
            return f"Error: {value if type(value) is str else shown}"
        name, message, code = value.find("name"), value.find("message"), value.own("codeName")
        head = name if type(name) is str else "Error"
        head = f"{head}[{code}]" if type(code) is str else head
        if type(message) is not str:
            return f"{head}: {await self.flat(inspect(self.engine, message))}"
        return f"{head}: {message}" if message else head

    async def complain_of_syntax(self, failure: SyntaxFailure, source: Source, *, batch: bool) -> None:
        line, column = source.place(failure.at)
        lines = source.text.split("\n")
        width = len(str(line + 1))
        shown = [f"SyntaxError: {failure} ({line}:{column - 1})", ""]
        for number in range(max(1, line - 2), min(len(lines), line + 1) + 1):
            mark = ">" if number == line else " "
            shown.append(f"{mark} {number:>{width}} | {lines[number - 1]}")
            if number == line:
                shown.append(f"  {'':>{width}} | {' ' * (column - 1)}^")
        if batch:
            await self.ctx.err("\n".join(shown) + "\n")
        else:
            await self.out("Uncaught:\n" + "\n".join([*shown, f"  {line + 1:>{width}} |", ""]))

    def connection_error(self, error: Exception, link: Link) -> Thrown:
        made = self.engine.make_error("Error", connection_words(error, link))
        made.hide("name", "MongoNetworkError")
        return Thrown(made)

    def login_error(self, reply: bson.Document) -> Thrown:
        made = self.engine.make_error("Error", str(reply.get("errmsg", "Authentication failed.")))
        made.hide("name", "MongoServerError")
        made.hide("code", float(reply.get("code", 18)))
        made.hide("codeName", str(reply.get("codeName", "AuthenticationFailed")))
        return Thrown(made)

    def client(self) -> bson.Document:
        return {
            "application": {"name": f"mongosh {VERSION}"},
            "driver": {"name": "nodejs|mongosh", "version": f"7.2.0|{VERSION}"},
            "platform": "Node.js v20.20.2, LE",
            "os": {"name": "linux", "architecture": "x64", "version": "5.15.0", "type": "Linux"},
        }


def _of_server(value: JsObject) -> bool:
    return value.find("name") in (
        "MongoServerError",
        "MongoNetworkError",
        "MongoBulkWriteError",
        "MongoError",
    )


def connection_words(error: Exception, link: Link) -> str:
    """Format a connection error."""
    if isinstance(error, BrokenLink):
        return (
            f"connection <monitor> to {link.place} closed"
            if not link.hello
            else f"connection 1 to {link.place} closed"
        )
    if isinstance(error, Untrusted):
        names = ", ".join(error.names)
        wrong_name = f"Hostname/IP does not match certificate's altnames: Host: {link.address.host}. is not cert's CN: {names}"
        return _DISTRUST.get(error.reason, error.reason) or wrong_name
    assert isinstance(error, NoConnection)
    cause = error.cause
    if isinstance(cause, NameNotFound):
        return f"getaddrinfo ENOTFOUND {link.address.host}"
    if isinstance(cause, ResolverFailure):
        return f"getaddrinfo EAI_AGAIN {link.address.host}"
    if isinstance(cause, ConnectTimedOut):
        return f"Server selection timed out after {int(SELECTION_TIMEOUT_S * 1000)} ms"
    return f"connect {cause.code or 'ECONNRESET'} {link.place}"


async def mongosh(ctx: Context) -> int:
    """Run the shell."""
    try:
        options = parse_options(ctx.args[1:], "unrecognized option: {name}")
    except BadCommandLine as bad:
        await ctx.err(f"MongoshUnimplementedError: [COMMON-10001]   Error parsing command line: {bad}\n")
        return 1
    if options.has("version"):
        await ctx.out(f"{VERSION}\n")
        return 0
    shell = Mongosh(ctx, options)
    await shell.load_libraries()
    if not options.has("nodb") and not await _connect(shell):
        return 1
    return await _run(shell)


async def _connect(shell: Mongosh) -> bool:
    options, address = shell.options, shell.options.address
    greet = options.interactive and not options.has("quiet")
    if address.user and address.password is None:
        address.password = await shell.ask_password()
    if greet:
        login = "<credentials>@" if address.user else ""
        source = f"&authSource={address.auth_db}" if address.auth_db else ""
        settings = f"directConnection=true&serverSelectionTimeoutMS=2000{source}&appName=mongosh+{VERSION}"
        await shell.out(f"Current Mongosh Log ID:\t{shell.ids.new(shell.ctx.now)}")
        await shell.out(
            f"Connecting to:\t\tmongodb://{login}{address.host}:{address.port}/{address.db}?{settings}"
        )
    link = Link(shell.ctx, address, shell.client())
    try:
        await link.open(SELECTION_TIMEOUT_S)
        if address.user:
            source = address.auth_db or address.db or "admin"
            await link.login(source, address.user, address.password or "", options.mechanism)
        version = (await link.run("admin", {"buildInfo": 1})).get("version", "")
    except Unreachable as error:
        kept_trying = not isinstance(error, NoConnection) or isinstance(error.cause, ConnectTimedOut)
        name = "MongoServerSelectionError" if kept_trying else "MongoNetworkError"
        await shell.ctx.err(f"{name}: {connection_words(error, link)}\n")
        return False
    except Refused as refused:
        await shell.ctx.err(f"MongoServerError: {refused.reply.get('errmsg', 'Authentication failed.')}\n")
        return False
    shell.use(shell.mongo(link), address.db or "test")
    await shell.flat(shell.start_session(link))
    if greet:
        await shell.out(f"Using MongoDB:\t\t{version}\nUsing Mongosh:\t\t{VERSION}\n")
        await shell.out("For mongosh info see: https://www.mongodb.com/docs/mongodb-shell/\n")
    return True


async def _run(shell: Mongosh) -> int:
    last: Value = UNDEFINED
    for script in shell.options.evals:
        source = Source(script, "@(shell eval)")
        try:
            if not await shell.shell_command(script.strip().rstrip(";")):
                last = await shell.run_text(script, source.name)
        except SyntaxFailure as failure:
            await shell.complain_of_syntax(failure, source, batch=True)
            return 1
        except Thrown as thrown:
            await shell.print_error(thrown, batch=True)
            return 1
    if shell.options.evals and not await _show_value(shell, last):
        return 1
    for path in shell.options.files:
        if not shell.options.has("quiet"):
            await shell.out(f"Loading file: {path}")
        if not await _file(shell, path):
            return 1
    if shell.options.interactive:
        await _talk(shell)
    return 0


async def _show_value(shell: Mongosh, value: Value) -> bool:
    try:
        await shell.show(value)
    except Thrown as thrown:
        await shell.print_error(thrown, batch=True)
        return False
    return True


async def _file(shell: Mongosh, path: str) -> bool:
    try:
        content = await shell.read_file(path)
        await shell.run_text(content, path)
    except FileError as error:
        await shell.ctx.err(f"Error: {error.code}: {str(error).lower()}, open '{path}'\n")
        return False
    except SyntaxFailure as failure:
        await shell.complain_of_syntax(failure, Source(content, path), batch=True)
        return False
    except Thrown as thrown:
        await shell.print_error(thrown, batch=True)
        return False
    return True


async def _talk(shell: Mongosh) -> None:
    if not shell.options.has("quiet") and not shell.options.has("nodb"):
        try:
            await shell.helper("__warnings")
        except Thrown as thrown:
            await shell.print_error(thrown, batch=False)

    async def prompt() -> str:
        name = await shell.current_db()
        return f"{name}> " if name else "> "

    async for entry in read_entries(shell, prompt, "... ", prompts=True):
        if entry.strip().rstrip(";") in ("exit", "quit", "exit()", "quit()", ".exit"):
            return
        if entry.strip():
            await shell.step(entry)
