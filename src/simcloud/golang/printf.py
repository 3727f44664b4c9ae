"""Go's ``Printf``, ``Print`` and ``Println`` for the values of objects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from simcloud.golang.formatting import sprint, syntax, type_name
from simcloud.golang.numbers import float_text
from simcloud.golang.quoting import quote

MAX_WIDTH = 10_000
"""The maximum width and precision; larger ones are cut to it."""

_VERB = re.compile(r"%([ +\-#0]*)(\*|[0-9]+)?(?:\.(\*|[0-9]*))?(.?)", re.DOTALL)


def print_text(values: Sequence[Any]) -> str:
    """``Print``: the values joined, with a space between two values that are both no text."""
    text = ""
    for place, value in enumerate(values):
        if place and not isinstance(value, str) and not isinstance(values[place - 1], str):
            text += " "
        text += sprint(value)
    return text


def println_text(values: Sequence[Any]) -> str:
    """``Println``: the values joined by spaces, and a newline."""
    return " ".join(map(sprint, values)) + "\n"


def printf(form: str, values: Sequence[Any]) -> str:
    """``Printf``: a value that does not fit its verb is reported in the text, as in Go."""
    return _Printf(values).text(form)


class _Printf:
    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)
        self._used = 0

    def text(self, form: str) -> str:
        text = _VERB.sub(self._verb, form)
        if self._used < len(self._values):
            extra = ", ".join(_describe(value) for value in self._values[self._used :])
            text += f"%!(EXTRA {extra})"
        return text

    def _verb(self, match: re.Match[str]) -> str:
        flags, width_text, precision_text, verb = match.groups()
        width = self._size(width_text)
        precision = None if precision_text is None else self._size(precision_text or "0")
        if verb == "%":
            return "%"
        if not verb:
            return "%!(NOVERB)"
        if self._used >= len(self._values):
            return f"%!{verb}(MISSING)"
        value = self._values[self._used]
        self._used += 1
        if width is not None and width < 0:
            flags, width = flags + "-", -width
        text = _format(verb, value, flags, precision)
        return _pad(text, flags, width or 0, value)

    def _size(self, text: str | None) -> int | None:
        if text is None:
            return None
        if text != "*":
            return min(int(text), MAX_WIDTH)
        if self._used >= len(self._values):
            return None
        value = self._values[self._used]
        self._used += 1
        return max(-MAX_WIDTH, min(int(value), MAX_WIDTH)) if isinstance(value, int) else None


def _describe(value: Any) -> str:
    return "<nil>" if value is None else f"{type_name(value)}={sprint(value)}"


def _format(verb: str, value: Any, flags: str, precision: int | None) -> str:
    if verb == "T":
        return type_name(value)
    if verb == "v":
        return syntax(value) if "#" in flags else _add_sign(sprint(value), value, flags)
    if isinstance(value, (list, tuple)) and verb in "sdqtfgexXc":
        return "[" + " ".join(_format(verb, item, flags, precision) for item in value) + "]"
    if isinstance(value, dict) and verb in "sdqtfgexXc":
        pairs = (
            f"{_format(verb, name, flags, precision)}:{_format(verb, value[name], flags, precision)}"
            for name in sorted(value)
        )
        return "map[" + " ".join(pairs) + "]"
    text = _basic(verb, value, flags, precision)
    return f"%!{verb}({_describe(value)})" if text is None else text


def _basic(verb: str, value: Any, flags: str, precision: int | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return sprint(value) if verb == "t" else None
    if isinstance(value, str):
        return _string(verb, value, precision)
    if isinstance(value, int):
        return _whole(verb, value, flags)
    if isinstance(value, float):
        return _float(verb, value, flags, precision)
    return None


def _string(verb: str, value: str, precision: int | None) -> str | None:
    cut = value if precision is None else value[:precision]
    if verb == "s":
        return cut
    if verb == "q":
        return quote(cut)
    if verb in ("x", "X"):
        text = cut.encode("utf-8", "surrogateescape").hex()
        return text.upper() if verb == "X" else text
    return None


def _whole(verb: str, value: int, flags: str) -> str | None:
    prefix = "#" if "#" in flags else ""
    if verb in "boxXd":
        text = format(abs(value), prefix + verb if verb != "d" else "d")
        if verb == "o" and prefix:
            text = text.replace("0o", "0")
        return _add_sign(("-" if value < 0 else "") + text, value, flags)
    if verb in "cqU":
        inside = 0 <= value <= 0x10FFFF
        char = chr(value) if inside and not 0xD800 <= value < 0xE000 else "\ufffd"
        return {"c": char, "q": quote(char, "'"), "U": f"U+{value:04X}"}[verb]
    return None


def _float(verb: str, value: float, flags: str, precision: int | None) -> str | None:
    if verb in "fFeE":
        text = format(value, f".{6 if precision is None else precision}{verb}")
    elif verb in "gG":
        text = float_text(value) if precision is None else format(value, f".{precision or 1}{verb}")
    else:
        return None
    return _add_sign(text, value, flags)


def _add_sign(text: str, value: Any, flags: str) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or text.startswith("-"):
        return text
    return "+" + text if "+" in flags else " " + text if " " in flags else text


def _pad(text: str, flags: str, width: int, value: Any) -> str:
    if len(text) >= width:
        return text
    if "-" in flags:
        return text.ljust(width)
    if "0" not in flags:
        return text.rjust(width)
    sign = text[:1] if text[:1] in "+- " and isinstance(value, (int, float)) else ""
    return sign + text[len(sign) :].rjust(width - len(sign), "0")
