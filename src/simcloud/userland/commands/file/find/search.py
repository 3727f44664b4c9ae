"""The state of a search: the current file, and what all tests share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from simcloud.machine.files import FileError, Stat
from simcloud.machine.process import Context, Stream
from simcloud.userland.commands.file.names import base_name
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.system.accounts import Accounts
from simcloud.userland.commands.text.quoting import quote_name_always

UNLIMITED = 1 << 30


@dataclass(slots=True)
class Found:
    """A file of the walk, its starting point and its depth."""

    path: str
    root: str
    depth: int
    stat: Stat

    @property
    def name(self) -> str:
        """Its last part."""
        return base_name(self.path)


Test = Callable[[Found], Awaitable[bool]]
"""Answers yes or no about a file. Actions are tests, too."""


@dataclass
class Search:
    """The settings of one run of find, and the results of tests and actions for the walk."""

    ctx: Context
    follow: str = "never"  # "never", "arguments" or "always"
    min_depth: int = 0
    max_depth: int = UNLIMITED
    depth_first: bool = False
    one_file_system: bool = False
    day_start: bool = False
    regex_type: str = "findutils-default"
    prune: bool = False
    quit: bool = False
    status: int = 0
    finishers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    outputs: dict[str, Stream] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.accounts = Accounts(self.ctx.files)
        self.now = self.ctx.now

    async def complain(self, path: str, error: FileError | str) -> None:
        """``find: 'path': reason``, and the search ends with status 1."""
        self.status = 1
        await self.ctx.err(f"{self.ctx.args[0]}: {quote_name_always(path)}: {error}\n")

    def mistake(self, what: str) -> UsageError:
        """The end of the search because of a wrong command line."""
        return UsageError(f"{self.ctx.args[0]}: {what}")

    def look(self, path: str, named: bool = False) -> Stat:
        """Return the status of a path, following links according to the options. A broken link has its own."""
        if self.follow == "always" or (named and self.follow == "arguments"):
            try:
                return self.ctx.files.stat(path)
            except FileError as error:
                if error.code not in ("ENOENT", "ELOOP"):
                    raise
        return self.ctx.files.stat(path, follow=False)
