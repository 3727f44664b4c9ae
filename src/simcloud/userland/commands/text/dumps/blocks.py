"""Inputs as one stream of blocks of equal size, as dumps show them row by row."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from simcloud.userland.commands.text.inputs import CHUNK_BYTES, Inputs


@dataclass
class Blocks:
    """Cuts inputs into blocks, from an offset on, up to a number of bytes.

    ``skip`` is what is left to skip: more than nothing at the end means that the inputs were too short.
    """

    size: int
    skip: int = 0
    limit: int | None = None

    async def batches(self, inputs: Inputs) -> AsyncIterator[list[bytes]]:
        """The blocks that have arrived, many at a time; the very last may be short."""
        rest = b""
        async for source in inputs.sources():
            while self.limit is None or self.limit > 0:
                wanted = CHUNK_BYTES if self.limit is None else min(CHUNK_BYTES, self.limit + self.skip)
                piece = await source.read(wanted)
                if not piece:
                    break
                skipped = min(self.skip, len(piece))
                self.skip -= skipped
                piece = piece[skipped:]
                if self.limit is not None:
                    self.limit -= len(piece)
                rest += piece
                whole = len(rest) - len(rest) % self.size
                yield [rest[at : at + self.size] for at in range(0, whole, self.size)]
                rest = rest[whole:]
        if rest:
            yield [rest]


class Repeats:
    """Replaces blocks that equal the one before by a single star."""

    def __init__(self, size: int, wanted: bool) -> None:
        self._size = size
        self._wanted = wanted
        self._previous: bytes | None = None
        self._starred = False

    def shown(self, block: bytes) -> bytes | None:
        """What stands for a block that repeats: a star, or nothing after it; None if it does not repeat."""
        repeats = self._wanted and block == self._previous and len(block) == self._size
        self._previous = block
        starred, self._starred = self._starred, repeats
        if not repeats:
            return None
        return b"" if starred else b"*\n"
