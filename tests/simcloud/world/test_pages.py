"""Pages of memory: those that were written to after a fork are found, and can be taken before they are needed."""

from __future__ import annotations

import mmap
import resource
from collections.abc import Iterator
from ctypes import addressof, c_char

import pytest

from simcloud.world.copies import Copy
from simcloud.world.pages import find_own_pages, take_pages

PAGES = 400
HOT = range(100, 300)


class Memory:
    """Some pages, and where they lie."""

    def __init__(self) -> None:
        self.data = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.data[:] = b"x" * len(self.data)

    def page(self, number: int) -> int:
        return addressof(c_char.from_buffer(self.data)) + number * mmap.PAGESIZE


def written(memory: Memory) -> list[int]:
    """Write to the hot pages; which of all pages this process then has for itself."""
    write(memory)
    return _own(memory)


def taken(memory: Memory) -> tuple[list[int], bytes, int]:
    """Take the hot pages and one that is nowhere; those that are own then, what is in them, and what a write costs."""
    take_pages([(memory.page(HOT.start), len(HOT) * mmap.PAGESIZE), (mmap.PAGESIZE, mmap.PAGESIZE)])
    own, content = _own(memory), bytes(memory.data)
    before = _touched()
    write(memory)
    return own, content, _touched() - before


def write(memory: Memory) -> None:
    for number in HOT:
        memory.data[number * mmap.PAGESIZE] = 1


def _own(memory: Memory) -> list[int]:
    runs = find_own_pages()
    return [
        number
        for number in range(PAGES)
        if any(begin <= memory.page(number) < begin + size for begin, size in runs)
    ]


def _touched() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


@pytest.fixture(scope="module")
def copied() -> Iterator[Copy[Memory]]:
    with Copy.of(Memory) as copy:
        yield copy


@pytest.mark.slow
def test_a_copy_finds_the_pages_that_it_wrote_to(copied: Copy[Memory]) -> None:
    with copied.branch() as copy:
        assert copy.call(_own) == []
        assert copy.call(written) == list(HOT)


def test_pages_that_were_taken_hold_what_they_held_and_cost_nothing_when_they_are_needed(
    copied: Copy[Memory],
) -> None:
    with copied.branch() as copy:
        own, content, touched = copy.call(taken)
    assert own == list(HOT)
    assert content == b"x" * len(content)
    assert touched < len(HOT) // 4


def test_elsewhere_than_on_linux_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_args: object, **_kwargs: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr("pathlib.Path.read_text", absent)
    assert find_own_pages() == []
    take_pages([])
