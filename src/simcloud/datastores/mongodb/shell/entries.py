"""Entries from the prompt or from a pipe; an entry may span several lines."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from simcloud.datastores.mongodb.shell.shell import Shell

MAX_ENTRY_CHARACTERS: Final = 1 << 18
_CLOSING: Final = re.compile(r"[)\]}`]|\*/")


async def read_entries(
    shell: Shell, first: str | Callable[[], Awaitable[str]], more: str, *, prompts: bool
) -> AsyncIterator[str]:
    """Yield each entry once its brackets and quotes are closed. The last one may be cut off by the end of input."""
    pending = ""
    lines = shell.ctx.lines(shell.ctx.stdin)
    while True:
        if prompts:
            await shell.ctx.out(more if pending else first if isinstance(first, str) else await first())
        line = await anext(lines, None)
        if line is None:
            if pending:
                yield pending
            return
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        within, pending = bool(pending), f"{pending}{text}\n"
        if len(pending) < MAX_ENTRY_CHARACTERS:
            if within and _open_brackets(pending) and not _CLOSING.search(text):
                continue  # nothing on this line can have completed it
            if shell.incomplete(pending):
                continue
        entry, pending = pending.rstrip("\n"), ""
        yield entry


def _open_brackets(text: str) -> bool:
    return sum(map(text.count, "([{")) > sum(map(text.count, ")]}"))
