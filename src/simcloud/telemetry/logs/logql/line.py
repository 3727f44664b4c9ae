"""A line that passes through the stages of a query.

Its labels are the stream's, shared until a stage adds a label. A stage reports its errors in ``__error__``, as in
Loki, and the line is passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.machine import Labels

ERROR: Final = "__error__"
DETAILS: Final = "__error_details__"


class Line:
    """A line with its labels."""

    __slots__ = ("_own", "base", "labels", "order", "stream", "text", "time_ns")

    def __init__(self, time_ns: int, number: int, text: str, stream: Labels, base: dict[str, str]) -> None:
        """``base`` are the stream's labels as a dict, which is not changed."""
        self.time_ns = time_ns
        self.order = (time_ns, number)
        self.text = text
        self.stream = stream
        self.base = base
        self.labels = base
        self._own = False

    def set(self, name: str, value: str) -> None:
        """Give it a label; an empty one is none."""
        if not self._own:
            self.labels = dict(self.labels)
            self._own = True
        if value:
            self.labels[name] = value
        else:
            self.labels.pop(name, None)

    def extract(self, name: str, value: str) -> None:
        """A label that was found in the text: the stream's own of that name stays beside it."""
        self.set(f"{name}_extracted" if name in self.base else name, value)

    def fail(self, error: str, details: str) -> None:
        """Record that a stage could not read the line; only the first failure is kept."""
        if ERROR not in self.labels:
            self.set(ERROR, error)
            self.set(DETAILS, details)

    def result(self) -> Labels:
        """Return all its labels, sorted."""
        return tuple(sorted(self.labels.items())) if self._own else self.stream


Stage = Callable[[Line], object]
"""What is done with a line; a line of which it answers falsely goes no further."""
