"""The default image pull policy."""

from __future__ import annotations

import re

_PATH = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_IMAGE = re.compile(
    rf"(?:(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?"
    rf"{_PATH}(?:/{_PATH})*"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_LONGEST = 1024


def pull_policy(image: str) -> str:
    """``Always`` for an image whose tag is ``latest``, said or implied; a malformed name has no tag."""
    found = _IMAGE.fullmatch(image) if len(image) <= _LONGEST else None
    if found is None:
        return "IfNotPresent"
    implied = found["tag"] is None and found["digest"] is None
    return "Always" if implied or found["tag"] == "latest" else "IfNotPresent"
