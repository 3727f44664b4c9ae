"""Cursors: the rest of a result after its first batch, until it is fetched, killed or expired."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from simcloud.datastores.mongodb.bson import Document, Int64
from simcloud.datastores.mongodb.failures import MongoFailure

IDLE_S: Final = 600.0
MAX_CURSORS: Final = 1_000
FIRST_BATCH: Final = 101


class Rest(NamedTuple):
    """The rest of a result."""

    namespace: str
    documents: list[Document]
    at: int
    used_at: float


class Cursors:
    """The open cursors of a server."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._open: dict[int, Rest] = {}

    def __len__(self) -> int:
        return len(self._open)

    def first(
        self, namespace: str, documents: list[Document], batch: int | None, single: bool, now: float
    ) -> Document:
        """Return the cursor field of a reply, with its first batch."""
        size = FIRST_BATCH if batch is None else batch
        if single or size >= len(documents):
            return {"firstBatch": documents[:size], "id": Int64(0), "ns": namespace}
        self._forget_idle(now)
        number = self._random.randrange(1, 2**63)
        self._open[number] = Rest(namespace, documents, size, now)
        return {"firstBatch": documents[:size], "id": Int64(number), "ns": namespace}

    def more(self, number: int, namespace: str, batch: int | None, now: float) -> Document:
        """Return the next batch."""
        self._forget_idle(now)
        rest = self._open.pop(number, None)
        if rest is None:
            raise MongoFailure(43, f"cursor id {number} not found")
        if rest.namespace != namespace:
            self._open[number] = rest
            raise MongoFailure(
                13,
                f"Requested getMore on namespace '{namespace}', but cursor belongs to a different namespace {rest.namespace}",
            )
        end = len(rest.documents) if not batch else rest.at + batch
        if end < len(rest.documents):
            self._open[number] = Rest(namespace, rest.documents, end, now)
        else:
            number = 0
        return {"nextBatch": rest.documents[rest.at : end], "id": Int64(number), "ns": namespace}

    def kill(self, number: int) -> bool:
        """Forget a cursor; False when there is none."""
        return self._open.pop(number, None) is not None

    def _forget_idle(self, now: float) -> None:
        for number in [each for each, rest in self._open.items() if now - rest.used_at > IDLE_S]:
            del self._open[number]
        while len(self._open) >= MAX_CURSORS:
            del self._open[next(iter(self._open))]
