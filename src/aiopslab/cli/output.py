"""Output for people: results on standard output, progress on standard error.

At a terminal there are colours and progress is one changing line; elsewhere both are plain text.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Final

from rich.console import Console
from rich.status import Status

from aiopslab.cli.standard_output import discard_output

PIPE_COLUMNS: Final = 110
"""Line width when standard output is not a terminal and COLUMNS is not set."""


class Output(Console):
    """Standard output. A closed pipe (``| head``) raises ``KeyboardInterrupt``, so that the session is still recorded."""

    def on_broken_pipe(self) -> None:
        """Discard all further output and interrupt the command."""
        self.quiet = True
        discard_output()
        raise KeyboardInterrupt


def open_console() -> Output:
    """Return a console for standard output that prints text literally: ``:100:`` is not an emoji code."""
    out = Output(highlight=False, emoji=False, soft_wrap=True)
    if not (out.is_terminal or "COLUMNS" in os.environ):
        out.width = PIPE_COLUMNS
    return out


class Progress:
    """Progress messages on standard error; ``with Progress() as progress: progress("staging …")``."""

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        self._quiet = quiet
        self._status: Status | None = None
        self._printed = ""
        """The latest sentence without its details in brackets."""

    def __call__(self, message: str) -> None:
        """Show the current activity; where lines are kept, not again if only its details in brackets differ."""
        if self._quiet:
            return
        if not self._console.is_terminal:
            activity = message.partition(" (")[0]
            if activity != self._printed:
                self._console.print(activity, markup=False)
            self._printed = activity
        elif self._status is None:
            self._status = self._console.status(message)
            self._status.start()
        else:
            self._status.update(message)

    def clear(self) -> None:
        """Remove the progress line, if there is one."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
