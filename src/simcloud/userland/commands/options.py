"""Command-line options in the style of GNU programs.

Grouped short options (``-la``), values attached or apart (``-n3``, ``-n 3``), long options with ``=`` or a following
word, unambiguous abbreviations of long options, ``--`` to end them, and operands in between. Errors have the messages
of getopt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


class UsageError(Exception):
    """The command line is invalid. The text is what the genuine program prints on stderr."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Options:
    """The parsed options in order with their values, and the operands."""

    given: list[tuple[str, str]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)

    def __contains__(self, name: str) -> bool:
        return any(option == name for option, _ in self.given)

    def last(self, *names: str, default: str = "") -> str:
        """The value of the last of these options (aliases) that was given."""
        return next((value for option, value in reversed(self.given) if option in names), default)

    def all(self, *names: str) -> list[str]:
        """Every value of these options, in order."""
        return [value for option, value in self.given if option in names]

    def any(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(option in names for option, _ in self.given)


def parse(
    args: list[str], short: str = "", long: tuple[str, ...] = (), *, stop_early: bool = False
) -> Options:
    """Split ``args[1:]`` into options and operands.

    ``short`` lists letters as getopt does: ``k:`` takes a value, ``c::`` an attached value or none.
    ``long`` lists names: ``key=`` takes a value, ``color=?`` an optional one after an equals sign.
    ``stop_early`` ends at the first operand, as for commands that run another command.
    Options are reported by their letter (``-n``) or name (``--reverse``) without the dashes.
    """
    takes = _short_table(short)
    found = Options()
    words = iter(args[1:])
    for word in words:
        if word == "--":
            found.operands.extend(words)
        elif word.startswith("--"):
            _long_option(args[0], word, long, words, found)
        elif len(word) > 1 and word[0] == "-":
            _short_options(args[0], word, takes, words, found)
        else:
            found.operands.append(word)
            if stop_early:
                found.operands.extend(words)
    return found


def _short_table(short: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for position, letter in enumerate(short):
        if letter != ":":
            rest = short[position + 1 : position + 3]
            table[letter] = "::" if rest == "::" else ":" if rest[:1] == ":" else ""
    return table


def _short_options(name: str, word: str, takes: dict[str, str], words: Iterator[str], found: Options) -> None:
    for position in range(1, len(word)):
        letter = word[position]
        if letter not in takes:
            raise _mistake(name, f"invalid option -- '{letter}'")
        if not takes[letter]:
            found.given.append((letter, ""))
            continue
        value = word[position + 1 :]
        if not value and takes[letter] == ":":
            following = next(words, None)
            if following is None:
                raise _mistake(name, f"option requires an argument -- '{letter}'")
            value = following
        found.given.append((letter, value))
        return


def _long_option(name: str, word: str, long: tuple[str, ...], words: Iterator[str], found: Options) -> None:
    given, equals, value = word[2:].partition("=")
    names = {entry.rstrip("?").rstrip("="): entry for entry in long}
    if given in names:
        matches = [given]
    else:
        matches = [candidate for candidate in names if candidate.startswith(given)]
    if not matches:
        raise _mistake(
            name, f"unrecognized option '{word}'" if not equals else f"unrecognized option '--{given}'"
        )
    if len(matches) > 1:
        choices = " ".join(f"'--{match}'" for match in matches)
        raise _mistake(name, f"option '{word}' is ambiguous; possibilities: {choices}")
    entry = names[matches[0]]
    if not entry.endswith(("=", "?")) and equals:
        raise _mistake(name, f"option '--{matches[0]}' doesn't allow an argument")
    if entry.endswith("=") and not equals:
        following = next(words, None)
        if following is None:
            raise _mistake(name, f"option '--{matches[0]}' requires an argument")
        value = following
    found.given.append((matches[0], value))


def _mistake(name: str, what: str) -> UsageError:
    return UsageError(f"{name}: {what}\nTry '{name} --help' for more information.")
