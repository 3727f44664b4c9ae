"""Repairs of calls with broken quotes, where only one reading makes sense.

Three mistakes are common: unescaped quotes inside a text (`exec_shell("grep "a b" file")`), typographic quotes, and a
call that is escaped as a whole, as if inside a JSON string. A repair is tried only after plain parsing failed, and a text
that could end in two places is refused rather than guessed at: the result may be a command that changes a cluster.
"""

import re
from collections.abc import Iterator

from aiopslab.orchestrator.parsing.calls import Arguments, BadArgument, Call, read_call
from aiopslab.orchestrator.parsing.literals import Reader, Unreadable, unescape

_MAX_ENDS = 500
_MAX_TAIL_CHARS = 1000
_TYPOGRAPHIC = {'"': "“”„‟", "'": "‘’‚‛"}
_REST_OF_LINE = re.compile(r"[ \t`;.*]*+(?:\#[^\n]*+)?+(?:\n|\r|\Z|</)")


def repair_call(text: str, name: str, start: int, opening: int, end: int, error: Unreadable) -> Call:
    """Return the repaired call whose plain parsing failed with this error; raises the error if no repair works."""
    for attempt in (_repair_inner_quotes, _repair_typographic_quotes, _repair_escaped_call):
        repaired = attempt(text, name, start, opening, end, error)
        if repaired is not None:
            return repaired
    raise error


def _repair_inner_quotes(
    text: str, name: str, start: int, opening: int, end: int, error: Unreadable
) -> Call | None:
    """Let the text end at a later quote than its first: one after which the rest of the call parses."""
    quote = text[error.begins : error.begins + 1] if isinstance(error, BadArgument) else ""
    if (
        not isinstance(error, BadArgument)
        or quote not in ("'", '"')
        or text[error.begins :].startswith(quote * 3)
    ):
        return None
    if _is_closed(text, quote, error.begins + 1, end):
        return None
    uneven: list[tuple[int, Arguments, int]] = []
    for count, at in enumerate(_find_possible_ends(text, quote, error.begins + 1, end)):
        tail = _parse_tail(text, at + 1, end)
        if tail is None:
            continue
        arguments, stop = tail
        if count % 2 == 0:
            return _assemble(text, name, start, error, at, arguments, stop)
        uneven.append((at, arguments, stop))
    return _assemble(text, name, start, error, *uneven[0]) if len(uneven) == 1 else None


def _is_closed(text: str, quote: str, begin: int, end: int) -> bool:
    """Whether the first quote inside ends a word before a blank: then the text ends there, and something else is wrong."""
    first = next(_find_possible_ends(text, quote, begin, end), begin)
    before, after = text[first - 1 : first], text[first + 1 : first + 2]
    return first > begin and after.isspace() and not before.isspace() and before not in "=([{:,\\'\""


def _find_possible_ends(text: str, quote: str, begin: int, end: int) -> Iterator[int]:
    at = begin
    for _ in range(_MAX_ENDS):
        at = text.find(quote, at, end)
        if at < 0:
            return
        backslashes = at - len(text[max(begin, at - 16) : at].rstrip("\\")) - max(begin, at - 16)
        if backslashes % 2 == 0:
            yield at
        at += 1


def _parse_tail(text: str, at: int, end: int) -> tuple[Arguments, int] | None:
    """Return the arguments after a text that ended before `at`, and the call's end; None if they do not parse."""
    reader = Reader(text, at, min(end, at + _MAX_TAIL_CHARS))
    arguments = Arguments()
    try:
        if not reader.take(",") and reader.peek() != ")":
            return None
        arguments.read(reader)
    except Unreadable:
        return None
    return (arguments, reader.at) if _REST_OF_LINE.match(text, reader.at, end) else None


def _assemble(
    text: str, name: str, start: int, error: BadArgument, text_end: int, tail: Arguments, stop: int
) -> Call | None:
    quote = text[error.begins]
    written = text[error.begins + 1 : text_end].replace("\\\\" + quote, "\\" + quote)
    before = error.arguments
    try:
        before.add(error.keyword, unescape(written), error.begins)
        for value in tail.args:
            before.add(None, value, text_end)
        for keyword, value in tail.kwargs.items():
            before.add(keyword, value, text_end)
    except Unreadable:
        return None
    return Call(name, before.args, before.kwargs, start, stop)


def _repair_typographic_quotes(
    text: str, name: str, start: int, opening: int, end: int, _: Unreadable
) -> Call | None:
    """Replace every typographic quote by a straight one of the same length, so that positions stay the same."""
    straight = text[opening:end]
    for plain, curly in _TYPOGRAPHIC.items():
        for quote in curly:
            straight = straight.replace(quote, plain)
    if straight == text[opening:end]:
        return None
    text = text[:opening] + straight
    try:
        return read_call(text, name, start, opening, end)
    except Unreadable as error:
        return _repair_inner_quotes(text, name, start, opening, end, error)


def _repair_escaped_call(
    text: str, name: str, start: int, opening: int, end: int, error: Unreadable
) -> Call | None:
    r"""Parse `exec_shell(\"ls\")`: remove one layer of escapes up to the end of the call."""
    if not isinstance(error, BadArgument) or not text.startswith(('\\"', "\\'"), error.begins):
        return None
    try:
        call = read_call(unescape(text[opening:end]), name, 0, 0, end)
    except Unreadable:
        return None
    return Call(name, call.args, call.kwargs, start, _find_escaped_stop(text, opening, call.stop, end))


def _find_escaped_stop(text: str, opening: int, plain_chars: int, end: int) -> int:
    """Return where a call ends in the escaped text: the first `)` after the call's length without escapes."""
    found = text.find(")", opening + plain_chars - 1, end)
    return end if found < 0 else found + 1
