"""Standard output for people: colours and its own width at a terminal, plain text elsewhere."""

from __future__ import annotations

import os
from typing import Final

from rich.console import Console

from aiopslab.cli.standard_output import discard

PIPE_COLUMNS: Final = 110
"""How wide text is where nobody says how wide a line may be."""


class Output(Console):
    """Standard output. When whoever read it has gone (``| head``), that is an interrupt: what goes on ends in its record."""

    def on_broken_pipe(self) -> None:
        """Write nothing more, not even what is left when the process ends."""
        self.quiet = True
        discard()
        raise KeyboardInterrupt


def console() -> Output:
    """Where people look: colours at a terminal, plain text elsewhere; others' text as it is (``:100:`` is no picture)."""
    out = Output(highlight=False, emoji=False, soft_wrap=True)
    if not (out.is_terminal or "COLUMNS" in os.environ):
        out.width = PIPE_COLUMNS
    return out
