"""``-exec`` and its variants: run a command for each file, or one command for many."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import CommandNotFound, ForkFailed, NotExecutable, NullStream
from simcloud.userland.commands.file.find.search import Found, Search, Test
from simcloud.userland.commands.file.find.words import Words
from simcloud.userland.commands.file.names import folder_name
from simcloud.userland.commands.text.quoting import quote_name_always

MAX_LINE_BYTES: Final = 128 * 1024
"""Maximum length of a command line with many files."""


def running(search: Search, words: Words) -> Test:
    """The action that the words up to ``;`` or ``+`` describe."""
    option = words.current
    argv: list[str] = []
    while True:
        word = words.argument()
        if word == ";":
            break
        if word == "+" and argv[-1:] == ["{}"] and option in ("-exec", "-execdir"):
            if "{}" in argv[:-1]:
                raise search.mistake(f"Only one instance of {{}} is supported with {option} ... +")
            return _Batches(search, option, argv[:-1]).add
        argv.append(word)
    if not argv:
        raise search.mistake(f"missing argument to `{option}'")
    return _Single(search, option, argv).run


class _Single:
    """One command for each file; true when it succeeds."""

    def __init__(self, search: Search, option: str, argv: list[str]) -> None:
        self._search = search
        self._argv = argv
        self._asks = option.startswith("-ok")
        self._in_folder = option.endswith("dir")

    async def run(self, found: Found) -> bool:
        shown = f"./{found.name}" if self._in_folder else found.path
        if self._asks and not await self._is_agreed(found.path):
            return False
        argv = [word.replace("{}", shown) for word in self._argv]
        folder = folder_name(found.path) if self._in_folder else None
        return await _run(self._search, argv, folder, quiet_stdin=self._asks) == 0

    async def _is_agreed(self, path: str) -> bool:
        ctx = self._search.ctx
        await ctx.err(f"< {self._argv[0]} ... {path} > ? ")
        answer = b""
        while (byte := await ctx.stdin.read(1)) not in (b"", b"\n"):
            ctx.spend_bytes(1)
            answer += byte
        return answer[:1] in (b"y", b"Y")


class _Batches:
    """One command for each full command line of files; always true."""

    def __init__(self, search: Search, option: str, argv: list[str]) -> None:
        self._search = search
        self._argv = argv
        self._in_folder = option.endswith("dir")
        self._folder: str | None = None
        self._paths: list[str] = []
        self._size_bytes = 0
        search.finishers.append(self.flush)

    async def add(self, found: Found) -> bool:
        path = f"./{found.name}" if self._in_folder else found.path
        folder = folder_name(found.path) if self._in_folder else None
        if self._size_bytes + len(path) > MAX_LINE_BYTES or folder != self._folder:
            await self.flush()
        self._folder = folder
        self._paths.append(path)
        self._size_bytes += len(path) + 1
        return True

    async def flush(self) -> None:
        """Run what has been collected."""
        if self._paths:
            paths, self._paths, self._size_bytes = self._paths, [], 0
            if await _run(self._search, [*self._argv, *paths], self._folder) != 0:
                self._search.status = 1


async def _run(search: Search, argv: list[str], folder: str | None, quiet_stdin: bool = False) -> int:
    ctx = search.ctx
    ctx.spend_turn()
    streams = {**ctx.process.streams, 0: NullStream()} if quiet_stdin else None
    try:
        return await ctx.start(argv, cwd=folder, fds=streams).wait()
    except CommandNotFound:
        reason = "No such file or directory"
    except (NotExecutable, ForkFailed) as error:
        reason = str(error)
    await ctx.err(f"{ctx.args[0]}: {quote_name_always(argv[0])}: {reason}\n")
    return 1
