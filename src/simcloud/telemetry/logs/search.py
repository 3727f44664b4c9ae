"""Search of lines by text or regular expression and time, newest or oldest first.

Expressions are untrusted and run on RE2, which takes time linear in the text. Consecutive equal lines of a stream are
folded into one, with a count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import NamedTuple

from simcloud.golang import compile_regexp
from simcloud.machine import Labels
from simcloud.telemetry.logs.store import EARLIEST_NS, LATEST_NS, LogStore, LogStream
from simcloud.telemetry.metrics.matchers import Matcher


class Found(NamedTuple):
    """A line, or the first (newest first: the last) of several equal ones."""

    time_ns: int
    number: int
    """Which of all lines it was; of lines of one time the earlier has the smaller one."""
    labels: Labels
    text: str
    times: int = 1


def search_lines(
    store: LogStore,
    namespace: str | None = None,
    *,
    text: str = "",
    pattern: str = "",
    where: Sequence[Matcher] = (),
    start_ns: int = EARLIEST_NS,
    end_ns: int = LATEST_NS,
    limit: int = 1000,
    newest_first: bool = True,
    fold: bool = False,
) -> list[Found]:
    """Return the lines of a namespace (or of all) that have the text and match the pattern, in the order of time.

    ``where`` are more conditions on labels. ``start_ns`` is included, ``end_ns`` is not. ``BadRegex`` when the
    pattern is no regular expression.
    """
    matchers = [*where] if namespace is None else [Matcher("namespace", "=", namespace), *where]
    wanted = _condition(text, pattern)
    found = [
        _lines(stream, stream.between(start_ns, end_ns), wanted, newest_first)
        for stream in store.select(matchers)
    ]
    if fold:
        found = [_fold(lines) for lines in found]
    merged = merge(*found, key=lambda line: line[:2], reverse=newest_first)
    return list(islice(merged, limit))


def _condition(text: str, pattern: str) -> Callable[[str], object]:
    matches = compile_regexp(pattern).search if pattern else None
    if matches is None:
        return lambda line: text in line
    return lambda line: text in line and matches(line)


def _lines(
    stream: LogStream, places: range, wanted: Callable[[str], object], newest_first: bool
) -> Iterator[Found]:
    times_ns, numbers, texts, labels = stream.times_ns, stream.numbers, stream.texts, stream.labels
    for index in reversed(places) if newest_first else places:
        if wanted(texts[index]):
            yield Found(times_ns[index], numbers[index], labels, texts[index])


def _fold(lines: Iterator[Found]) -> Iterator[Found]:
    kept: Found | None = None
    for line in lines:
        if kept is not None and kept.text == line.text:
            kept = kept._replace(times=kept.times + 1)
            continue
        if kept is not None:
            yield kept
        kept = line
    if kept is not None:
        yield kept
