"""Places in a response where a call may stand, ranked by how certain it is that a call there is intended.

A fenced block ranks first; then tags such as `<tool_call>` and the text after `Action:`; then a call on a line of its
own; then one in backticks; last one within a sentence. A model's thoughts between `<think>` tags are skipped. All places
are found by plain searches for marks, never by a pattern that backtracks: the time is linear in the response's length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

_MAX_TAGS = 200
_NAME_BEFORE = re.compile(r"((?:[^\W\d]\w*\.)*)([^\W\d]\w*)[ \t]{0,3}\Z")
_STATEMENT = re.compile(r"\s*(?:(?:>>>|\$|>|[-*+]|\d{1,3}[.)])\s+)?(?:(?:await|return|[^\W\d]\w*\s*=)\s+)*")
_LABEL = re.compile(
    r"\W{0,8}(?:final |next |my )?(?:action|api call|api|tool call|tool|function call|function|call|command|answer|response"
    r"|submission|execute|run)(?: to take| to run| \d{1,3})?\W{0,4}:\W{0,8}(?:await\s+)?",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(tool_call|tool_use|function_call|function|action|api_call|call|invoke|execute|code|tool)\b[^<>]{0,200}>", re.IGNORECASE)  # fmt: skip
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_THOUGHT_LEFT = re.compile(
    r"```|~~~|<(?:tool_call|function|invoke|action)\b|^\W{0,8}(?:next |final )?action\W{0,4}:",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_SENTENCE = re.compile(r"[`.!)*\"' \t]*+(?:\n|\Z)")
_AFTER_STATEMENT = re.compile(r"[; \t]*+(?:\#[^\n]*+)?+(?:\n|\r|\Z|`|<)")


class Place(IntEnum):
    """How certain it is that a call is intended; the smaller, the more certain."""

    FENCE = 0
    TAG = 1
    LABEL = 2
    LINE = 3
    BACKTICKS = 4
    SENTENCE = 5


@dataclass(frozen=True)
class Block:
    """A marked section: `text[start:end]` without its marks, `text[outer_start:outer_end]` with them."""

    place: Place
    start: int
    end: int
    outer_start: int
    outer_end: int


@dataclass(frozen=True)
class Candidate:
    """A name before a parenthesis, which may be a call."""

    name: str
    start: int
    opening: int
    own_statement: bool
    """Whether only a label or an assignment stands before it on its line."""


def blank_thoughts(text: str) -> str:
    """Return the text with the model's thoughts replaced by blanks, so that all other positions stay the same.

    An unclosed thought ends at the next fence, tag or `Action:`, or else at the end of the text.
    """
    last_end = 0
    kept: list[str] = []
    for ending in _THOUGHT_ENDS.finditer(text):
        beginning = _THOUGHT_BEGINS.search(text, last_end, ending.start())
        begin = beginning.start() if beginning else last_end
        kept += [text[last_end:begin], " " * (ending.end() - begin)]
        last_end = ending.end()
    if begun := _THOUGHT_BEGINS.search(text, last_end):
        left = _THOUGHT_LEFT.search(text, begun.end())
        end = left.start() if left else len(text)
        kept += [text[last_end : begun.start()], " " * (end - begun.start())]
        last_end = end
    return "".join([*kept, text[last_end:]])


def find_fence(text: str, at: int) -> Block | None:
    """Return the first fenced block that opens at or after `at`. An unclosed one reaches to the end."""
    opening = _find_mark(text, at)
    if opening is None:
        return None
    start, inner = opening
    closing = text.find(text[start : start + 3], inner)
    if closing < 0:
        return Block(Place.FENCE, inner, len(text), start, len(text))
    return Block(Place.FENCE, inner, closing, start, _skip_run(text, closing))


def find_tags(text: str) -> Iterator[Block]:
    """Yield the sections in tags that mark a call, in the order of the text. An unclosed one reaches to the end."""
    for opening in islice(_TAG.finditer(text), _MAX_TAGS):
        closing = text.find(f"</{opening[1]}", opening.end())
        inner_end = len(text) if closing < 0 else closing
        outer_end = text.find(">", inner_end) + 1 or len(text)
        yield Block(Place.TAG, opening.end(), inner_end, opening.start(), outer_end)


def _find_mark(text: str, at: int) -> tuple[int, int] | None:
    found = [place for place in (text.find("```", at), text.find("~~~", at)) if place >= 0]
    if not found:
        return None
    return min(found), _skip_run(text, min(found))


def _skip_run(text: str, at: int) -> int:
    after = at
    while text[after : after + 1] == text[at]:
        after += 1
    return after


def find_later_ends(text: str, block: Block) -> Iterator[int]:
    """Yield other positions where a fence may close, because its first closing mark may be part of a string."""
    mark, at = text[block.outer_start : block.outer_start + 3], block.outer_end
    for _ in range(8):
        at = text.find(mark, at)
        if at < 0:
            break
        yield at
        at += 3
    yield len(text)


def find_candidate(text: str, at: int, start: int, end: int) -> Candidate | None:
    """Return the first name before a parenthesis that opens at or after `at`, within `text[start:end]`."""
    while (opening := text.find("(", at, end)) >= 0:
        begin = max(start, opening - 80)
        last = text[begin:opening].rstrip(" \t")[-1:]
        named = _NAME_BEFORE.search(text[begin:opening]) if last.isalnum() or last == "_" else None
        if named:
            begin += named.start()
            return Candidate(named[2], begin, opening, _is_statement_start(text, start, begin))
        at = opening + 1
    return None


def _get_line_before(text: str, start: int, at: int) -> str:
    begin = max(start, at - 120)
    return text[max(begin, text.rfind("\n", begin, at) + 1) : at]


def _is_statement_start(text: str, start: int, at: int) -> bool:
    before = _get_line_before(text, start, at)
    return _STATEMENT.fullmatch(before) is not None or _LABEL.fullmatch(before) is not None


def find_place(text: str, start: int, stop: int) -> Place:
    """Return the place of a call outside of every block."""
    before = _get_line_before(text, 0, start)
    if not before.strip():
        before = _get_label_above(text, start - len(before))
    if _LABEL.fullmatch(before):
        return Place.LABEL
    if _STATEMENT.fullmatch(before) and _AFTER_STATEMENT.match(text, stop):
        return Place.LINE
    return Place.BACKTICKS if before.endswith("`") else Place.SENTENCE


def _get_label_above(text: str, line_start: int) -> str:
    """Return the line above if it is only a label, such as `Action:`, or else an empty string."""
    above = _get_line_before(text, 0, max(0, line_start - 1)).rstrip()
    return above if _LABEL.fullmatch(above) else ""


def is_end_of_sentence(text: str, stop: int) -> bool:
    """Whether only punctuation follows on the line: then the call is made, not talked about."""
    return _AFTER_SENTENCE.match(text, stop) is not None
