"""``--set``: values on the command line, such as ``a.b[0].c=1,d={x,y}``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from simcloud.golang import is_int64, type_name
from simcloud.helm.errors import HelmError
from simcloud.helm.goyaml import as_float

MOST_INDEX: Final = 65536
DEEPEST: Final = 30


class _End(Exception):
    """The text is over."""


class Setter:
    """Reads one text into a map. ``value_of`` makes a value of what stands after ``=``."""

    def __init__(
        self, text: str, into: dict[str, Any], value_of: Callable[[str], Any], *, json: bool = False
    ) -> None:
        self._text = text
        self._at = 0
        self._into = into
        self._value_of = value_of
        self._json = json

    def read(self) -> None:
        """Set all that the text says; raises ``HelmError``."""
        while True:
            try:
                self._key(self._into, 0)
            except _End:
                return
            if self._at >= len(self._text):
                return

    def _until(self, stops: str) -> tuple[str, str]:
        """Letters up to one of the stops, and the stop; empty at the end. A backslash takes the next as it is."""
        letters: list[str] = []
        while self._at < len(self._text):
            letter = self._text[self._at]
            self._at += 1
            if letter in stops:
                return "".join(letters), letter
            if letter == "\\" and self._at < len(self._text):
                letter = self._text[self._at]
                self._at += 1
            letters.append(letter)
        return "".join(letters), ""

    def _key(self, held: dict[str, Any], depth: int) -> None:
        if depth > DEEPEST:
            raise HelmError(
                f"value name nested level is greater than maximum supported nested level of {DEEPEST}"
            )
        name, stop = self._until(".[=,")
        if not stop:
            if not name:
                raise _End
            raise HelmError(f'key "{name}" has no value')
        if stop == ",":
            held[name] = ""
            raise HelmError(f'key "{name}" has no value (cannot end with ,)')
        if stop == "=":
            _set(held, name, self._after_equals())
        elif stop == "[":
            index = self._index()
            items = held.get(name)
            items = [] if items is None else items
            if not isinstance(items, list):
                raise HelmError(f"interface conversion: interface {{}} is {_go(items)}, not []interface {{}}")
            _set(held, name, self._item(items, index, depth))
        else:
            inner = held.get(name)
            inner = {} if inner is None else inner
            if not isinstance(inner, dict):
                raise HelmError(
                    f"unable to parse key: interface conversion: interface {{}} is {_go(inner)}, "
                    "not map[string]interface {}"
                )
            before = len(self._text) - self._at
            self._key(inner, depth + 1) if before else self._no_name(name)
            if not inner:
                raise HelmError(f'key map "{name}" has no value')
            _set(held, name, inner)

    def _no_name(self, name: str) -> None:
        raise HelmError(f'key map "{name}" has no value')

    def _index(self) -> int:
        text, stop = self._until("]")
        if not stop:
            raise HelmError("error parsing index: EOF")
        try:
            index = int(text)
        except ValueError:
            raise HelmError(f'error parsing index: strconv.Atoi: parsing "{text}": invalid syntax') from None
        if index < 0:
            raise HelmError(f"negative {index} index not allowed")
        if index > MOST_INDEX:
            raise HelmError(f"index of {index} is greater than maximum supported index of {MOST_INDEX}")
        return index

    def _item(self, items: list[Any], index: int, depth: int) -> list[Any]:
        text, stop = self._until("[.=")
        if text:
            raise HelmError(f"unexpected data at end of array index: {text}")
        if not stop:
            raise _End
        present = items[index] if index < len(items) else None
        if stop == "=":
            value = self._after_equals()
        elif stop == "[":
            value = self._item(present if isinstance(present, list) else [], self._index(), depth)
        else:
            value = present if isinstance(present, dict) else {}
            self._key(value, depth + 1)
        grown = items + [None] * (index + 1 - len(items))
        grown[index] = value
        return grown

    def _after_equals(self) -> Any:
        if self._json:
            return self._json_value()
        if self._text.startswith("{", self._at):
            self._at += 1
            return self._list()
        text, _ = self._until(",")
        return self._value_of(text)

    def _json_value(self) -> Any:
        rest = self._text[self._at :]
        for end in [len(rest), *(at for at in range(len(rest)) if rest[at] == ",")]:
            try:
                found = as_float(msgspec.json.decode(rest[:end].encode()))
            except msgspec.DecodeError:
                continue
            self._at += end + 1
            return found
        raise HelmError("")

    def _list(self) -> list[Any]:
        items: list[Any] = []
        while True:
            text, stop = self._until(",}")
            if not stop:
                raise HelmError("list must terminate with '}'")
            if stop == "}":
                if self._text.startswith(",", self._at):
                    self._at += 1
                if text or items:
                    items.append(self._value_of(text))
                return items
            items.append(self._value_of(text))


def _set(held: dict[str, Any], name: str, value: Any) -> None:
    if name:
        held[name] = value


def _go(value: Any) -> str:
    return type_name(value)


def parse_value(text: str) -> Any:
    """Parse a value as ``--set`` does: true, false, null, a whole number without leading zeros, or text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() == "null":
        return None
    if text == "0":
        return 0
    digits = text[1:] if text[:1] in ("+", "-") else text
    if digits.isascii() and digits.isdigit() and not text.startswith("0") and len(digits) < 20:
        number = int(text)
        if is_int64(number):
            return number
    return text


def set_values(
    text: str, into: dict[str, Any], value_of: Callable[[str], Any] = parse_value, *, json: bool = False
) -> None:
    """Put what a text says into a map; raises ``HelmError``."""
    Setter(text, into, value_of, json=json).read()
