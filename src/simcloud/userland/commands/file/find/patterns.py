"""The regular expressions of find: they match the whole path, in one of several syntaxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine.process import LimitExceeded
from simcloud.patterns import (
    Flavour,
    RegexError,
    TooMuchWorkError,
    compile_patterns,
    is_utf8_locale,
)
from simcloud.userland.commands.file.find.search import Search
from simcloud.userland.commands.text.quoting import quote_name_always

TYPES: Final[dict[str, str]] = {
    "findutils-default": "emacs", "ed": "basic", "emacs": "emacs", "gnu-awk": "extended", "grep": "basic",
    "posix-awk": "extended", "awk": "extended", "posix-basic": "basic", "posix-egrep": "extended",
    "egrep": "extended", "posix-extended": "extended", "posix-minimal-basic": "basic", "sed": "basic",
}  # fmt: skip


def whole_path_regex(search: Search, pattern: str, *, ignore_case: bool) -> Callable[[str], bool]:
    """Whether a path as a whole matches a pattern."""
    kind = TYPES.get(search.regex_type)
    if kind is None:
        known = ", ".join(f"'{name}'" for name in TYPES)
        raise search.mistake(
            f"Unknown regular expression type {quote_name_always(search.regex_type)}; valid types are {known}."
        )
    flavour: Flavour = "extended" if kind == "extended" else "basic"
    text = _basic(pattern) if kind == "emacs" else pattern
    try:
        regex = compile_patterns(
            (_bytes(text),), flavour, ignore_case=ignore_case, whole_line=True,
            utf8=is_utf8_locale(search.ctx.env), dialect="sed",
        )  # fmt: skip
    except RegexError as error:
        shown = quote_name_always(pattern)
        raise search.mistake(f"failed to compile regular expression {shown}: {error}") from None

    def matches(path: str) -> bool:
        try:
            return regex.search(_bytes(path)) is not None
        except TooMuchWorkError:
            raise LimitExceeded("limit exceeded: the regular expression takes too many steps") from None

    return matches


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _basic(pattern: str) -> str:
    """An Emacs pattern as a basic one: its ``+`` and ``?`` repeat without a backslash before them."""
    out, at = "", 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "[":
            end = pattern.find("]", at + 2 + (pattern[at + 1 : at + 2] == "^"))
            end = len(pattern) if end < 0 else end + 1
            out, at = out + pattern[at:end], end
        elif letter in "+?":
            out, at = f"{out}\\{letter}" if out else letter, at + 1
        elif letter == "\\" and pattern[at + 1 : at + 2] in ("+", "?"):
            out, at = out + pattern[at + 1], at + 2
        else:
            width = 2 if letter == "\\" else 1
            out, at = out + pattern[at : at + width], at + width
    return out
