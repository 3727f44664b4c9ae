"""Query parameters of the views: numbers within limits."""

from __future__ import annotations

from collections.abc import Mapping

from aiopslab.utils import AIOpsLabError

Parameters = Mapping[str, str]


class InvalidView(AIOpsLabError):
    """A view was asked for with a wrong parameter; the message says what to send instead."""


def read_number(parameters: Parameters, name: str, default: float, low: float, high: float) -> float:
    """Return a number from the parameters; raises ``InvalidView`` if it is none or out of range."""
    text = parameters.get(name, "")
    try:
        number = float(text) if text else default
    except ValueError:
        raise InvalidView(
            f"'{name}' must be a number from {low:g} to {high:g}, not '{text[:100]}'."
        ) from None
    if not low <= number <= high:  # also refuses NaN
        raise InvalidView(f"'{name}' must be from {low:g} to {high:g}, not {number:g}.")
    return number
