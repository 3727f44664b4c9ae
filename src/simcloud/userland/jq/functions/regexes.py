"""Regular expressions: ``test``, ``match`` and the functions built on them.

Matching uses the Perl flavour of our engine; jq's own library (Oniguruma) has nearly the same syntax. Errors have its
messages where ours mean the same.
"""

from __future__ import annotations

import re

from simcloud.patterns import Match, Regex, RegexError, TooMuchWorkError, compile_regex
from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.registry import native, refuse
from simcloud.userland.jq.run import Run, too_much
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.values import kind_of

_GROUP = re.compile(
    r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\((?:\?P?<(?P<name>[A-Za-z_]\w*)>|(?P<other>[?*]))?",
    re.DOTALL,
)
_PART = re.compile(r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|.", re.DOTALL)
_CLASSES = {
    "\\w": r"\p{L}\p{M}\p{N}\p{Pc}",
    "\\d": r"\p{Nd}",
    "[:alpha:]": r"\p{L}\p{M}",
    "[:alnum:]": r"\p{L}\p{M}\p{Nd}",
    "[:upper:]": r"\p{Lu}",
    "[:lower:]": r"\p{Ll}",
    "[:digit:]": r"\p{Nd}",
    "[:word:]": r"\p{L}\p{M}\p{N}\p{Pc}",
}
_CONTEXT = re.compile(r"\^|\\[AbBGK]|\(\?<[=!]")
_WORDS = {
    "missing closing parenthesis": "end pattern with unmatched parenthesis",
    "unmatched closing parenthesis": "unmatched close parenthesis",
    "\\ at end of pattern": "end pattern at escape",
    "missing terminating ] for character class": "premature end of char-class",
    "quantifier does not follow a repeatable item": "target of repeat operator is not specified",
    "numbers out of order in {} quantifier": "upper is smaller than lower in repeat range",
    "number too big in {} quantifier": "too big number for repeat range",
    "range out of order in character class": "empty range in char class",
    "unknown POSIX class name": "invalid POSIX bracket type",
    "unrecognized character after (? or (?-": "undefined group option",
    "reference to non-existent subpattern": "invalid backref number/name",
    "subpattern name expected": "group name is empty",
    "malformed \\P or \\p sequence": "invalid character property name {}",
}
BYTES_PER_STEP = 256


@native("_match_impl", 3)
def match_impl(run: Run, value: Value, pattern: Value, flags: Value, testing: Value) -> Value:
    """Return the matches according to the flags, or whether there is one."""
    if type(value) is not str:
        refuse(value, "cannot be matched, as it is not a string")
    if type(pattern) is not str:
        refuse(pattern, "is not a string")
    chosen = _flags(flags)
    regex = _compile(pattern, chosen, value)
    line = value.encode()
    if testing is True:
        return _search(run, regex, line, 0, "n" in chosen) is not None
    return _matches(run, regex, line, _group_names(pattern), chosen)


@native("test", 2)
def test(run: Run, value: Value, pattern: Value, flags: Value) -> Value:
    """Whether the text matches."""
    return match_impl(run, value, pattern, flags, True)


@native("test", 1)
def test_default(run: Run, value: Value, pattern: Value) -> Value:
    """Whether the text matches; pattern and flags may come in an array."""
    return match_impl(run, value, *pattern_and_flags(pattern), True)


@native("_match", 1)
def match_default(run: Run, value: Value, pattern: Value) -> Value:
    """All matches; pattern and flags may come in an array."""
    return match_impl(run, value, *pattern_and_flags(pattern), False)


def pattern_and_flags(value: Value) -> tuple[Value, Value]:
    """``"pattern"`` or ``["pattern", "flags"]``."""
    if type(value) is str:
        return value, None
    if type(value) is list and value:
        return value[0], value[1] if len(value) > 1 else None
    raise JqError(f"{kind_of(value)} not a string or array")


def _flags(flags: Value) -> str:
    if flags is None:
        return ""
    if type(flags) is not str:
        refuse(flags, "is not a string")
    if not set(flags) <= set("gixsnpl"):
        raise JqError(f"{flags} is not a valid modifier string")
    return flags


def _compile(pattern: str, flags: str, subject: str) -> Regex:
    inline = ("x" if "x" in flags else "") + ("s" if "p" in flags else "")
    text = f"(?{inline})" if inline else ""
    text += _rewritten(pattern, subject)
    try:
        return compile_regex(text.encode(), "perl", ignore_case="i" in flags)
    except RegexError as error:
        message = str(error)
        raise JqError(f"Regex failure: {_WORDS.get(message) or _about_name(pattern, message)}") from None


def _about_name(pattern: str, message: str) -> str:
    name = re.search(r"\(\?P?<([^>)]*)", pattern)
    return f"invalid group name <{name[1]}>" if name and "subpattern name" in message else message


def _rewritten(pattern: str, subject: str) -> str:
    """The pattern, put so that it means for this subject what it means to Oniguruma.

    There ``$`` also matches before a last newline, and ``\\w`` and its kin know all of Unicode.
    """
    if subject.endswith("\n") and "(?m" not in pattern:
        pattern = _PART.sub(lambda part: "\\Z" if part.group() == "$" else part.group(), pattern)
    if not subject.isascii():
        pattern = _PART.sub(lambda part: _unicode(part.group()), pattern)
    return pattern


def _unicode(part: str) -> str:
    if part in _CLASSES:
        return f"[{_CLASSES[part]}]"
    if part[0] == "[":
        for name, members in _CLASSES.items():
            part = part.replace(name, members)
    return part.replace("\\W", f"[^{_CLASSES[chr(92) + 'w']}]") if part == "\\W" else part


def _search(run: Run, regex: Regex, line: bytes, start: int, not_empty: bool) -> Match | None:
    while True:
        before = regex.steps
        try:
            found = regex.search(line, start)
        except TooMuchWorkError:
            raise too_much("one search took too many steps") from None
        passed = (len(line) if found is None else found.span()[1]) - start
        run.spend(1 + passed // BYTES_PER_STEP + (regex.steps - before) // 4)
        if found is None or not not_empty or found.span()[0] != found.span()[1]:
            return found
        start = found.span()[1] + 1
        if start > len(line):
            return None


def _matches(run: Run, regex: Regex, line: bytes, names: list[str | None], flags: str) -> list[Value]:
    found: list[Value] = []
    start = 0
    places = _Places(line)
    while True:
        match = _search(run, regex, line, start, "n" in flags)
        if match is None:
            return found
        begin, end = match.span()
        run.spend_bytes(end - begin + 200)
        if begin == end:
            found.append(places.part(begin, end) | {"captures": []})
            start += _width(line, start)
        else:
            part = places.part(begin, end)
            captures = [_capture(places, match, group, names) for group in range(1, regex.groups + 1)]
            found.append(part | {"captures": captures})
            start = end
        if "g" not in flags or start >= len(line):
            return found


def _width(line: bytes, place: int) -> int:
    """The bytes of the character at a place."""
    width = 1
    while place + width < len(line) and line[place + width] & 0xC0 == 0x80:
        width += 1
    return width


class _Places:
    """Positions in a line, counted in characters, continued from the match before."""

    def __init__(self, line: bytes) -> None:
        self._line = line
        self._ascii = line.isascii()
        self._byte = self._character = 0

    def part(self, begin: int, end: int) -> dict[str, Value]:
        """Return the object that describes a match or a group."""
        text = self._line[begin:end].decode()
        return {"offset": self.offset(begin), "length": float(len(text)), "string": text}

    def offset(self, place: int) -> float:
        """Return the number of characters before a place."""
        if self._ascii:
            return float(place)
        if place < self._byte:
            self._byte = self._character = 0
        self._character += len(self._line[self._byte : place].decode())
        self._byte = place
        return float(self._character)


def _capture(places: _Places, match: Match, group: int, names: list[str | None]) -> Value:
    begin, end = match.span(group)
    name = names[group - 1] if group <= len(names) else None
    if begin == end:
        text = None if begin < 0 else ""
        offset = -1.0 if begin < 0 else places.offset(begin)
        return {"offset": offset, "string": text, "length": 0.0, "name": name}
    return places.part(begin, end) | {"name": name}


@native("_stands_alone", 0)
def stands_alone(_: Run, pattern: Value) -> Value:
    """Whether a pattern matches the same wherever the text before is cut off."""
    return type(pattern) is str and not _CONTEXT.search(pattern)


def _group_names(pattern: str) -> list[str | None]:
    """The name of each group that captures, by number from 1; nothing for one without."""
    return [
        group["name"]
        for group in _GROUP.finditer(pattern)
        if group.group().startswith("(") and not group["other"]
    ]
