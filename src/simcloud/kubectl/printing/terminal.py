"""Text that is safe to show on a terminal."""

from __future__ import annotations


def escape_controls(text: str) -> str:
    """The text without what would steer a terminal."""
    return text.replace("\x1b", "^[").replace("\r", "\\r")
