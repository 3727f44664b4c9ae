"""The configuration of a server, and the parser of ``redis.conf`` and of the command line."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.redis.engine.numbers import whole
from simcloud.datastores.redis.parameters import IMMUTABLE, PARAMETERS, Kind
from simcloud.datastores.redis.resp import split_words

UNITS: Final = {
    "": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1_000_000, "mb": 1 << 20, "g": 1_000_000_000, "gb": 1 << 30,
}  # fmt: skip


class BadValue(Exception):
    """Invalid value of a parameter; the text says why."""


class UnknownParameter(Exception):
    """There is no such parameter."""


class BadConfig(Exception):
    """A configuration that cannot be parsed: the line and the reason."""

    def __init__(self, number: int, line: str, problem: str) -> None:
        super().__init__(problem)
        self.number = number
        self.line = line
        self.problem = problem


class Config:
    """The values of all parameters, as the text that CONFIG GET shows."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {name: kind.default for name, kind in PARAMETERS.items()}
        self.changed: dict[str, None] = {}
        self.users: list[list[bytes]] = []
        self.maxmemory = 0
        self.policy = "noeviction"
        self.save_points = _parse_save_points(self._values["save"])
        """Seconds, and the changes within them that cause a snapshot."""

    @property
    def databases(self) -> int:
        """How many databases there are."""
        return self.number("databases")

    def text(self, name: str) -> str:
        """Return the value of a parameter."""
        return self._values[name]

    def number(self, name: str) -> int:
        """Return the value of a parameter that is a number."""
        return int(self._values[name])

    def yes(self, name: str) -> bool:
        """Return the value of a parameter that is yes or no."""
        return self._values[name] == "yes"

    def names(self) -> list[str]:
        """Return all parameters."""
        return list(self._values)

    def set(self, name: str, words: list[str]) -> None:
        """Give a parameter a value. Raises ``UnknownParameter`` or ``BadValue``."""
        kind = PARAMETERS.get(name)
        if kind is None:
            raise UnknownParameter(name)
        self._values[name] = normalize(kind, words)
        self.changed[name] = None
        if name == "maxmemory":
            self.maxmemory = self.number(name)
        elif name == "maxmemory-policy":
            self.policy = self._values[name]
        elif name == "save":
            self.save_points = _parse_save_points(self._values[name])

    def start_in(self, folder: str) -> None:
        """The folder the program was started in, where nothing else is said."""
        self._values["dir"] = folder

    def is_immutable(self, name: str) -> bool:
        """Return whether CONFIG SET may not touch it."""
        return name in IMMUTABLE

    def read(self, text: str) -> None:
        """Take the lines of a configuration. Raises ``BadConfig``."""
        saves: list[str] = []
        for number, raw in enumerate(text.split("\n"), 1):
            line = raw.strip(" \t\r\n")
            if not line or line.startswith("#"):
                continue
            split = split_words(line.encode())
            if split is None:
                raise BadConfig(number, line, "Unbalanced quotes in configuration line")
            if split:
                self._directive(
                    number, line, [word.decode("utf-8", "surrogateescape") for word in split], saves
                )
        if saves:
            self.set("save", saves)

    def _directive(self, number: int, line: str, words: list[str], saves: list[str]) -> None:
        name, values = words[0].lower(), words[1:]
        if name == "user" and values:
            self.users.append([value.encode() for value in values])
            return
        if name == "save" and len(values) == 2:
            saves += values
            return
        if name == "save" and values == [""]:
            saves.clear()
            self.set("save", [""])
            return
        try:
            self.set(name, values)
        except UnknownParameter:
            raise BadConfig(number, line, "Bad directive or wrong number of arguments") from None
        except BadValue as bad:
            raise BadConfig(number, line, str(bad)) from None


def _parse_save_points(text: str) -> list[tuple[int, int]]:
    words = text.split()
    return [(int(seconds), int(changes)) for seconds, changes in zip(words[::2], words[1::2], strict=True)]


def normalize(kind: Kind, words: list[str]) -> str:
    """Return the text that a value is stored as. Raise ``BadValue``."""
    if kind.words:
        return " ".join(_pairs(kind, words))
    if len(words) != 1:
        raise BadValue("wrong number of arguments")
    word = words[0]
    if kind.type == "bool":
        if word.lower() not in ("yes", "no"):
            raise BadValue("argument must be 'yes' or 'no'")
        return word.lower()
    if kind.type == "enum":
        if word.lower() not in kind.choices:
            raise BadValue(f"argument(s) must be one of the following: {', '.join(kind.choices)}")
        return word.lower()
    if kind.type == "text":
        return word
    number = memory_amount(word) if kind.type == "memory" else whole(word.encode())
    if number is None:
        wanted = "a memory value" if kind.type == "memory" else "couldn't be parsed into an integer"
        raise BadValue(f"argument must be {wanted}" if kind.type == "memory" else f"argument {wanted}")
    if not kind.least <= number <= kind.most:
        raise BadValue(f"argument must be between {kind.least} and {kind.most} inclusive")
    return str(number)


def _pairs(kind: Kind, words: list[str]) -> list[str]:
    parts = " ".join(words).split()
    if kind.type == "save":
        if len(parts) % 2 or any(whole(part.encode()) is None for part in parts):
            raise BadValue("Invalid save parameters")
        if any(int(part) < (1 if at % 2 == 0 else 0) for at, part in enumerate(parts)):
            raise BadValue("Invalid save parameters")
    return parts


def memory_amount(word: str) -> int | None:
    """Bytes from ``100mb``; None when that is no amount."""
    digits = word.rstrip("bkmgBKMG")
    factor = UNITS.get(word[len(digits) :].lower())
    if factor is None or not digits.isdigit() or len(digits) > 18:
        return None
    return int(digits) * factor
