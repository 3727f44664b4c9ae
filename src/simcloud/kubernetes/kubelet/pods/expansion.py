"""``$(NAME)`` in commands, arguments and values: replaced where the name is known, left as it is elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")


def expand(text: str, known: Mapping[str, str]) -> str:
    """The text with its references replaced; ``$$`` is a plain dollar sign."""
    if "$" not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "$"
        return known.get(name, match.group(0))

    return _REFERENCE.sub(replacement, text)
