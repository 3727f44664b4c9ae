"""Removal of repeated log lines, by the names of the public AIOpsLab release.

Only adjacent blocks of lines that differ in nothing but their times are removed, and only if the environment variable ``LOG_TRIM`` is
set, to the largest number of lines of a block. A session's own ``get_logs`` folds lines in its own way.
"""

from __future__ import annotations

import os
import re
from typing import Final

DEFAULT_TIMESTAMP_REGEX: Final = (
    r"\d{4}-(?:\d{2}|[A-Z][a-z]{2})-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}"
    r"|\b\d{2}:\d{2}:\d{2}\b|\b\d+m(?:\d+s)?\b|\b\d+s\b"
)
DEFAULT_TS_RX: Final = re.compile(DEFAULT_TIMESTAMP_REGEX)


def find_timestamp_spans(line: str, ts_rx: re.Pattern[str] = DEFAULT_TS_RX) -> list[tuple[int, int]]:
    """Return where the times in a line begin and end."""
    return [found.span() for found in ts_rx.finditer(line)]


def make_blocks(lines: list[str], block_size: int) -> list[str]:
    """Join lines to blocks of a number of lines; raises ``ValueError`` if it is not positive."""
    if block_size <= 0:
        raise ValueError(f"block_size must be positive, not {block_size}.")
    return ["\n".join(lines[first : first + block_size]) for first in range(0, len(lines), block_size)]


def greedy_compress_pass(lines: list[str], ts_rx: re.Pattern[str], block_size: int) -> list[str]:
    """Return the blocks of a number of lines; of adjacent ones that differ only in their times, the last."""
    kept: list[tuple[str, str]] = []
    for block in make_blocks(lines, block_size):
        masked = ts_rx.sub("\0", block)
        if kept and "\0" in masked and masked == kept[-1][0]:
            kept.pop()
        kept.append((masked, block))
    return [block for _, block in kept]


def greedy_compress_lines(raw_str: str, ts_rx: re.Pattern[str] = DEFAULT_TS_RX) -> str:
    """Return a text without repetitions, for blocks of one line up to ``LOG_TRIM`` lines."""
    largest = os.environ.get("LOG_TRIM", "")
    if not largest.isdecimal() or int(largest) == 0:
        return raw_str
    lines = raw_str.splitlines()
    for size in range(1, int(largest) + 1):
        lines = greedy_compress_pass(lines, ts_rx, size)
    return "\n".join(lines)
