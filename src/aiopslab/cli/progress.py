"""How long work goes on: a line that changes at a terminal, a line each elsewhere. On standard error, so that output stays clean."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.status import Status


class Progress:
    """Tells what is being done; ``with Progress() as progress: progress("staging …")``."""

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        self._quiet = quiet
        self._status: Status | None = None

    def __call__(self, words: str) -> None:
        """What is being done now."""
        if self._quiet:
            return
        if not self._console.is_terminal:
            self._console.print(words, markup=False)
        elif self._status is None:
            self._status = self._console.status(words)
            self._status.start()
        else:
            self._status.update(words)

    def done(self) -> None:
        """Nothing is being done any more."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done()
