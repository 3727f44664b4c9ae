"""What the help of commands is made of."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Command lines to copy, each on its own line: the mark keeps them from being filled into a paragraph."""
    return "\n".join(("\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)))
