"""The ten letters that tell contents apart in the names of config maps and secrets."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from simcloud.golang.json_text import json_text

LETTERS: Final = str.maketrans({"0": "g", "1": "h", "3": "k", "a": "m", "e": "t"})
LENGTH: Final = 10


def content_hash(content: dict[str, Any]) -> str:
    """The letters for what an object holds; no vowels and no digits that look like them."""
    digest = sha256(json_text(content).encode()).hexdigest()
    return digest[:LENGTH].translate(LETTERS)
