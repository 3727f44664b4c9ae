"""Parsing of flags as in kubectl's library: in any order, short ones grouped, values after ``=`` or a space."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from simcloud.golang import parse_duration_s, quote

BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
ALONE: Final = {"dry-run": "unchanged", "cascade": "background", "validate": "strict"}
"""What a flag with an optional value means without one."""

_INTEGER: Final = re.compile(
    r"[+-]?(0[xX](_?[0-9a-fA-F])+|0[bB](_?[01])+|0[oO](_?[0-7])+|0(_?[0-7])*|[1-9](_?\d)*)", re.ASCII
)
LARGEST: Final = 2**63 - 1


class BadFlag(Exception):
    """A flag that is unknown, or whose value makes no sense."""


class Flag(Struct, frozen=True):
    """One flag: ``kind`` is bool, string, int, duration, slice (comma-separated) or array."""

    name: str
    shorthand: str = ""
    kind: str = "string"
    default: str = ""
    deprecated: str = ""
    """What is said to those who still use it; help does not show it."""

    @property
    def alone(self) -> str | None:
        """The value that it has when none is given; None if it needs one."""
        return "true" if self.kind == "bool" else ALONE.get(self.name)

    def format_name(self) -> str:
        """Return the name used in errors."""
        return f"-{self.shorthand}, --{self.name}" if self.shorthand else f"--{self.name}"

    def read(self, text: str) -> Any:
        """The value of a text; raises ``BadFlag``."""
        try:
            match self.kind:
                case "bool":
                    return _boolean(text)
                case "int":
                    return _integer(text)
                case "duration":
                    return parse_duration_s(text)
                case "slice":
                    return csv_fields(text) if text else []
                case "array":
                    return [text]
                case _:
                    return _check_text(self.name, text)
        except ValueError as error:
            raise BadFlag(
                f'invalid argument {quote(text)} for "{self.format_name()}" flag: {error}'
            ) from None

    def initial(self) -> Any:
        """The value before anything is said."""
        if self.kind in ("slice", "array"):
            return self.default.split(",") if self.default else []
        return self.read(self.default)


class Flags(Struct):
    """What was said by flags and beside them."""

    values: dict[str, Any]
    args: list[str] = field(default_factory=list)
    changed: dict[str, bool] = field(default_factory=dict)
    spoken: list[tuple[str, str]] = field(default_factory=list)
    """Each flag given, with its value as it was written."""
    dash_at: int | None = None
    """How many arguments stood before ``--``; None if there was none."""
    help: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a flag that the command may not have."""
        return self.values.get(name, default)

    def is_given(self, name: str) -> bool:
        """Whether a flag was given."""
        return name in self.changed


class Parser:
    """Reads command lines of one command."""

    def __init__(self, flags: Iterable[Flag]) -> None:
        self.long: dict[str, Flag] = {flag.name: flag for flag in flags}
        self.short: dict[str, Flag] = {flag.shorthand: flag for flag in self.long.values() if flag.shorthand}

    def parse(self, words: list[str]) -> Flags:
        """Parse flags and arguments; raises ``BadFlag``. Words after a help flag are ignored."""
        found = Flags({name: flag.initial() for name, flag in self.long.items()})
        position = 0
        while position < len(words):
            word = words[position]
            position += 1
            if word == "--":
                found.dash_at = len(found.args)
                found.args.extend(words[position:])
                break
            if len(word) < 2 or word[0] != "-":
                found.args.append(word)
            elif word.startswith("--"):
                position = self._long(word, words, position, found)
            else:
                position = self._short(word, words, position, found)
            if found.help:
                break
        return found

    def deprecations(self, found: Flags) -> list[str]:
        """What is said of flags that were given and should not be any more."""
        flags = [self.long[name] for name, _ in found.spoken]
        return [
            f"Flag --{flag.name} has been deprecated, {flag.deprecated}" for flag in flags if flag.deprecated
        ]

    def _long(self, word: str, words: list[str], position: int, found: Flags) -> int:
        name, equals, value = word[2:].partition("=")
        if not name or name[0] in "-=":
            raise BadFlag(f"bad flag syntax: {word}")
        flag = self.long.get(name)
        if flag is None:
            if name == "help":
                found.help = True
                return position
            raise BadFlag(f"unknown flag: --{name}")
        if not equals:
            if flag.alone is not None:
                value = flag.alone
            elif position < len(words):
                value, position = words[position], position + 1
            else:
                raise BadFlag(f"flag needs an argument: {word}")
        _set(flag, value, found)
        return position

    def _short(self, word: str, words: list[str], position: int, found: Flags) -> int:
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            flag = self.short.get(letter)
            if flag is None:
                if letter == "h":
                    found.help = True
                    return position
                raise BadFlag(f"unknown shorthand flag: '{letter}' in -{letter}{letters}")
            if letters.startswith("=") and len(letters) > 1:
                value, letters = letters[1:], ""
            elif flag.alone is not None:
                value = flag.alone
            elif letters:
                value, letters = letters, ""
            elif position < len(words):
                value, position = words[position], position + 1
            else:
                raise BadFlag(f"flag needs an argument: '{letter}' in -{letter}")
            _set(flag, value, found)
        return position


def _set(flag: Flag, text: str, found: Flags) -> None:
    value = flag.read(text)
    if flag.kind in ("slice", "array") and flag.name in found.changed:
        value = found.values[flag.name] + value
    found.values[flag.name] = value
    found.changed[flag.name] = True
    found.spoken.append((flag.name, text))


def without_flags(words: list[str], flags: Mapping[str, Flag], short: Mapping[str, Flag]) -> list[int]:
    """Where the words are that are neither flags nor flags' values: how a command is found among them."""
    places = []
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            break
        if word.startswith("--"):
            flag = flags.get(word[2:])
            takes_next = "=" not in word and (flag is None or flag.alone is None)
            position += takes_next
        elif word.startswith("-") and len(word) > 1:
            flag = short.get(word[1]) if len(word) == 2 else None
            position += len(word) == 2 and (flag is None or flag.alone is None)
        elif word:
            places.append(position)
        position += 1
    return places


def csv_fields(text: str) -> list[str]:
    """Values separated by commas, some in quotation marks; raises ``ValueError`` in Go's words."""
    fields: list[str] = []
    line = text.split("\n", 1)[0]
    position = 0
    while True:
        if line.startswith('"', position):
            field, position = _read_quoted(line, position + 1)
        else:
            end = line.find(",", position)
            end = len(line) if end < 0 else end
            field, position = line[position:end], end
            if '"' in field:
                column = position - len(field) + field.index('"') + 1
                raise ValueError(f'parse error on line 1, column {column}: bare " in non-quoted-field')
        fields.append(field)
        if position >= len(line):
            return fields
        position += 1


def _read_quoted(line: str, position: int) -> tuple[str, int]:
    """Return a quoted field (doubled quotes are literal) and the position of its end."""
    field = ""
    while True:
        end = line.find('"', position)
        if end < 0:
            why = f'parse error on line 1, column {len(line) + 1}: extraneous or missing " in quoted-field'
            raise ValueError(why)
        field += line[position:end]
        position = end + 1
        if line.startswith('"', position):
            field, position = f'{field}"', position + 1
        elif position >= len(line) or line[position] == ",":
            return field, position
        else:
            raise ValueError(
                f'parse error on line 1, column {position + 1}: extraneous or missing " in quoted-field'
            )


def _check_text(name: str, text: str) -> str:
    """Return a flag's text; raises ``ValueError`` if the flag requires another form."""
    if name == "vmodule" and text and any("=" not in part for part in text.split(",") if part):
        raise ValueError("syntax error: expect comma-separated list of filename=N")
    return text


def _boolean(text: str) -> bool:
    if text not in BOOLEANS:
        raise ValueError(f'strconv.ParseBool: parsing "{text}": invalid syntax')
    return BOOLEANS[text]


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    octal = re.fullmatch(r"[+-]?0[\d_]+", text)
    number = int(text, 8 if octal else 0)
    if not -LARGEST - 1 <= number <= LARGEST:
        raise ValueError(f'strconv.ParseInt: parsing "{text}": value out of range')
    return number
