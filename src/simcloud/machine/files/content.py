"""The bytes of one file: 4096-byte blocks, holes between them, and what of it a power loss would keep.

A block that is absent reads as zeros and occupies nothing, so a file of a terabyte that was only
truncated costs no memory. A block shorter than 4096 bytes reads as if zeros followed. All blocks
are treated as immutable and shared freely between copies, but for one: the *open* block, a
bytearray at the place last written to, which grows in place so that appending costs only what is
appended.

Durability follows Linux's write-back: the first change to clean content starts an epoch, and
30 seconds later everything the file then holds is on the disk. Up to that moment the state at
the start of the epoch is kept as an undo: the size, and every block overwritten since that was
part of it. No timer runs; whoever asks compares the epoch's start with the present.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine.files.disk import BLOCK_BYTES
from simcloud.machine.files.errors import FileError

WRITE_BACK_S: Final = 30.0
"""Changed data is on the disk after so long, sync or not (vm.dirty_expire_centisecs)."""

MAX_FILE_BYTES: Final = (1 << 44) - BLOCK_BYTES
"""The largest file ext4 can have with blocks of this size."""

MAX_READ_BYTES: Final = 1 << 28
"""No single read returns more, so that a sparse file cannot fill the host's memory."""

CLEAN: Final = float("-inf")
ZEROS: Final = bytes(BLOCK_BYTES)

Blocks = dict[int, bytes | bytearray]


class Content:
    """A file's bytes. ``home`` says which volume state may alter them; all others copy first."""

    __slots__ = (
        "_blocks",
        "_clean_mtime",
        "_clean_reserved",
        "_clean_size",
        "_dirty_since",
        "_late",
        "_open",
        "_open_end",
        "_open_index",
        "_reserved",
        "_undo",
        "allocated",
        "home",
        "size",
    )

    def __init__(self, home: object) -> None:
        self.home = home
        self.size = 0
        self.allocated = 0
        self._blocks: Blocks = {}
        self._late: tuple[tuple[int, Callable[[], bytes]], ...] = ()
        self._reserved = 0
        self._open = bytearray()
        self._open_index = -1
        self._open_end = -1
        self._dirty_since = CLEAN
        self._clean_size = 0
        self._clean_reserved = 0
        self._clean_mtime = 0.0
        self._undo: dict[int, bytes | bytearray | None] = {}

    def copy(self, home: object) -> Content:
        """The same bytes for another home; blocks stay shared. This one must not change any more."""
        self._fill()
        other = Content(home)
        other.size = self.size
        other.allocated = self.allocated
        other._blocks = self._blocks.copy()
        other._reserved = self._reserved
        return other

    # -- reading -------------------------------------------------------------------------------

    def read(self, position: int, count: int) -> bytes:
        """Up to ``count`` bytes from there; fewer at the end of the file or beyond MAX_READ_BYTES."""
        end = min(position + min(count, MAX_READ_BYTES), self.size)
        if position >= end:
            return b""
        self._fill()
        first = position // BLOCK_BYTES
        get = self._blocks.get
        indexes = range(first, (end - 1) // BLOCK_BYTES + 1)
        data = b"".join([get(index, ZEROS).ljust(BLOCK_BYTES, b"\0") for index in indexes])
        start = position - first * BLOCK_BYTES
        return data[start : start + end - position]

    # -- writing -------------------------------------------------------------------------------

    def extend(self, position: int, data: bytes, now: float, mtime: float) -> bool:
        """Append within the open block if that is all it takes; say whether it was."""
        size = self.size
        if position != size or size != self._open_end or size % BLOCK_BYTES + len(data) >= BLOCK_BYTES:
            return False
        if now - self._dirty_since >= WRITE_BACK_S:
            self.touch(now, mtime)
        self._open += data
        self.size = self._open_end = size + len(data)
        return True

    def plan(self, position: int, count: int, room_blocks: int) -> tuple[int, int]:
        """Return how many of ``count`` bytes fit into ``room_blocks`` new blocks, and how many blocks are added."""
        end = position + count
        blocks, reserved = self._blocks, self._reserved
        added = 0
        for index in range(position // BLOCK_BYTES, (end - 1) // BLOCK_BYTES + 1):
            if index >= reserved and index not in blocks:
                if added == room_blocks:
                    return max(0, index * BLOCK_BYTES - position), added
                added += 1
        return count, added

    def write(self, position: int, data: bytes, added: int, now: float, mtime: float) -> None:
        """Write bytes at a position; ``added`` is the number of new blocks that ``plan`` returned."""
        if position < self.size:
            self._fill()
        self.touch(now, mtime)
        done, count = 0, len(data)
        while done < count:
            index, offset = divmod(position + done, BLOCK_BYTES)
            piece = data[done : done + BLOCK_BYTES - offset]
            self._put(index, offset, piece)
            done += len(piece)
        self.allocated += added
        self.size = max(self.size, position + count)

    def _put(self, index: int, offset: int, piece: bytes) -> None:
        self._save(index)
        if len(piece) == BLOCK_BYTES:
            if index == self._open_index:
                self._shut()
            self._blocks[index] = ZEROS if piece == ZEROS else bytes(piece)
            return
        if index == self._open_index:
            block = self._open
        else:
            self._shut()
            block = bytearray(self._blocks.get(index, b""))
        if offset > len(block):
            block += bytes(offset - len(block))
        block[offset : offset + len(piece)] = piece
        if len(block) == BLOCK_BYTES:
            self._shut()
            self._blocks[index] = bytes(block)
            return
        self._blocks[index] = self._open = block
        self._open_index, self._open_end = index, index * BLOCK_BYTES + len(block)

    def truncate(self, size: int, now: float, mtime: float) -> None:
        """Cut the file, or let it grow by a hole."""
        if size > MAX_FILE_BYTES:
            raise FileError("EFBIG")
        self.touch(now, mtime)
        if size < self.size:
            self._cut(size)
        self.size = size

    def append_later(self, size: int, make: Callable[[], bytes], now: float, mtime: float) -> None:
        """Append bytes of that size that are already on the disk, but are made when the file is first read."""
        position = self.size
        self.reserve(position + size, now, mtime)
        self._late += ((position, make),)
        self.settle()

    def _fill(self) -> None:
        """Put the bytes of ``append_later`` into their blocks, and into what a power loss would keep of these."""
        late, self._late = self._late, ()
        for position, make in late:
            self._shut()
            data, done = make(), 0
            while done < len(data):
                index, offset = divmod(position + done, BLOCK_BYTES)
                piece = data[done : done + BLOCK_BYTES - offset]
                self._blocks[index] = _merge(self._blocks.get(index), offset, piece)
                if index in self._undo:
                    self._undo[index] = _merge(self._undo[index], offset, piece)
                done += len(piece)

    def _cut(self, size: int) -> None:
        self._fill()
        keep = -(-size // BLOCK_BYTES)
        for index in [index for index in self._blocks if index >= keep]:
            self._save(index)
            del self._blocks[index]
        if size % BLOCK_BYTES and keep - 1 in self._blocks:
            self._save(keep - 1)
            self._blocks[keep - 1] = bytes(self._blocks[keep - 1][: size % BLOCK_BYTES])
        self._shut()
        self._reserved = min(self._reserved, keep)
        self._recount()

    def missing(self, size: int) -> int:
        """How many blocks ``reserve`` of that size would add."""
        wanted = -(-size // BLOCK_BYTES)
        if wanted <= self._reserved:
            return 0
        present = sum(1 for index in self._blocks if self._reserved <= index < wanted)
        return wanted - self._reserved - present

    def reserve(self, size: int, now: float, mtime: float) -> None:
        """Occupy all blocks up to that size without writing them, as fallocate does."""
        self.touch(now, mtime)
        self._reserved = max(self._reserved, -(-size // BLOCK_BYTES))
        self.size = max(self.size, size)
        self._recount()

    def _recount(self) -> None:
        self.allocated = self._reserved + sum(1 for index in self._blocks if index >= self._reserved)

    def _shut(self) -> None:
        """No block may grow in place any more (it may be shared from now on)."""
        self._open_index = self._open_end = -1

    # -- durability ----------------------------------------------------------------------------

    def touch(self, now: float, mtime: float) -> None:
        """Content is about to change: begin an epoch, unless one runs that is not written back yet."""
        if now - self._dirty_since >= WRITE_BACK_S:
            self.settle()
            self._dirty_since, self._clean_mtime = now, mtime

    def settle(self) -> None:
        """All of it is on the disk."""
        self._dirty_since = CLEAN
        self._undo = {}
        self._clean_size, self._clean_reserved = self.size, self._reserved

    def _save(self, index: int) -> None:
        if index * BLOCK_BYTES < self._clean_size and index not in self._undo:
            self._undo[index] = self._blocks.get(index)
            if index == self._open_index:
                self._shut()

    def revert(self, now: float, mtime: float) -> float:
        """Go back to what is on the disk at a power loss; returns the mtime that goes with it."""
        if now - self._dirty_since < WRITE_BACK_S:
            for index, block in self._undo.items():
                if block is None:
                    self._blocks.pop(index, None)
                else:
                    self._blocks[index] = block
            self._undo = {}
            self._cut(self._clean_size)
            self.size, self._reserved, mtime = self._clean_size, self._clean_reserved, self._clean_mtime
            self._recount()
        self.settle()
        return mtime


def _merge(block: bytes | bytearray | None, offset: int, piece: bytes) -> bytes:
    old = bytes(block or b"").ljust(offset, b"\0")
    return old[:offset] + piece + old[offset + len(piece) :]
