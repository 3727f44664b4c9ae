"""Sizes as ls, du and df print them: in blocks of some size, or in at most three digits and a letter.

Sizes are rounded up, so that a size above zero never prints as zero.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.userland.commands.text.counts import parse_number

LETTERS: Final = "KMGTPEZY"
HUMAN_WORDS: Final = {"human-readable": 1024, "si": 1000}


def human(size_bytes: int, base: int = 1024) -> str:
    """A size in the largest unit it fills: ``999``, ``1.0K``, ``10M``."""
    power = 0
    while power < len(LETTERS) and size_bytes >= base ** (power + 1):
        power += 1
    if power == 0:
        return str(size_bytes)
    unit = base**power
    whole = -(-size_bytes // unit)
    if whole >= base and power < len(LETTERS):
        power, unit, whole = power + 1, unit * base, 1
    letter = "k" if base == 1000 and power == 1 else LETTERS[power - 1]
    tenths = -(-size_bytes * 10 // unit)
    return f"{tenths // 10}.{tenths % 10}{letter}" if tenths < 100 else f"{whole}{letter}"


class BlockSize(Struct, frozen=True):
    """The unit of sizes: blocks of ``size_bytes``, or (``human_base``) human-readable units."""

    size_bytes: int = 1024
    suffix: str = ""
    human_base: int = 0

    def show(self, size_bytes: int) -> str:
        """A size, rounded up."""
        if self.human_base:
            return human(size_bytes, self.human_base)
        return f"{-(-size_bytes // self.size_bytes)}{self.suffix}"


KIB: Final = BlockSize()
HUMAN: Final = BlockSize(human_base=1024)
SI: Final = BlockSize(human_base=1000)


def block_size(text: str) -> BlockSize | None:
    """Parse the value of ``--block-size=`` or ``-B``: ``1M``, ``K`` (then a letter is shown), ``si``."""
    text = text.removeprefix("'")
    if text in HUMAN_WORDS:
        return BlockSize(human_base=HUMAN_WORDS[text])
    size = parse_number(text, "bkKmMgGtTPEZY")
    if size is None or size <= 0:
        return None
    suffix = "" if text[:1].isdecimal() else _format_unit(text)
    return BlockSize(size, suffix)


def _format_unit(unit: str) -> str:
    """``M``, ``MiB`` and ``MB`` are shown as they are, but for the case of their letter."""
    letter = unit[0].upper()
    if unit.endswith("B") and len(unit) == 2:
        return ("k" if letter == "K" else letter) + "B"
    return letter + unit[1:]
