"""Functions on regular expressions, with the bounded engine of ``patterns``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.golang.template import CallError, Function
from simcloud.helm.functions.values import Strings, check_size
from simcloud.patterns import Match, Regex, RegexError, TooMuchWorkError, compile_regex

_S, _I = "string", "int"


def _compile(pattern: str) -> Regex:
    try:
        return compile_regex(pattern.encode("utf-8", "surrogateescape"), "perl")
    except RegexError as error:
        raise CallError(f"error parsing regexp: {error}: `{pattern}`") from None


def _matches(pattern: str, text: str, most: int = -1) -> Iterator[Match]:
    regex = _compile(pattern)
    packed = text.encode("utf-8", "surrogateescape")
    at, found, last = 0, 0, -1
    while at <= len(packed) and found != most:
        try:
            match = regex.search(packed, at)
        except TooMuchWorkError as error:
            raise CallError(str(error)) from None
        if match is None:
            return
        start, end = match.span()
        at = end if end > start else end + 1
        if start == end == last:
            continue
        last = end
        found += 1
        check_size(found)
        yield match


def _text(packed: bytes | None) -> str:
    return (packed or b"").decode("utf-8", "surrogateescape")


def _match(pattern: str, text: str) -> bool:
    return next(_matches(pattern, text, 1), None) is not None


def _find(pattern: str, text: str) -> str:
    found = next(_matches(pattern, text, 1), None)
    return _text(found.group()) if found else ""


def _find_all(pattern: str, text: str, most: int) -> Strings:
    return Strings(_text(found.group()) for found in _matches(pattern, text, most))


def _replace_all(pattern: str, text: str, new: str, literal: bool) -> str:
    packed = text.encode("utf-8", "surrogateescape")
    parts: list[bytes] = []
    at = 0
    for found in _matches(pattern, text):
        start, end = found.span()
        parts += [packed[at:start], new.encode() if literal else _expand(new, found)]
        at = end
        check_size(sum(map(len, parts[-2:])) * len(parts))
    return _text(b"".join([*parts, packed[at:]]))


def _expand(new: str, found: Match) -> bytes:
    def group(name: re.Match[str]) -> str:
        if name[0] == "$$":
            return "$"
        word = name[1] or name[2]
        try:
            return _text(found.group(int(word))) if word.isdigit() else ""
        except IndexError:
            return ""

    return re.sub(r"\$\$|\$\{(\w+)\}|\$(\w+)", group, new).encode("utf-8", "surrogateescape")


def _split(pattern: str, text: str, most: int) -> Strings:
    if most == 0:
        return Strings()
    packed = text.encode("utf-8", "surrogateescape")
    parts, at = Strings(), 0
    for found in _matches(pattern, text):
        if 0 < most <= len(parts) + 1:
            break
        start, end = found.span()
        if end == 0:
            continue
        parts.append(_text(packed[at:start]))
        at = end
    parts.append(_text(packed[at:]))
    return parts


_PLAIN: dict[str, Function] = {
    "regexMatch": Function(_match, 2, 2, (_S, _S)),
    "regexFind": Function(_find, 2, 2, (_S, _S)),
    "regexFindAll": Function(_find_all, 3, 3, (_S, _S, _I)),
    "regexReplaceAll": Function(lambda p, t, new: _replace_all(p, t, new, False), 3, 3, (_S, _S, _S)),
    "regexReplaceAllLiteral": Function(lambda p, t, new: _replace_all(p, t, new, True), 3, 3, (_S, _S, _S)),
    "regexSplit": Function(_split, 3, 3, (_S, _S, _I)),
}


def _match_or_not(pattern: str, text: str) -> bool:
    try:
        return _match(pattern, text)
    except CallError:
        return False


REGEXES: dict[str, Function] = {
    **_PLAIN,
    "regexMatch": Function(_match_or_not, 2, 2, (_S, _S)),
    **{f"must{name[0].upper()}{name[1:]}": function for name, function in _PLAIN.items()},
    "regexQuoteMeta": Function(lambda text: re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text), 1, 1, (_S,)),
}
