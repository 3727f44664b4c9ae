"""Finds everything in a response that looks like a call, and its place.

The work on one response is limited by counts: a response may be written to be slow to parse, and repairs are the most
expensive part. At the limit, the search ends with what it has found.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from aiopslab.orchestrator.parsing.calls import Call, read_call
from aiopslab.orchestrator.parsing.literals import Unreadable
from aiopslab.orchestrator.parsing.places import (
    Block,
    Candidate,
    Place,
    find_candidate,
    find_fence,
    find_later_ends,
    find_place,
    find_tags,
    is_end_of_sentence,
)
from aiopslab.orchestrator.parsing.repairs import repair_call
from aiopslab.orchestrator.parsing.tool_calls import (
    parse_json_calls,
    parse_json_in_text,
    parse_react_calls,
    parse_tagged_calls,
)

_MAX_CANDIDATES = 2000
_MAX_REPAIRS = 10
_MAX_FENCES = 200
_NEVER_ACTIONS = frozenset({"print"})


@dataclass(frozen=True)
class Match:
    """A call, or the reason why an apparent call cannot be parsed."""

    place: Place
    name: str
    call: Call | None
    reason: str
    outer_start: int
    """The text before this and after `outer_end` is the call's context."""
    outer_end: int
    own_statement: bool = True


class Search:
    """The search for calls in one response."""

    def __init__(self, text: str, known: Collection[str]) -> None:
        self._text = text
        self._known = known
        self._candidates_left = _MAX_CANDIDATES
        self._repairs_left = _MAX_REPAIRS

    def find_all(self) -> Iterator[Match]:
        """Yield all matches: those in blocks first, then those outside."""
        outside = self._text
        at = 0
        for _ in range(_MAX_FENCES):
            fence = find_fence(self._text, at)
            if fence is None:
                break
            over = self._find_call_over_fence(at, fence.outer_start)
            if over is not None:
                at = over.stop
                continue
            at = fence.outer_end
            for match in self._find_in_block(self._text, fence):
                yield match
                at = max(at, match.outer_end)
            outside = _blank_range(outside, fence.outer_start, at)
        for call in parse_tagged_calls(outside):
            yield Match(Place.TAG, call.name, call, "", call.start, call.stop)
            outside = _blank_range(outside, call.start, call.stop)
        for tag in find_tags(outside):
            yield from self._find_in_block(outside, tag)
            outside = _blank_range(outside, tag.outer_start, tag.outer_end)
        yield from self._find_outside(outside)

    def _find_call_over_fence(self, start: int, fence: int) -> Call | None:
        """Return a call that begins before an apparent fence and ends after it: the fence is part of its text."""
        at = start
        while (candidate := self._find_candidate(self._text, at, start, fence)) is not None:
            at = candidate.opening + 1
            if not candidate.own_statement:
                continue
            try:
                call = read_call(
                    self._text, candidate.name, candidate.start, candidate.opening, len(self._text)
                )
            except Unreadable:
                continue
            if call.stop > fence:
                return call
            at = call.stop
        return None

    def _find_in_block(self, text: str, block: Block) -> Iterator[Match]:
        json_calls = parse_json_calls(text, block.start, block.end, self._known)
        for call in json_calls:
            yield Match(block.place, call.name, call, "", block.outer_start, block.outer_end)
        at = block.end if json_calls else block.start
        while (candidate := self._find_candidate(text, at, block.start, block.end)) is not None:
            at = candidate.opening + 1
            try:
                call = self._parse_in_block(text, block, candidate)
            except Unreadable as error:
                yield _make_broken_match(block.place, candidate, error)
                continue
            at = call.stop
            outer_end = block.outer_end if at <= block.end else _find_mark_end(text, at)
            yield Match(
                block.place, call.name, call, "", block.outer_start, outer_end, candidate.own_statement
            )

    def _parse_in_block(self, text: str, block: Block, candidate: Candidate) -> Call:
        try:
            return self._parse(text, candidate, block.end)
        except Unreadable:
            if block.place is not Place.FENCE or not self._take_repair(candidate):
                raise
            for end in find_later_ends(text, block):
                try:
                    return read_call(text, candidate.name, candidate.start, candidate.opening, end)
                except Unreadable:
                    continue
            raise

    def _find_outside(self, text: str) -> Iterator[Match]:
        plain = list(self._find_plain_calls(text))
        spans = [(match.outer_start, match.outer_end) for match in plain if match.call is not None]
        json_calls = parse_json_calls(text, 0, len(text), self._known) or parse_json_in_text(
            text, self._known
        )
        for call in (*json_calls, *parse_react_calls(text, self._known)):
            in_argument = any(start < call.start < stop for start, stop in spans)
            if not in_argument:
                yield Match(Place.LABEL, call.name, call, "", call.start, call.stop)
        yield from plain

    def _find_plain_calls(self, text: str) -> Iterator[Match]:
        at = 0
        while (candidate := self._find_candidate(text, at, 0, len(text))) is not None:
            at = candidate.opening + 1
            try:
                call = self._parse(text, candidate, len(text))
            except Unreadable as error:
                yield _make_broken_match(find_place(text, candidate.start, len(text)), candidate, error)
                continue
            at = call.stop
            place = find_place(text, call.start, call.stop)
            if place >= Place.BACKTICKS and not (
                call.args or call.kwargs or is_end_of_sentence(text, call.stop)
            ):
                continue  # "I will call submit() when I am done" does not submit
            span = _include_backticks(text, call.start, call.stop)
            yield Match(place, call.name, call, "", *span, candidate.own_statement)

    def _parse(self, text: str, candidate: Candidate, end: int) -> Call:
        where = (text, candidate.name, candidate.start, candidate.opening, end)
        try:
            return read_call(*where)
        except Unreadable as error:
            if not self._take_repair(candidate):
                raise
            return repair_call(*where, error)

    def _take_repair(self, candidate: Candidate) -> bool:
        """Use up one repair; returns whether the candidate may be repaired."""
        if (self._known and candidate.name not in self._known) or self._repairs_left <= 0:
            return False
        self._repairs_left -= 1
        return True

    def _find_candidate(self, text: str, at: int, start: int, end: int) -> Candidate | None:
        while self._candidates_left > 0:
            self._candidates_left -= 1
            candidate = find_candidate(text, at, start, end)
            if candidate is None or candidate.name not in _NEVER_ACTIONS:
                return candidate
            at = candidate.opening + 1
        return None


def _make_broken_match(place: Place, candidate: Candidate, error: Unreadable) -> Match:
    return Match(place, candidate.name, None, error.reason, 0, 0, candidate.own_statement)


def _blank_range(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _include_backticks(text: str, start: int, stop: int) -> tuple[int, int]:
    wrapped = text[max(0, start - 1) : start] == "`" == text[stop : stop + 1]
    return (start - 1, stop + 1) if wrapped else (start, stop)


def _find_mark_end(text: str, at: int) -> int:
    """Return the end of the next closing fence, or of the text."""
    for mark in ("```", "~~~"):
        found = text.find(mark, at)
        if found >= 0:
            return found + len(mark)
    return len(text)
