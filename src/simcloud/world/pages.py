"""Pages of memory that a process has for itself, and how it comes to have them before it needs them.

After a fork every page is shared, and the first write to one makes the system copy it: some four microseconds each, and a
session's first look at its world writes to thousands of them, if only to count references. Which ones is known from another copy
that has looked. Taking a page changes nothing that is in it.

This is Linux's own (5.14 and later). Elsewhere no page is found and none is taken: all works as before, and takes longer.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from ctypes import CDLL, c_int, c_size_t, c_void_p
from mmap import PAGESIZE
from pathlib import Path
from typing import Final

Run = tuple[int, int]
"""Where pages that lie side by side begin, and how many bytes they are."""

POPULATE_WRITE: Final = 23
"""``MADV_POPULATE_WRITE``, which Python does not name: as if each page had been written to, in one call."""
OURS_ALONE: Final = 1 << 63 | 1 << 56
"""The page is in memory, and mapped by nobody else; see the kernel's documentation of ``pagemap``."""
ENTRY_BYTES: Final = 8
MOST_RUNS: Final = 10_000


def own_pages() -> list[Run]:
    """The pages that this process has written to since it was forked, and few others."""
    try:
        return list(_runs(_own_pages(Path("/proc/self/maps").read_text())))[:MOST_RUNS]
    except OSError:
        return []


def take_pages(runs: Sequence[Run]) -> None:
    """Have these pages for this process alone; those that are not there are left out."""
    if not runs:
        return
    advise = CDLL(None).madvise
    advise.argtypes = (c_void_p, c_size_t, c_int)
    for begin, size in runs:
        advise(begin, size, POPULATE_WRITE)


def _own_pages(mapped: str) -> Iterator[int]:
    """Where each begins, upwards."""
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        for line in mapped.splitlines():
            span, mode, *_ = line.split()
            if mode != "rw-p":
                continue
            begin, end = (int(address, 16) for address in span.split("-"))
            pagemap.seek(begin // PAGESIZE * ENTRY_BYTES)
            entries = array("Q", pagemap.read((end - begin) // PAGESIZE * ENTRY_BYTES))
            for number, entry in enumerate(entries):
                if entry & OURS_ALONE == OURS_ALONE:
                    yield begin + number * PAGESIZE


def _runs(pages: Iterator[int]) -> Iterator[Run]:
    """What lies side by side, as one. A single page between two is taken along: it costs less than another call."""
    begin = end = 0
    for page in pages:
        if page > end + PAGESIZE:
            if end:
                yield begin, end - begin
            begin = page
        end = page + PAGESIZE
    if end:
        yield begin, end - begin
