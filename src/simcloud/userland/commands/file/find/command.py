"""find: the command and its walk through folders."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.userland.commands.file.find.expression import read_expression
from simcloud.userland.commands.file.find.search import Found, Search, Test
from simcloud.userland.commands.file.names import join
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.quoting import quote_name_always

FOLLOW: Final = {"-P": "never", "-H": "arguments", "-L": "always"}


@command("find")
async def find(ctx: Context) -> int:
    """Search folders for files, and act on those that pass the tests."""
    if ctx.args[1:2] == ["--version"] or ctx.args[1:2] == ["-version"]:
        await ctx.out("find (GNU findutils) 4.9.0\n")
        return 0
    if ctx.args[1:2] == ["--help"] or ctx.args[1:2] == ["-help"]:
        await ctx.out(
            f"Usage: {ctx.args[0]} [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]\n"
        )
        return 0
    search = Search(ctx)
    words = _options(search, ctx.args[1:])
    roots = []
    while words and not _begins_expression(words[0]):
        roots.append(words.pop(0))
    test = read_expression(search, words)
    walk = _Walk(search, test)
    for root in roots or ["."]:
        if not search.quit:
            await walk.run(root)
    for finish in search.finishers:
        await finish()
    for stream in search.outputs.values():
        if stream not in (ctx.stdout, ctx.stderr):
            stream.close()
    return search.status


def _options(search: Search, words: list[str]) -> list[str]:
    """Take what stands before the paths."""
    while words:
        if words[0] in FOLLOW:
            search.follow = FOLLOW[words[0]]
        elif words[0] == "-D":
            if len(words) < 2:
                raise search.mistake("Missing argument after the -D option.")
            words = words[1:]
        elif not (words[0].startswith("-O") and words[0][2:].isdecimal()):
            break
        words = words[1:]
    return words[1:] if words[:1] == ["--"] else list(words)


def _begins_expression(word: str) -> bool:
    return (word.startswith("-") and len(word) > 1) or word in ("(", "!")


class _Step(Struct):
    """A path to visit, or (``found`` is set) a folder whose entries have been visited.

    ``above`` leads back to the starting point.
    """

    path: str
    depth: int
    above: _Visited | None = None
    found: Found | None = None


class _Visited(Struct):
    """A folder on the path of the walk."""

    found: Found
    above: _Visited | None


class _Walk:
    """Walks folders, top down or with -depth bottom up."""

    def __init__(self, search: Search, test: Test) -> None:
        self._search = search
        self._test = test
        self._root = ""
        self._device = 0

    async def run(self, root: str) -> None:
        """Walk one starting point."""
        search, self._root = self._search, root
        steps = [_Step(root, 0)]
        while steps and not search.quit:
            search.ctx.spend_turn()
            step = steps.pop()
            if step.found is not None:
                await self._ask(step.found)
                continue
            try:
                stat = search.look(step.path, named=step.depth == 0)
            except FileError as error:
                await search.complain(step.path, error)
                continue
            if step.depth == 0:
                self._device = stat.dev
            await self._visit(Found(step.path, root, step.depth, stat), step.above, steps)

    async def _ask(self, found: Found) -> None:
        if found.depth < self._search.min_depth:
            return
        try:
            await self._test(found)
        except FileError as error:
            await self._search.complain(found.path, error)

    async def _visit(self, found: Found, above: _Visited | None, steps: list[_Step]) -> None:
        search = self._search
        if found.stat.is_dir and await self._is_loop(found, above):
            return
        search.prune = False
        if search.depth_first:
            steps.append(_Step(found.path, found.depth, found=found))
        else:
            await self._ask(found)
        enters = (
            found.stat.is_dir
            and found.depth < search.max_depth
            and not search.quit
            and not search.prune
            and not (search.one_file_system and found.stat.dev != self._device)
        )
        if not enters:
            return
        try:
            names = search.ctx.files.listdir(found.path)
        except FileError as error:
            await search.complain(found.path, error)
            return
        here = _Visited(found, above)
        steps += [_Step(join(found.path, name), found.depth + 1, here) for name in reversed(names)]

    async def _is_loop(self, here: Found, above: _Visited | None) -> bool:
        """Whether a followed link has led back to a folder above it."""
        while above is not None and self._search.follow == "always":
            other = above.found
            if (other.stat.dev, other.stat.ino) == (here.stat.dev, here.stat.ino):
                self._search.status = 1
                await self._search.ctx.err(
                    f"{self._search.ctx.args[0]}: File system loop detected; {quote_name_always(here.path)} is part "
                    f"of the same file system loop as {quote_name_always(other.path)}.\n"
                )
                return True
            above = above.above
        return False
