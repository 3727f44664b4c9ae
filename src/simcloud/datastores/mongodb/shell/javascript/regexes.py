"""JavaScript's regular expressions, run by the bounded engine of ``simcloud.patterns``.

The syntax is translated where it differs from Perl's: end of text, empty classes, code points.
"""

from __future__ import annotations

import re

from simcloud.datastores.mongodb.shell.javascript.engine import Engine
from simcloud.datastores.mongodb.shell.javascript.values import JsObject
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex, meter_search

_PART = re.compile(
    r"\\u\{(?P<long>[0-9a-fA-F]+)\}|\\u(?P<short>[0-9a-fA-F]{4})|\\(?P<escaped>.)"
    r"|(?P<anything>\[\^\])|(?P<nothing>\[\])|(?P<set>\[\^?)|\(\?<(?P<name>[A-Za-z_$][\w$]*)>"
    r"|(?P<group>\((?!\?))|(?P<end>\$)",
    re.DOTALL,
)
_FLAGS = "dgimsuy"


class Found:
    """A match: the positions of its groups in the text, in characters."""

    __slots__ = ("spans", "text")

    def __init__(self, text: str, spans: list[tuple[int, int]]) -> None:
        self.text = text
        self.spans = spans

    def group(self, index: int) -> str | None:
        """Return a group's text; None when it took no part."""
        start, end = self.spans[index]
        return self.text[start:end] if start >= 0 else None


class JsRegExp(JsObject):
    """A regular expression."""

    __slots__ = ("_search", "count", "flags", "group_names", "pattern")

    class_name = "RegExp"

    def __init__(self, engine: Engine, pattern: str, flags: str) -> None:
        super().__init__(engine.prototypes["RegExp"])
        self.pattern = pattern
        self.flags = "".join(sorted(flags))
        if any(letter not in _FLAGS for letter in flags) or len(set(flags)) < len(flags):
            raise engine.error("SyntaxError", _bad_flags(engine, pattern, flags))
        rewritten, self.count, self.group_names = _rewritten(pattern, flags)
        try:
            compiled = compile_regex(rewritten.encode(), "perl", ignore_case="i" in flags)
        except RegexError as error:
            raise engine.error(
                "SyntaxError", engine.messages.bad_regex(pattern, flags, _why(str(error)))
            ) from None
        self._search = meter_search(compiled, engine.host.spend_turn)
        self.hide("lastIndex", 0.0)

    def search(self, engine: Engine, text: str, start: int) -> Found | None:
        """Return the first match from a place on."""
        line = text.encode()
        engine.work(len(line))
        plain = len(line) == len(text)
        try:
            match = self._search(line, start if plain else len(text[:start].encode()))
        except TooMuchWorkError:
            raise engine.error("InternalError", "too much recursion") from None
        if match is None:
            return None
        spans = [match.span(index) for index in range(self.count + 1)]
        if not plain:
            spans = [
                (len(line[:a].decode(errors="replace")), len(line[:b].decode(errors="replace")))
                if a >= 0
                else (-1, -1)
                for a, b in spans
            ]
        return Found(text, spans)


def _bad_flags(engine: Engine, pattern: str, flags: str) -> str:
    if engine.messages.is_v8:
        return f"Invalid flags supplied to RegExp constructor '{flags}'"
    return (
        f"invalid regular expression flag {next((each for each in flags if each not in _FLAGS), flags[:1])}"
    )


def _why(message: str) -> str:
    return {
        "missing closing parenthesis": "unterminated parenthetical",
        "unmatched closing parenthesis": "unmatched ) in regular expression",
        "quantifier does not follow a repeatable item": "nothing to repeat",
        "missing terminating ] for character class": "unterminated character class",
    }.get(message, message)


def _rewritten(pattern: str, flags: str) -> tuple[str, int, list[tuple[str, int]]]:
    """Return the pattern in Perl's syntax, how many groups it has, and the names of some."""
    groups = 0
    names: list[tuple[str, int]] = []
    pieces: list[str] = []
    inside = False
    at = 0
    while at < len(pattern):
        match = _PART.match(pattern, at)
        if match is None or (inside and match.lastgroup not in ("long", "short", "escaped")):
            inside = inside and pattern[at] != "]"
            pieces.append(pattern[at])
            at += 1
            continue
        kind = match.lastgroup
        if kind == "set":
            inside = True
        if kind in ("group", "name"):
            groups += 1
        if kind == "name":
            names.append((match["name"], groups))
        pieces.append(_piece(match, flags))
        at = match.end()
    inline = "".join(letter for letter in "ms" if letter in flags)
    return (f"(?{inline})" if inline else "") + "".join(pieces), groups, names


def _piece(match: re.Match[str], flags: str) -> str:
    match match.lastgroup:
        case "long" | "short":
            return f"\\x{{{match['long'] or match['short']}}}"
        case "anything":
            return r"[\s\S]"
        case "nothing":
            return "(?!)"
        case "end":
            return "$" if "m" in flags else r"\z"
        case "escaped":
            character = match["escaped"]
            return (
                f"\\{character}"
                if not character.isalpha() or character in "bBdDwWsSnrtfvxkpPu"
                else character
            )
    return match[0]
