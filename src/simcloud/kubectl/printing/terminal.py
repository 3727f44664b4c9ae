"""Text that is safe to show on a terminal."""

from __future__ import annotations


def escape_controls(text: str) -> str:
    """Escape the control characters that a terminal would interpret."""
    return text.replace("\x1b", "^[").replace("\r", "\\r")
