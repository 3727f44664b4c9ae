"""Error messages of busybox, where they differ from GNU's.

The commands of a busybox image are our usual ones; their messages are reworded on the way to stderr. Only the common
messages are covered: about files that do not exist or cannot be used.
"""

from __future__ import annotations

import re
from typing import Final

from simcloud.machine.process import Context, Program, Stream
from simcloud.userland.commands import UsageError

VERSION: Final = "BusyBox v1.36.1 (2023-05-18 22:34:17 UTC) multi-call binary."

_RULES: Final = [
    (re.compile(pattern, re.MULTILINE), words)
    for pattern, words in (
        (r"^cat: .+: Is a directory$", r"cat: read error: Is a directory"),
        (r"^(cat|tac): (?!can't|read error)(.+): ([^:]+)$", r"\1: can't open '\2': \3"),
        (r"^tail: cannot open '(.+)' for reading: (.+)$", r"tail: can't open '\1': \2"),
        (r"^(\w+): cannot open '(.+)' for reading: (.+)$", r"\1: \2: \3"),
        (r"^(ls|du|chmod|chown|chgrp): cannot access '(.+)': (.+)$", r"\1: \2: \3"),
        (r"^(touch): cannot touch '(.+)': (.+)$", r"\1: \2: \3"),
        (r"^sort: cannot read: (.+): (.+)$", r"sort: \1: \2"),
        (r"^sed: can't read (.+): (.+)$", r"sed: \1: \2"),
        (r"^find: '(.+)': (.+)$", r"find: \1: \2"),
        (r"^mv: cannot stat '(.+)': (.+)$", r"mv: can't rename '\1': \2"),
        (r"^stat: cannot statx '(.+)': (.+)$", r"stat: can't stat '\1': \2"),
        (r"^rmdir: failed to remove '(.+)': (.+)$", r"rmdir: '\1': \2"),
        (r"^ln: failed to access '(.+)': (.+)$", r"ln: \1: \2"),
        (r"^(\w+): cannot (remove|stat|create directory) '(.+)': (.+)$", r"\1: can't \2 '\3': \4"),
        (r"^id: '(.+)': no such user$", r"id: unknown user \1"),
        (
            r"^tar: Removing leading `(.+)' from member names$",
            r"tar: removing leading '\1' from member names",
        ),
        (r"^tar: (.+): Cannot (?:stat|open): (.+)$", r"tar: \1: \2"),
        (
            r"^tar: Exiting with failure status due to previous errors$",
            r"tar: error exit delayed from previous errors",
        ),
        (r"^sh: line \d+: (.+): command not found$", r"sh: line 0: \1: not found"),
        (r"^sh: \d+: (\S+): not found$", r"sh: line 0: \1: not found"),
        (
            r"^sh: line \d+: (.+): (Read-only file system|Is a directory)$",
            r"sh: line 0: can't create \1: \2",
        ),
        (r"^sh: line \d+: (/.+): No such file or directory$", r"sh: line 0: \1: not found"),
    )
]


def reword(text: str) -> str:
    """What busybox would have said."""
    for pattern, words in _RULES:
        text = pattern.sub(words, text)
    return text


class Reworded(Stream):
    """Passes text on, in busybox's words."""

    def __init__(self, onwards: Stream) -> None:
        super().__init__()
        self._onwards = onwards
        self.isatty = onwards.isatty

    def describe(self) -> str:
        """As what it passes on to."""
        return self._onwards.describe()

    async def read(self, size: int = 65_536) -> bytes:
        """From the other side of a terminal."""
        return await self._onwards.read(size)

    async def write(self, data: bytes) -> None:
        """Reword and pass on."""
        said = reword(data.decode("utf-8", "surrogateescape"))
        if self.isatty:  # an interactive shell counts no lines
            said = said.replace("sh: line 0: ", "sh: ")
        if said:
            await self._onwards.write(said.encode("utf-8", "surrogateescape"))

    def _on_release(self) -> None:
        self._onwards.close()


def in_busybox_words(program: Program) -> Program:
    """The same program, whose complaints are busybox's."""

    async def applet(ctx: Context) -> int | None:
        streams = ctx.process.streams
        if 2 in streams and not isinstance(streams[2], Reworded):
            streams[2] = Reworded(streams[2])
        return await program(ctx)

    return applet


class WrongCall(Exception):
    """An applet cannot run with these arguments. ``usage`` is shown, after the first line of the mistake, if there is one."""

    def __init__(self, usage: str, mistake: UsageError | None = None) -> None:
        super().__init__(usage)
        self.usage = usage
        self.complaint = f"{str(mistake).partition(chr(10))[0]}\n" if mistake is not None else ""


def with_usage(program: Program, version: str) -> Program:
    """The same program, which shows the banner of that version and its usage after a wrong call."""

    async def applet(ctx: Context) -> int | None:
        try:
            return await program(ctx)
        except WrongCall as wrong:
            await ctx.err(f"{wrong.complaint}{version}\n\n{wrong.usage}")
            return 1

    return applet
