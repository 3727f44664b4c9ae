"""The commands of helm: a tree of words, each command a function, with the genuine tool's flags and errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Final

from msgspec import Struct, field

from simcloud.helm.errors import HelmError
from simcloud.helm.session import Helm
from simcloud.kubectl import BadFlag, Flag, Flags, Parser, tree

Run = Callable[[Helm], Awaitable[None]]
MANY: Final = 10**6


class HelmFlag(Flag, frozen=True):
    """A flag of helm, which has a kind of its own for forms of output."""

    @property
    def alone(self) -> str | None:
        """Only truths and ``--dry-run`` need no value."""
        return "true" if self.kind == "bool" else "client" if self.name == "dry-run" else None

    def read(self, text: str) -> Any:
        """The value of a text; raises ``BadFlag``."""
        if self.kind == "format" and text not in ("table", "json", "yaml"):
            raise BadFlag(f'invalid argument "{text}" for "{self.format_name()}" flag: invalid format type')
        return super().read(text)


class HelmCommand(Struct):
    """A word of the command line, with what it does and what may follow it."""

    path: str
    summary: str = ""
    run: Run | None = None
    least: int = 0
    most: int = MANY
    aliases: tuple[str, ...] = ()
    below: dict[str, HelmCommand] = field(default_factory=dict)
    _parser: Parser | None = None

    @property
    def name(self) -> str:
        """The last word."""
        return self.path.rpartition(" ")[2]

    @property
    def usage(self) -> str:
        """How it is called."""
        line: str = facts().get(self.path, {}).get("usage", "helm [command]")
        return line

    def flags(self) -> list[HelmFlag]:
        """Its own flags."""
        return [HelmFlag(*flag) for flag in facts().get(self.path, {}).get("flags", ())]

    def parser(self) -> Parser:
        """Reads its command line: its own flags and those of every command."""
        if self._parser is None:
            self._parser = Parser([*self.flags(), *global_flags()])
        return self._parser

    def check(self, args: list[str]) -> None:
        """Refuse too few or too many arguments."""
        if self.least <= len(args) <= self.most:
            return
        if self.most == 0:
            wants = "accepts no arguments"
        else:
            number = self.least if len(args) < self.least or self.least == self.most else self.most
            bound = "" if self.least == self.most else "at least " if len(args) < self.least else "at most "
            word = "accepts" if bound == "at most " else "requires"
            wants = f"{word} {bound}{number} argument{'' if number == 1 else 's'}"
        raise HelmError(f'"helm {self.path}" {wants}\n\nUsage:  {self.usage}')


ROOT: Final = HelmCommand("")


def command(
    path: str, summary: str, *, least: int = 0, most: int = MANY, aliases: tuple[str, ...] = ()
) -> Callable[[Run], Run]:
    """Make a function a command of helm."""

    def register(run: Run) -> Run:
        group(path, summary, run=run, least=least, most=most, aliases=aliases)
        return run

    return register


def group(path: str, summary: str, **more: Any) -> None:
    """A command that only has commands below it, or any command."""
    tree.grow(ROOT, path, summary, more)


@cache
def facts() -> dict[str, Any]:
    """Usage lines and flags, by command."""
    return tree.read_facts("helm_flags.json")


@cache
def global_flags() -> tuple[HelmFlag, ...]:
    """The flags of every command."""
    return tuple(HelmFlag(*flag) for flag in facts()["options"]["flags"])


def find(words: list[str]) -> tuple[HelmCommand, Flags]:
    """The command that a line means, and what it says by flags and arguments; raises ``HelmError``."""
    here, rest, word = tree.descend(ROOT, words)
    if here is ROOT and word:
        raise HelmError(_unknown(word))
    try:
        return here, here.parser().parse(rest)
    except BadFlag as error:
        raise HelmError(str(error)) from None


def _unknown(word: str) -> str:
    near = tree.suggestions(word, sorted(ROOT.below))
    message = f'unknown command "{word}" for "helm"\n'
    return message + (f"{near}\n" if near else "") + "Run 'helm --help' for usage."


def help_of(one: HelmCommand) -> str:
    """The help text of a command, in our words."""
    parts = [f"{one.summary or 'Charts of Kubernetes objects: install, upgrade, roll back, remove'}\n"]
    parts.append(f"Usage:\n  {one.usage}\n")
    if one.aliases:
        parts.append(f"Aliases:\n  {', '.join((one.name, *one.aliases))}\n")
    if one.below:
        listed = "".join(f"  {name:<11} {held.summary}\n" for name, held in sorted(one.below.items()))
        parts.append(f"Available Commands:\n{listed}")
    for title, flags in (("Flags", one.flags()), ("Global Flags", list(global_flags()))):
        if flags:
            parts.append(f"{title}:\n" + "".join(map(_flag_line, flags)))
    if one.below:
        full = f"helm {one.path}".rstrip()
        parts.append(f'Use "{full} [command] --help" for more information about a command.\n')
    return "\n".join(parts)


def _flag_line(flag: HelmFlag) -> str:
    short = f"-{flag.shorthand}, " if flag.shorthand else "    "
    kind = "" if flag.kind == "bool" else f" {flag.kind}"
    default = "" if flag.default in ("", "false", "0", "0s") else f"   (default {flag.default})"
    return f"  {short}--{flag.name}{kind}{default}\n"
