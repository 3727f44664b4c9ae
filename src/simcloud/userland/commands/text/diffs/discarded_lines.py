"""Finds the lines that diff discards before its search: they cannot match, or match too often.

A line without a counterpart in the other file is changed for certain. A line with very many counterparts (a blank
line, a brace) would mislead the search where it stands among such lines, so there it is discarded as well.
"""

from __future__ import annotations

from collections import Counter

KEEP, DROP, MAYBE = 0, 1, 2


def droppable(lines: list[int], others: list[int]) -> bytearray:
    """Verdicts on lines: those without a partner are dropped, those with too many perhaps."""
    partners = Counter(others)
    many = 5
    size = len(lines) // 64 >> 2
    while size > 0:
        many, size = many * 2, size >> 2
    verdicts = bytearray(len(lines))
    for number, line in enumerate(lines):
        count = partners[line]
        verdicts[number] = DROP if count == 0 else MAYBE if count > many else KEEP
    at = 0
    while at < len(verdicts):
        if verdicts[at] == DROP:
            at = _review_run(verdicts, at)
        else:
            verdicts[at] = KEEP
        at += 1
    return verdicts


def _review_run(verdicts: bytearray, start: int) -> int:
    """Decide on the doubtful lines of a run of droppable ones; returns the run's last line, or its start."""
    end = start
    while end < len(verdicts) and verdicts[end] != KEEP:
        end += 1
    while verdicts[end - 1] == MAYBE:
        end -= 1
        verdicts[end] = KEEP
    length = end - start
    doubtful = verdicts.count(MAYBE, start, end)
    if doubtful * 4 > length:
        for number in range(start, end):
            if verdicts[number] == MAYBE:
                verdicts[number] = KEEP
        return start
    _keep_long_subruns(verdicts, start, end)
    _keep_near_edge(verdicts, range(start, end))
    _keep_near_edge(verdicts, range(end - 1, start - 1, -1))
    return end - 1


def _keep_long_subruns(verdicts: bytearray, start: int, end: int) -> None:
    """Doubtful lines that follow each other in number are kept; how many that takes grows with the run."""
    least = 1
    size = (end - start) >> 2 >> 2
    while size > 0:
        least, size = least << 1, size >> 2
    least += 1
    at = start
    while at < end:
        stop = at
        while stop < end and verdicts[stop] == MAYBE:
            stop += 1
        if stop - at >= least:
            for number in range(at, stop):
                verdicts[number] = KEEP
        at = stop + 1


def _keep_near_edge(verdicts: bytearray, inwards: range) -> None:
    """Doubtful lines are kept up to the first three sure ones in a row, or the first sure one eight lines in."""
    in_a_row = 0
    for distance, number in enumerate(inwards):
        if distance >= 8 and verdicts[number] == DROP:
            return
        if verdicts[number] == DROP:
            in_a_row += 1
            if in_a_row == 3:
                return
        else:
            in_a_row = 0
            verdicts[number] = KEEP
