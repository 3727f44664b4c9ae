"""Stretches of expanded text that remember how they came about."""

from __future__ import annotations

from typing import Final

QUOTED: Final = 0
"""Stands for itself: neither split nor a pattern."""
LITERAL: Final = 1
"""Written without quotes: may be a pattern."""
SPLIT: Final = 2
"""The result of an unquoted expansion: split at IFS, may be a pattern."""
BREAK: Final = 3
"""A boundary between fields, from ``$@`` and its like."""

Segment = tuple[int, str]
