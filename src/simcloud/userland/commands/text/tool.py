"""The declaration of tools: options, ``--help``, ``--version`` and error messages.

A tool is an async function of its context and its parsed options. Its options are one string: each word names a
letter, a long name, or both (``n,lines=``); ``=`` takes a value and ``=?`` an optional one. A long name that has a
letter is reported by the letter, so a tool needs to check only one name.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.quoting import quote

COREUTILS = "(GNU coreutils) 9.1"
UTIL_LINUX = "from util-linux 2.38.1"

Main = Callable[[Context, Options], Coroutine[Any, Any, int | None]]
Rewrite = Callable[[list[str]], list[str]]


def tool(
    *names: str,
    options: str = "",
    usage: str = "[OPTION]... [FILE]...",
    version: str = COREUTILS,
    trouble: int = 1,
    try_help: str = "",
    stop_early: bool = False,
    rewrite: Rewrite | None = None,
) -> Callable[[Main], Main]:
    """Register a text tool. ``trouble`` is its status for a wrong command line.

    ``try_help`` is how it points to its help (``{name}`` is its name), where it has words of its own.
    ``rewrite`` turns historical spellings (``head -5``) into options before they are parsed.
    """
    short, long, letters = _tables(options)

    def register(main: Main) -> Main:
        async def program(ctx: Context) -> int | None:
            args = rewrite(ctx.args) if rewrite else ctx.args
            try:
                found = parse(args, short, long, stop_early=stop_early)
            except UsageError as error:
                message = str(error)
                if try_help:
                    message = message.replace(hint(ctx), try_help.format(name=ctx.args[0]))
                raise UsageError(message, trouble) from None
            found.given = [(letters.get(name, name), value) for name, value in found.given]
            for name, _ in found.given:
                if name == "help":
                    await ctx.out(f"Usage: {ctx.args[0]} {usage}\n{_documentation(main)}\n")
                    return 0
                if name == "version":
                    await ctx.out(f"{main.__name__.strip('_')} {version}\n")
                    return 0
            return await main(ctx, found)

        program.__doc__ = main.__doc__
        command(*names)(program)
        return main

    return register


def historical(letter: str, *valued: str) -> Rewrite:
    """A rewriting of ``-30`` into the option of that letter, as in the oldest versions.

    ``valued`` are the options of the tool whose value may stand apart: such a value is left as it is.
    """

    def rewrite(args: list[str]) -> list[str]:
        found = args[:1]
        for position in range(1, len(args)):
            word = args[position]
            is_value = position > 1 and args[position - 1] in valued
            digits = word[1:].replace(",", "")
            old = word.startswith("-") and digits.isascii() and digits.isdigit() and not is_value
            found.append(f"-{letter}{word[1:]}" if old else word)
        return found

    return rewrite


def _tables(options: str) -> tuple[str, tuple[str, ...], dict[str, str]]:
    short = ""
    long: list[str] = []
    letters: dict[str, str] = {}
    for word in options.split():
        spelled, equals, optional = word.partition("=")
        for name in spelled.split(","):
            if len(name) == 1:
                short += name + ("::" if optional else ":" if equals else "")
            else:
                long.append(name + equals + optional)
                letters[name] = spelled.split(",")[0]
    return short, (*long, "help", "version"), letters


def _documentation(main: Main) -> str:
    return (main.__doc__ or "").strip()


def fail(ctx: Context, message: str, status: int = 1) -> NoReturn:
    """End with ``name: message`` on stderr."""
    raise UsageError(f"{ctx.args[0]}: {message}", status)


def misuse(ctx: Context, message: str, status: int = 1) -> NoReturn:
    """End with ``name: message`` and the pointer to ``--help`` on stderr."""
    raise UsageError(f"{ctx.args[0]}: {message}\n{hint(ctx)}", status)


def hint(ctx: Context) -> str:
    """The line that points to ``--help``."""
    return f"Try '{ctx.args[0]} --help' for more information."


def at_most(ctx: Context, operands: list[str], count: int, status: int = 1) -> None:
    """Refuse more operands than a tool takes."""
    if len(operands) > count:
        misuse(ctx, f"extra operand {quote(operands[count])}", status)


def one_of(ctx: Context, option: str, value: str, choices: tuple[str, ...]) -> str:
    """The choice that a word, perhaps abbreviated, stands for. Synonyms are written ``quiet,silent``."""
    words = {word: choice.split(",")[0] for choice in choices for word in choice.split(",")}
    matches = {words[word] for word in words if word == value} or {
        words[word] for word in words if word.startswith(value)
    }
    if len(matches) == 1:
        return matches.pop()
    kind = "ambiguous" if matches else "invalid"
    listing = "".join("\n  - " + ", ".join(map(quote, choice.split(","))) for choice in choices)
    misuse(ctx, f"{kind} argument {quote(value)} for '--{option}'\nValid arguments are:{listing}")
