"""Copy pages of memory in advance, before a forked process writes to them.

After a fork every page is shared, and the first write to a page makes the system copy it: about four microseconds each. A
session's first action writes to thousands of them, if only to count references. Another copy that has done the same action
shows which pages these are. Taking a page does not change its content.

This needs Linux 5.14 or later. Elsewhere no page is found and none is taken, and copies are slower at first.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from ctypes import CDLL, c_int, c_size_t, c_void_p
from mmap import PAGESIZE
from pathlib import Path
from typing import Final

Run = tuple[int, int]
"""The start address and the size in bytes of adjacent pages."""

POPULATE_WRITE: Final = 23
"""``MADV_POPULATE_WRITE``, which Python's ``mmap`` lacks: prefault pages as if they were written to."""
EXCLUSIVE: Final = 1 << 63 | 1 << 56
"""Flags of a page that is present and mapped by this process only; see the kernel's documentation of ``pagemap``."""
ENTRY_BYTES: Final = 8
MAX_RUNS: Final = 10_000


def find_own_pages() -> list[Run]:
    """Return the pages that this process has written to since it was forked, and a few others."""
    try:
        return list(_join_pages(_read_own_pages(Path("/proc/self/maps").read_text())))[:MAX_RUNS]
    except OSError:
        return []


def take_pages(runs: Sequence[Run]) -> None:
    """Give this process its own copies of these pages; pages that do not exist are skipped."""
    if not runs:
        return
    advise = CDLL(None).madvise
    advise.argtypes = (c_void_p, c_size_t, c_int)
    for begin, size in runs:
        advise(begin, size, POPULATE_WRITE)


def _read_own_pages(mapped: str) -> Iterator[int]:
    """Yield the addresses of exclusive pages in ascending order."""
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        for line in mapped.splitlines():
            span, mode, *_ = line.split()
            if mode != "rw-p":
                continue
            begin, end = (int(address, 16) for address in span.split("-"))
            pagemap.seek(begin // PAGESIZE * ENTRY_BYTES)
            entries = array("Q", pagemap.read((end - begin) // PAGESIZE * ENTRY_BYTES))
            for number, entry in enumerate(entries):
                if entry & EXCLUSIVE == EXCLUSIVE:
                    yield begin + number * PAGESIZE


def _join_pages(pages: Iterator[int]) -> Iterator[Run]:
    """Join adjacent pages. A gap of one page is included, because that is cheaper than another system call."""
    begin = end = 0
    for page in pages:
        if page > end + PAGESIZE:
            if end:
                yield begin, end - begin
            begin = page
        end = page + PAGESIZE
    if end:
        yield begin, end - begin
