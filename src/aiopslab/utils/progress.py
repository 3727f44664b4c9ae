"""Progress of long work, as short sentences.

What changes often stands in brackets at the end, as in ``recording a baseline (60 of 120 simulated seconds)``: a reader that keeps
every line, such as a log, may drop a sentence that differs from the one before only there.
"""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[str], None]
"""Receives the progress of long work."""


def ignore_progress(_message: str) -> None:
    """Drop a progress message."""
