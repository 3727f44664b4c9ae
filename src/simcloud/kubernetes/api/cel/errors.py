"""What goes wrong with an expression."""

from __future__ import annotations


class CelError(Exception):
    """An expression that cannot be evaluated; the text is what cel-go says."""


class CelSyntaxError(CelError):
    """Text that is no expression."""


class CostExceeded(CelError):
    """An expression that takes too many steps."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


def no_such_overload() -> CelError:
    """An operator or function that does not exist for these types."""
    return CelError("no such overload")
