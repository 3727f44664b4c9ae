"""Memcached's memory: pages of 1 MB, each cut into chunks of one size.

An item takes a chunk of the smallest class it fits in. A class gets pages up to the limit (``-m``); then its
least recently used item is evicted. So a cache full of small items has no room for large ones, and memory is
never given back. Items larger than half a page take several chunks.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Final

PAGE_BYTES: Final = 1 << 20
CHUNK_MAX_BYTES: Final = PAGE_BYTES // 2
HEADER_BYTES: Final = 48
CAS_BYTES: Final = 8
FLAGS_BYTES: Final = 4
FIRST_CHUNK_BYTES: Final = 96
GROWTH: Final = 1.25
LARGEST_CLASS: Final = 63


def item_bytes(key: bytes, flags: int, value: bytes) -> int:
    """Return the size of an item: header, key with its NUL, flags if any, value with its line end."""
    size = HEADER_BYTES + CAS_BYTES + len(key) + 1 + len(value) + 2
    return size + FLAGS_BYTES if flags else size


class Item:
    """A stored value."""

    __slots__ = ("accessed", "cas", "chunks", "expires", "fetched", "flags", "key", "size_bytes", "slab", "stored", "value")  # fmt: skip

    def __init__(
        self,
        key: bytes,
        value: bytes,
        flags: int,
        expires: int,
        slab: SlabClass,
        chunks: int,
        size_bytes: int,
    ) -> None:
        self.key = key
        self.value = value
        self.flags = flags
        self.expires = expires
        self.slab = slab
        self.chunks = chunks
        self.size_bytes = size_bytes
        self.cas = 0
        self.stored = 0
        self.accessed = 0
        self.fetched = False


class SlabClass:
    """The chunks of one size, and their items, the least recently used first."""

    __slots__ = (
        "chunk_bytes",
        "counts",
        "evicted",
        "expired",
        "hits",
        "items",
        "number",
        "pages",
        "sets",
        "touched",
        "used",
    )

    def __init__(self, number: int, chunk_bytes: int) -> None:
        self.number = number
        self.chunk_bytes = chunk_bytes
        self.pages = 0
        self.used = 0
        self.touched = 0
        self.evicted = 0
        self.expired = 0
        self.hits = 0
        self.counts: Counter[str] = Counter()
        self.sets = 0
        self.items: OrderedDict[bytes, Item] = OrderedDict()

    @property
    def chunks_per_page(self) -> int:
        """How many chunks a page makes."""
        return PAGE_BYTES // self.chunk_bytes

    @property
    def free(self) -> int:
        """Chunks that are cut and not in use."""
        return self.pages * self.chunks_per_page - self.used


class Slabs:
    """All slab classes, with one memory limit."""

    def __init__(self, limit_bytes: int, item_max_bytes: int = PAGE_BYTES) -> None:
        self.limit_bytes = limit_bytes
        self.item_max_bytes = item_max_bytes
        self.classes = _classes()
        self.touched_bytes = 0
        self._pages_left = limit_bytes // PAGE_BYTES

    @property
    def pages(self) -> int:
        """Pages handed out so far."""
        return sum(each.pages for each in self.classes)

    def class_for(self, size_bytes: int) -> SlabClass | None:
        """Return the class of the smallest chunk that holds so much; None when nothing does."""
        if size_bytes > self.item_max_bytes:
            return None
        wanted = min(size_bytes, CHUNK_MAX_BYTES)
        return next(each for each in self.classes if each.chunk_bytes >= wanted)

    def take(self, slab: SlabClass, chunks: int) -> bool:
        """Take chunks of a class, cutting new pages as far as the limit allows."""
        while slab.free < chunks:
            # Every class may have its first page, even above the limit.
            if self._pages_left <= 0 and slab.pages:
                return False
            self._pages_left -= 1
            slab.pages += 1
        slab.used += chunks
        if slab.used > slab.touched:
            self.touched_bytes += (slab.used - slab.touched) * slab.chunk_bytes
            slab.touched = slab.used
        return True

    @staticmethod
    def give_back(slab: SlabClass, chunks: int) -> None:
        """Chunks are free for other items of the class; the memory stays touched."""
        slab.used -= chunks


def _classes() -> list[SlabClass]:
    sizes: list[int] = []
    size = float(FIRST_CHUNK_BYTES)
    while len(sizes) < LARGEST_CLASS - 1 and size <= CHUNK_MAX_BYTES / GROWTH:
        chunk_bytes = (int(size) + 7) // 8 * 8
        sizes.append(chunk_bytes)
        size = chunk_bytes * GROWTH
    return [SlabClass(number, size) for number, size in enumerate([*sizes, CHUNK_MAX_BYTES], 1)]
