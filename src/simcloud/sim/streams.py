"""Random numbers from named streams.

Each component draws from a stream named after itself, so that one more draw in one place does not
shift the draws of every other. A stream's seed is a hash of the world's seed and the name.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any

Recorder = Callable[[str, object], None]


class Streams:
    """The random streams of one world, made when first asked for."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._streams: dict[str, random.Random] = {}
        self._recorder: Recorder | None = None

    def __getitem__(self, name: str) -> random.Random:
        stream = self._streams.get(name)
        if stream is None:
            digest = sha256(f"{self.seed}/{name}".encode()).digest()
            seed = int.from_bytes(digest[:8], "big")
            recorder = self._recorder
            stream = random.Random(seed) if recorder is None else RecordedStream.create(seed, name, recorder)
            self._streams[name] = stream
        return stream

    def record_to(self, recorder: Recorder) -> None:
        """Report every draw as (stream, value); call it before the first stream is made."""
        assert not self._streams, "streams exist already: their draws would go unrecorded"
        self._recorder = recorder


class RecordedStream(random.Random):
    """A stream whose draws are reported; the draws themselves are the same."""

    _name = ""
    _recorder: Recorder

    @classmethod
    def create(cls, seed: int, name: str, recorder: Recorder) -> RecordedStream:
        """Create a stream that reports its draws under a name."""
        stream = cls(seed)
        stream._name = name
        stream._recorder = recorder
        return stream

    def random(self) -> float:
        """The next number, reported."""
        value = super().random()
        self._recorder(self._name, value)
        return value

    def getrandbits(self, k: int, /) -> int:
        """The next ``k`` bits, reported."""
        value = super().getrandbits(k)
        self._recorder(self._name, value)
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a recorded stream belongs to one run and cannot be pickled")
