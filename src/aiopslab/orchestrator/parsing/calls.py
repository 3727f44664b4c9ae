"""One call and its arguments, parsed as strictly as models' output allows."""

import re
from dataclasses import dataclass, field
from typing import Any

from aiopslab.orchestrator.parsing.literals import Reader, Unreadable

_KEYWORD = re.compile(r"([^\W\d]\w{0,63})\s*(?:=(?!=)|:)")


@dataclass(frozen=True)
class Call:
    """A call, and its position: `text[start:stop]`."""

    name: str
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)
    start: int = 0
    stop: int = 0

    def is_same_as(self, other: "Call") -> bool:
        """Whether both calls are the same; 1, 1.0 and True are different arguments."""
        mine, theirs = ((call.name, call.args, sorted(call.kwargs.items())) for call in (self, other))
        return repr(mine) == repr(theirs)


class BadArgument(Unreadable):
    """An argument cannot be parsed; `begins` is where it starts, `arguments` holds those before it."""

    def __init__(self, error: Unreadable, begins: int, arguments: "Arguments", keyword: str | None) -> None:
        super().__init__(error.reason, error.at)
        self.begins = begins
        self.arguments = arguments
        self.keyword = keyword


class Arguments:
    """The arguments of one call, in the order written."""

    def __init__(self) -> None:
        self.args: list[Any] = []
        self.kwargs: dict[str, Any] = {}

    def add(self, keyword: str | None, value: Any, at: int) -> None:
        if keyword is None and self.kwargs:
            raise Unreadable("a positional argument follows a keyword argument", at)
        if keyword is None:
            self.args.append(value)
        elif keyword in self.kwargs:
            raise Unreadable(f"{keyword} is given twice", at)
        else:
            self.kwargs[keyword] = value

    def read(self, reader: Reader) -> None:
        """Read up to and including the call's closing parenthesis."""
        reader.read_items(")", lambda: self._read_argument(reader))

    def _read_argument(self, reader: Reader) -> None:
        reader.skip_blank()
        named = _KEYWORD.match(reader.text, reader.at, reader.end)
        keyword = named[1] if named else None
        if named:
            reader.at = named.end()
        reader.skip_blank()
        begins = reader.at
        try:
            value = reader.read_value()
            if not reader.peek():
                raise Unreadable("its closing ) is missing", reader.at)
            if reader.peek() not in (",", ")"):
                raise Unreadable(
                    "a comma or ) is missing, or quotes inside the text are not escaped", reader.at
                )
        except Unreadable as error:
            raise BadArgument(error, begins, self, keyword) from None
        self.add(keyword, value, begins)


def read_call(text: str, name: str, start: int, opening: int, end: int) -> Call:
    """Parse the call whose name starts at `start` and whose parenthesis opens at `opening`; raises `Unreadable`."""
    reader = Reader(text, opening + 1, end)
    arguments = Arguments()
    arguments.read(reader)
    return Call(name, arguments.args, arguments.kwargs, start, reader.at)
