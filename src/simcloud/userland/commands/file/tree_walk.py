"""A walk over a tree, each folder before its entries, for chmod -R and chown -R."""

from __future__ import annotations

from collections.abc import AsyncIterator

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context
from simcloud.userland.commands.file.names import complain, join
from simcloud.userland.commands.text.quoting import quote_name_always


class Walk:
    """Walks a tree; reports folders that cannot be read and sets ``status`` to 1."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.status = 0

    async def below(self, path: str) -> AsyncIterator[tuple[str, Stat]]:
        """The path itself and all below it, links not followed. Raises ``FileError`` for the path."""
        pending = [(path, self._ctx.files.stat(path, follow=False))]
        while pending:
            self._ctx.spend_turn()
            where, found = pending.pop()
            yield where, found
            if found.is_dir:
                pending += reversed(await self._entries(where))

    async def _entries(self, folder: str) -> list[tuple[str, Stat]]:
        files = self._ctx.files
        try:
            paths = [join(folder, name) for name in files.listdir(folder)]
            return [(path, files.stat(path, follow=False)) for path in paths]
        except FileError as error:
            self.status = await complain(
                self._ctx, f"cannot read directory {quote_name_always(folder)}", error
            )
            return []
