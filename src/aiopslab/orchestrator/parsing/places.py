"""Where in a response a call may stand, and how much its place says that it is meant.

A fenced block is meant above all; then what stands in tags such as `<tool_call>` or after `Action:`; then a call on a
line of its own; then one in backticks; last one within a sentence. What a model thinks to itself between `<think>`
tags is passed over. Everything is found by plain searches for marks, never by a pattern that could try again and
again: the time is linear in the length of the response.
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
    """How sure it is that a call is meant; the smaller the surer."""

    FENCE = 0
    TAG = 1
    LABEL = 2
    LINE = 3
    BACKTICKS = 4
    SENTENCE = 5


@dataclass(frozen=True)
class Block:
    """A stretch that its marks set apart: `text[start:end]` inside of `text[outer_start:outer_end]`."""

    place: Place
    start: int
    end: int
    outer_start: int
    outer_end: int


@dataclass(frozen=True)
class Candidate:
    """A name before a parenthesis: maybe a call."""

    name: str
    start: int
    opening: int
    own_statement: bool
    """Whether nothing but a label or an assignment stands before it on its line."""


def without_thoughts(text: str) -> str:
    """The text with what the model thought to itself blanked out, every other character at its place.

    A thought that was not closed goes on to where something begins that is no thought: a fence, a tag, `Action:`. If there
    is nothing such, the model broke off in the middle of it.
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


def next_fence(text: str, at: int) -> Block | None:
    """The first fenced block that opens at or after `at`. One left open reaches to the end."""
    opening = _next_mark(text, at)
    if opening is None:
        return None
    start, inner = opening
    closing = text.find(text[start : start + 3], inner)
    if closing < 0:
        return Block(Place.FENCE, inner, len(text), start, len(text))
    return Block(Place.FENCE, inner, closing, start, _after_run(text, closing))


def tags(text: str) -> Iterator[Block]:
    """What stands in tags that mark a call, in the order of the text. One left open reaches to the end."""
    for opening in islice(_TAG.finditer(text), _MAX_TAGS):
        closing = text.find(f"</{opening[1]}", opening.end())
        inner_end = len(text) if closing < 0 else closing
        outer_end = text.find(">", inner_end) + 1 or len(text)
        yield Block(Place.TAG, opening.end(), inner_end, opening.start(), outer_end)


def _next_mark(text: str, at: int) -> tuple[int, int] | None:
    found = [place for place in (text.find("```", at), text.find("~~~", at)) if place >= 0]
    if not found:
        return None
    return min(found), _after_run(text, min(found))


def _after_run(text: str, at: int) -> int:
    after = at
    while text[after : after + 1] == text[at]:
        after += 1
    return after


def later_ends(text: str, block: Block) -> Iterator[int]:
    """Other places where a fence may close, because its first closing mark stood inside a text."""
    mark, at = text[block.outer_start : block.outer_start + 3], block.outer_end
    for _ in range(8):
        at = text.find(mark, at)
        if at < 0:
            break
        yield at
        at += 3
    yield len(text)


def next_candidate(text: str, at: int, start: int, end: int) -> Candidate | None:
    """The first name before a parenthesis that opens at or after `at`, in the stretch from `start` to `end`."""
    while (opening := text.find("(", at, end)) >= 0:
        begin = max(start, opening - 80)
        last = text[begin:opening].rstrip(" \t")[-1:]
        named = _NAME_BEFORE.search(text[begin:opening]) if last.isalnum() or last == "_" else None
        if named:
            begin += named.start()
            return Candidate(named[2], begin, opening, _begins_statement(text, start, begin))
        at = opening + 1
    return None


def _line_before(text: str, start: int, at: int) -> str:
    begin = max(start, at - 120)
    return text[max(begin, text.rfind("\n", begin, at) + 1) : at]


def _begins_statement(text: str, start: int, at: int) -> bool:
    before = _line_before(text, start, at)
    return _STATEMENT.fullmatch(before) is not None or _LABEL.fullmatch(before) is not None


def place_of(text: str, start: int, stop: int) -> Place:
    """The place of a call that stands outside of every block."""
    before = _line_before(text, 0, start)
    if not before.strip():
        before = _label_above(text, start - len(before))
    if _LABEL.fullmatch(before):
        return Place.LABEL
    if _STATEMENT.fullmatch(before) and _AFTER_STATEMENT.match(text, stop):
        return Place.LINE
    return Place.BACKTICKS if before.endswith("`") else Place.SENTENCE


def _label_above(text: str, line_start: int) -> str:
    """The line above if it is a label alone, such as `Action:`."""
    above = _line_before(text, 0, max(0, line_start - 1)).rstrip()
    return above if _LABEL.fullmatch(above) else ""


def ends_sentence(text: str, stop: int) -> bool:
    """Whether nothing but punctuation follows on the line: a call is made there, not talked about."""
    return _AFTER_SENTENCE.match(text, stop) is not None
