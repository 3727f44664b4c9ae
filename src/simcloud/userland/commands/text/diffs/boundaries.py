"""Shifts the boundaries of changes.

A run of changes can often slide over equal lines with the same meaning. It is moved to where it merges with another
run; else as far down as possible; else back to where the other file has a change too.
"""

from __future__ import annotations

from collections.abc import Iterator


def settle(lines: list[int], changed: bytearray, other_changed: bytearray) -> None:
    """Move runs of changes of one file: together where they can meet, else down, else to a run in the other."""
    end = len(lines)
    at = other = 0
    while True:
        while at < end and not changed[at]:
            while other_changed[other]:
                other += 1
            other += 1
            at += 1
        if at == end:
            return
        start = at
        while changed[at]:
            at += 1
        while other_changed[other]:
            other += 1
        at, other = _settle_run(lines, changed, other_changed, start, at, other)


def _settle_run(
    lines: list[int], changed: bytearray, other_changed: bytearray, start: int, at: int, other: int
) -> tuple[int, int]:
    end = len(lines)
    while True:
        length = at - start
        while start and lines[start - 1] == lines[at - 1]:
            start, at = start - 1, at - 1
            changed[start], changed[at] = 1, 0
            while start and changed[start - 1]:
                start -= 1
            other -= 1
            while other_changed[other]:
                other -= 1
        aligned = at if other and other_changed[other - 1] else end
        while at != end and lines[start] == lines[at]:
            changed[start], changed[at] = 0, 1
            start, at = start + 1, at + 1
            while changed[at]:
                at += 1
            other += 1
            while other_changed[other]:
                aligned = at
                other += 1
        if length == at - start:
            break
    while aligned < at:
        start, at = start - 1, at - 1
        changed[start], changed[at] = 1, 0
        other -= 1
        while other_changed[other]:
            other -= 1
    return at, other


def runs(one: bytearray, two: bytearray) -> Iterator[tuple[int, int, int, int]]:
    """Each change as (line, line, deleted, inserted), both lines counted from 0."""
    i = j = 0
    while i < len(one) - 1 or j < len(two) - 1:
        if one[i] or two[j]:
            first, second = i, j
            while one[i]:
                i += 1
            while two[j]:
                j += 1
            yield first, second, i - first, j - second
        i += 1
        j += 1
