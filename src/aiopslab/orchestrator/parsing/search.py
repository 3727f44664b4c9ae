"""Everything in a response that looks like a call, with how sure its place makes it.

The work on one response is counted: a response may be written to be slow to read, and repairs are the dearest part.
When the counts are used up, what has been found stands.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from aiopslab.orchestrator.parsing.calls import Call, read_call
from aiopslab.orchestrator.parsing.literals import Unreadable
from aiopslab.orchestrator.parsing.places import (
    Block,
    Candidate,
    Place,
    ends_sentence,
    later_ends,
    next_candidate,
    next_fence,
    place_of,
    tags,
)
from aiopslab.orchestrator.parsing.repairs import read_repaired
from aiopslab.orchestrator.parsing.tool_calls import in_json, in_named_tags, in_react, within_text

_MAX_CANDIDATES = 2000
_MAX_REPAIRS = 10
_MAX_FENCES = 200
_NEVER_ACTIONS = frozenset({"print"})


@dataclass(frozen=True)
class Found:
    """A call, or why there is none where one seemed to be."""

    place: Place
    name: str
    call: Call | None
    reason: str
    outer_start: int
    """What stands before this and after `outer_end` is the call's context."""
    outer_end: int
    own_statement: bool = True


class Search:
    """One look through one response."""

    def __init__(self, text: str, known: Collection[str]) -> None:
        self._text = text
        self._known = known
        self._candidates_left = _MAX_CANDIDATES
        self._repairs_left = _MAX_REPAIRS

    def found(self) -> Iterator[Found]:
        """Blocks first, then what stands outside of them."""
        outside = self._text
        at = 0
        for _ in range(_MAX_FENCES):
            fence = next_fence(self._text, at)
            if fence is None:
                break
            over = self._reaching_over(at, fence.outer_start)
            if over is not None:
                at = over.stop
                continue
            at = fence.outer_end
            for item in self._in_block(self._text, fence):
                yield item
                at = max(at, item.outer_end)
            outside = _blanked(outside, fence.outer_start, at)
        for call in in_named_tags(outside):
            yield Found(Place.TAG, call.name, call, "", call.start, call.stop)
            outside = _blanked(outside, call.start, call.stop)
        for tag in tags(outside):
            yield from self._in_block(outside, tag)
            outside = _blanked(outside, tag.outer_start, tag.outer_end)
        yield from self._outside(outside)

    def _reaching_over(self, start: int, fence: int) -> Call | None:
        """A call that begins before what looks like a fence and ends after it: the marks stand in its text."""
        at = start
        while (candidate := self._next(self._text, at, start, fence)) is not None:
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

    def _in_block(self, text: str, block: Block) -> Iterator[Found]:
        as_data = in_json(text, block.start, block.end, self._known)
        for call in as_data:
            yield Found(block.place, call.name, call, "", block.outer_start, block.outer_end)
        at = block.end if as_data else block.start
        while (candidate := self._next(text, at, block.start, block.end)) is not None:
            at = candidate.opening + 1
            try:
                call = self._read_in_block(text, block, candidate)
            except Unreadable as error:
                yield _broken(block.place, candidate, error)
                continue
            at = call.stop
            outer_end = block.outer_end if at <= block.end else _after_mark(text, at)
            yield Found(
                block.place, call.name, call, "", block.outer_start, outer_end, candidate.own_statement
            )

    def _read_in_block(self, text: str, block: Block, candidate: Candidate) -> Call:
        try:
            return self._read(text, candidate, block.end)
        except Unreadable:
            if block.place is not Place.FENCE or not self._may_repair(candidate):
                raise
            for end in later_ends(text, block):
                try:
                    return read_call(text, candidate.name, candidate.start, candidate.opening, end)
                except Unreadable:
                    continue
            raise

    def _outside(self, text: str) -> Iterator[Found]:
        written = list(self._written(text))
        spans = [(item.outer_start, item.outer_end) for item in written if item.call is not None]
        whole = in_json(text, 0, len(text), self._known)
        for call in (*(whole or within_text(text, self._known)), *in_react(text, self._known)):
            if not any(
                start < call.start < stop for start, stop in spans
            ):  # else it stands in a command's text
                yield Found(Place.LABEL, call.name, call, "", call.start, call.stop)
        yield from written

    def _written(self, text: str) -> Iterator[Found]:
        at = 0
        while (candidate := self._next(text, at, 0, len(text))) is not None:
            at = candidate.opening + 1
            try:
                call = self._read(text, candidate, len(text))
            except Unreadable as error:
                yield _broken(place_of(text, candidate.start, len(text)), candidate, error)
                continue
            at = call.stop
            place = place_of(text, call.start, call.stop)
            if place >= Place.BACKTICKS and not (call.args or call.kwargs or ends_sentence(text, call.stop)):
                continue  # "I will call submit() when I am done" does not submit
            span = _with_backticks(text, call.start, call.stop)
            yield Found(place, call.name, call, "", *span, candidate.own_statement)

    def _read(self, text: str, candidate: Candidate, end: int) -> Call:
        where = (text, candidate.name, candidate.start, candidate.opening, end)
        try:
            return read_call(*where)
        except Unreadable as error:
            if not self._may_repair(candidate):
                raise
            return read_repaired(*where, error)

    def _may_repair(self, candidate: Candidate) -> bool:
        if (self._known and candidate.name not in self._known) or self._repairs_left <= 0:
            return False
        self._repairs_left -= 1
        return True

    def _next(self, text: str, at: int, start: int, end: int) -> Candidate | None:
        while self._candidates_left > 0:
            self._candidates_left -= 1
            candidate = next_candidate(text, at, start, end)
            if candidate is None or candidate.name not in _NEVER_ACTIONS:
                return candidate
            at = candidate.opening + 1
        return None


def _broken(place: Place, candidate: Candidate, error: Unreadable) -> Found:
    return Found(place, candidate.name, None, error.reason, 0, 0, candidate.own_statement)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _with_backticks(text: str, start: int, stop: int) -> tuple[int, int]:
    wrapped = text[max(0, start - 1) : start] == "`" == text[stop : stop + 1]
    return (start - 1, stop + 1) if wrapped else (start, stop)


def _after_mark(text: str, at: int) -> int:
    """The end of the next closing fence, or of the text."""
    for mark in ("```", "~~~"):
        found = text.find(mark, at)
        if found >= 0:
            return found + len(mark)
    return len(text)
