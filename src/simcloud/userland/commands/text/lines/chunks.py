"""``split -n``: into so many parts, whole or by lines."""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.machine.process import Context
from simcloud.userland.commands.text.counts import number

_MAX_CHUNKS = 100_000


@dataclass
class Chunks:
    """How many parts, which one alone (0 for all), and by what: bytes, lines (``l``), lines in turn (``r``)."""

    total: int
    chosen: int = 0
    kind: str = ""


def parse_chunks(ctx: Context, text: str) -> Chunks:
    """Read ``4``, ``2/4``, ``l/4``, ``r/2/4``."""
    kind, rest = "", text
    if text[:2] in ("l/", "r/"):
        kind, rest = text[0], text[2:]
    chosen_text, slash, total_text = rest.partition("/")
    if not slash:
        chosen_text, total_text = "", rest
    total = number(ctx, total_text, "invalid number of chunks", low=1, high=_MAX_CHUNKS, suffixes="kKmMGT")
    chosen = number(ctx, chosen_text, "invalid chunk number", low=1, high=total) if slash else 0
    return Chunks(total, chosen, kind)


def chunk_ends(data: bytes, total: int, end: bytes) -> list[int]:
    """Where each part ends; with a line end given, after the line in which it would have ended."""
    size = len(data) // total if end else max(1, len(data) // total)
    ends: list[int] = []
    for part in range(1, total + 1):
        stop = len(data) if part == total else min(len(data), part * size)
        if end and part < total:
            previous = ends[-1] if ends else 0
            if stop <= previous:
                stop = previous
            elif stop > 0:
                found = data.find(end, stop - 1)
                stop = len(data) if found < 0 else found + 1
        ends.append(stop)
    return ends
