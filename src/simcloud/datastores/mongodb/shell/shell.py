"""The common base of the two shells: a JavaScript engine with the database objects, and the read loop.

A shell belongs to one process. Messages and formatting differ and are in ``legacy.py`` and ``mongosh.py``; the
methods of databases and collections are written in JavaScript, in ``library/``.
"""

from __future__ import annotations

from collections.abc import Coroutine
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from simcloud.datastores.mongodb import bson
from simcloud.datastores.mongodb.shell import types
from simcloud.datastores.mongodb.shell.handles import database_handle
from simcloud.datastores.mongodb.shell.javascript import (
    Engine,
    ErrorMessages,
    Script,
    Source,
    SpiderMonkey,
    SyntaxFailure,
    Thrown,
    Value,
    install,
    parse,
    run_script,
)
from simcloud.datastores.mongodb.shell.javascript.calls import call
from simcloud.datastores.mongodb.shell.javascript.values import UNDEFINED, Boxed, JsFunction, JsObject
from simcloud.datastores.mongodb.shell.link import Link
from simcloud.datastores.mongodb.shell.options import Options
from simcloud.machine.process import Context, read_all
from simcloud.userland.awk import run_flat

_LIBRARY: Final = Path(__file__).with_name("library")


@lru_cache(maxsize=8)
def _library(name: str) -> Script:
    path = _LIBRARY / f"{name}.js"
    return parse(Source(path.read_text(), f"src/mongo/shell/{name}.js", internal=True), SpiderMonkey())


class Shell:
    """A run of a shell. Each kind of shell gives its scripts the functions of ``natives.py``."""

    messages: ErrorMessages
    libraries: tuple[str, ...] = ()
    whole_numbers = False
    """Whether whole numbers are stored as integers."""

    def __init__(self, ctx: Context, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.ids = bson.ObjectIds(ctx.random("shell ids"))
        self.engine = Engine(ctx, self.messages)
        install(self.engine)
        types.install(self.engine, self.ids)

    # -- what each shell does in its own way ---------------------------------------------------

    async def show(self, value: Value) -> None:
        """Print the result of a line."""
        raise NotImplementedError

    async def print_error(self, thrown: Thrown, *, batch: bool) -> None:
        """Print an uncaught error; ``batch`` if it ends a script."""
        raise NotImplementedError

    async def complain_of_syntax(self, failure: SyntaxFailure, source: Source, *, batch: bool) -> None:
        """Print what does not read."""
        raise NotImplementedError

    async def format_value(self, value: Value) -> str:
        """Return a value as ``print`` writes it."""
        raise NotImplementedError

    def connection_error(self, error: Exception, link: Link) -> Thrown:
        """Return the script error of a lost connection."""
        raise NotImplementedError

    def login_error(self, reply: bson.Document) -> Thrown:
        """Return the script error of a failed login."""
        raise NotImplementedError

    def client(self) -> bson.Document:
        """Return the client metadata of the shell."""
        raise NotImplementedError

    # -- running -------------------------------------------------------------------------------

    async def load_libraries(self) -> None:
        """Give scripts the database's objects."""
        before = set(self.engine.global_object.properties)
        for name in self.libraries:
            await run_script(self.engine, _library(name))
        for name in self.engine.global_object.properties:
            if name not in before:
                self.engine.global_object.hidden[name] = None

    async def run_text(self, text: str, name: str) -> Value:
        """Run a piece of a script; raises ``Thrown`` or ``SyntaxFailure``."""
        return await run_script(self.engine, self.read(Source(text, name)))

    def read(self, source: Source) -> Script:
        """Read a script, at the process's expense."""
        self.engine.work(len(source.text) * 4)
        return parse(source, self.messages)

    async def read_file(self, path: str) -> str:
        """Return a file of the container's; raises ``FileError``."""
        stream = await self.ctx.open(path)
        try:
            data = await read_all(stream)
        finally:
            stream.close()
        self.ctx.spend_bytes(len(data))
        return data.decode("utf-8", "replace")

    async def out(self, text: str) -> None:
        """Print a line."""
        await self.ctx.out(text + "\n")

    async def ask_password(self) -> str:
        """Return a password read from the input."""
        await self.ctx.out("Enter password: ")
        line = b""
        while not line.endswith(b"\n") and len(line) < 1000:
            piece = await self.ctx.stdin.read(1)
            if not piece:
                break
            line += piece
        await self.ctx.out("\n")
        return line.rstrip(b"\r\n").decode("utf-8", "replace")

    def mongo(self, link: Link) -> Boxed:
        """Return a connection as scripts hold it."""
        made = Boxed(self.engine.prototype("Mongo"), "Mongo", link)
        made.hide("host", link.place)
        return made

    def use(self, mongo: Value, name: str) -> None:
        """Make ``db`` another database."""
        self.engine.define("db", database_handle(self.engine, mongo, name))

    async def helper(self, name: str, *args: Value) -> Value:
        """Call a function of the libraries."""
        function = self.engine.global_object.own(name)
        self.engine.enter("", Source("", "(shell)"), 0)
        try:
            return await run_flat(call(self.engine, function, UNDEFINED, list(args)))
        finally:
            self.engine.frames.pop()

    async def flat(self, work: Coroutine[Any, Any, str]) -> str:
        """Let the engine write something outside any script."""
        self.engine.enter("", Source("", "(shell)"), 0)
        try:
            return str(await run_flat(work))
        finally:
            self.engine.frames.pop()

    async def start_session(self, link: Link) -> str:
        """Begin the session that every command belongs to; gives its id as the old shell writes it."""
        data = bytearray(self.ctx.random("shell session").randbytes(16))
        data[6], data[8] = data[6] & 0x0F | 0x40, data[8] & 0x3F | 0x80
        link.session = {"id": bson.Binary(bytes(data), 4)}
        return types.binary_shown(link.session["id"], '"')

    async def own_printer(self, value: Value) -> bool:
        """Let a value print itself if it can; whether it did."""
        if not isinstance(value, JsObject) or isinstance(value, JsFunction):
            return False
        printer = value.find("shellPrint")
        if not isinstance(printer, JsFunction):
            return False
        await self.helper("__printSelf", value)
        return True

    async def current_db(self) -> str:
        """Return the name of the database in use; empty without one."""
        db = self.engine.global_object.own("db")
        name = db.own("_name") if isinstance(db, JsObject) else ""
        return name if isinstance(name, str) else ""

    async def step(self, text: str) -> bool:
        """Run a line a person gave; whether it went well."""
        source = Source(text, "(shell)")
        try:
            if not await self.shell_command(text.strip().rstrip(";")):
                await self.show(await run_script(self.engine, self.read(source)))
        except SyntaxFailure as failure:
            await self.complain_of_syntax(failure, source, batch=False)
            return False
        except Thrown as thrown:
            await self.print_error(thrown, batch=False)
            return False
        return True

    async def shell_command(self, line: str) -> bool:
        """Run ``use``, ``show``, ``it`` or ``help``. Return False for any other line."""
        words = line.split()
        if not words or words[0] not in ("use", "show", "it", "help", "cls"):
            return False
        if words[0] == "cls":
            await self.ctx.out("\x1b[H\x1b[2J")
            return True
        if words[0] in ("it", "help") and len(words) == 1:
            await self.show(await self.helper(f"__{words[0]}"))
            return True
        if words[0] in ("use", "show") and (len(words) == 2 or (words[0] == "show" and len(words) < 4)):
            await self.show(await self.helper(f"__{words[0]}", *words[1:]))
            return True
        return False

    def incomplete(self, text: str) -> bool:
        """Return whether more lines could make the text right."""
        try:
            self.read(Source(text, "(shell)"))
        except SyntaxFailure as failure:
            return failure.incomplete
        return False
