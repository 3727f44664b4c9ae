"""The commands of kubectl: a tree of words, each command a function, with the genuine tool's flags and errors.

A verb is a file in ``verbs/`` with functions marked ``@command("rollout status", "…")``. Names, types and defaults of
flags are in ``data/flags.json``; the help texts are ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct, field

from simcloud.kubectl.errors import FlagError, KubectlError, PlainError, UsageError
from simcloud.kubectl.flags import BadFlag, Flag, Flags, Parser
from simcloud.kubectl.help.texts import GROUPS
from simcloud.kubectl.tree import descend, grow, read_facts, suggestions

if TYPE_CHECKING:
    from simcloud.kubectl.session import Kubectl

Run: TypeAlias = "Callable[[Kubectl], Awaitable[int | None]]"

RECORDING: Final = (
    "annotate", "apply", "autoscale", "edit", "expose", "label", "patch", "replace", "run", "scale",
    "set image", "set resources", "set selector", "set serviceaccount",
)  # fmt: skip
"""Commands that can record themselves in the objects they change."""
RECORD: Final = Flag(
    "record", kind="bool", default="false", deprecated="--record will be removed in the future"
)
CPU_PERCENT: Final = Flag(
    "cpu-percent",
    kind="int",
    default="-1",
    deprecated="Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for "
    "milliCPU).",
)


class Command(Struct):
    """A command, its function and its subcommands."""

    path: str
    summary: str = ""
    run: Run | None = None
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    hidden: bool = False
    required: tuple[str, ...] = ()
    """Flags that must be given."""
    silent: bool = False
    """For a group: called without a subcommand it prints its help on stderr and fails."""
    below: dict[str, Command] = field(default_factory=dict)
    _parser: Parser | None = None

    @property
    def name(self) -> str:
        """The last word."""
        return self.path.rpartition(" ")[2]

    @property
    def full(self) -> str:
        """The whole command, as errors name it."""
        return f"kubectl {self.path}".rstrip()

    @property
    def usage(self) -> str:
        """How it is called."""
        line: str = facts().get(self.path, {}).get("usage", self.full)
        return line

    def flags(self) -> list[Flag]:
        """Its own flags."""
        return [Flag(*flag) for flag in facts().get(self.path, {}).get("flags", ())]

    def parser(self) -> Parser:
        """Return the parser of its own flags and the global ones."""
        if self._parser is None:
            own = [*self.flags(), *self._list_hidden_flags()]
            names = {flag.name for flag in own}
            self._parser = Parser([*own, *(flag for flag in global_flags() if flag.name not in names)])
        return self._parser

    def _list_hidden_flags(self) -> list[Flag]:
        """Return the flags that are still accepted but no longer documented."""
        recording = [RECORD] if self.path in RECORDING else []
        return recording + ([CPU_PERCENT] if self.path == "autoscale" else [])


ROOT: Final = Command("")


def command(
    path: str,
    summary: str,
    *,
    examples: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    required: tuple[str, ...] = (),
    hidden: bool = False,
) -> Callable[[Run], Run]:
    """Register a function as a command of kubectl."""

    def register(run: Run) -> Run:
        group(path, summary, run=run, examples=examples, aliases=aliases, required=required, hidden=hidden)
        return run

    return register


def group(path: str, summary: str, **more: Any) -> None:
    """Register a group of commands, or any command."""
    grow(ROOT, path, summary, more)


@cache
def facts() -> dict[str, Any]:
    """Usage lines and flags, by command."""
    return read_facts("flags.json")


@cache
def global_flags() -> tuple[Flag, ...]:
    """The flags of every command."""
    return tuple(Flag(*flag) for flag in facts()["options"]["flags"])


def find(words: list[str]) -> tuple[Command, Flags]:
    """Return the command of a line, and its parsed flags and arguments."""
    here, rest, word = descend(ROOT, words)
    if here is ROOT and word:
        if words[0].startswith("-"):  # it might have been a plugin's name, which stands first
            raise PlainError(f"Error: flags cannot be placed before plugin name: {words[0]}")
        raise KubectlError(_unknown(word))
    try:
        flags = here.parser().parse(rest)
    except BadFlag as error:
        raise FlagError(str(error), here.full) from None
    if here.run is None and here.below and flags.args and not flags.help:
        raise UsageError(f'unknown command "{" ".join(flags.args)}"', here.full)
    missing = [name for name in here.required if not flags.is_given(name)]
    if missing and not flags.help:
        named = ", ".join(f'"{name}"' for name in missing)
        raise KubectlError(f"required flag(s) {named} not set")
    return here, flags


def _unknown(word: str) -> str:
    near = suggestions(word, suggestible_commands())
    return f'unknown command "{word}" for "kubectl"' + (f"\n{near}" if near else "")


def suggestible_commands() -> Iterator[str]:
    """Return the commands that can be suggested for a mistyped word, in the order of the help."""
    return (name for names in GROUPS.values() for name in names)
