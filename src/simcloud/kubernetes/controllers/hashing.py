"""Names derived from content: the hash of a pod template, encoded without vowels."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.controllers.template_text import template_text

POD_TEMPLATE_HASH: Final = "pod-template-hash"
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET: Final = 0x811C9DC5
_PRIME: Final = 0x01000193
"""Of Fowler, Noll and Vo's hash of 32 bits."""


def revision_hash(data: Any, collisions: int) -> str:
    """The hash of what a revision remembers: of its JSON as Go writes it."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    digest = _OFFSET
    for byte in f"{text}{collisions}".encode("utf-8", "replace"):
        digest = digest * _PRIME & 0xFFFFFFFF ^ byte
    return _in_letters(digest)


def template_hash(template: Object, collisions: int | None = None) -> str:
    """The hash of a pod template, equal to that of a genuine cluster."""
    data = template_text(template).encode("utf-8", "replace")
    if collisions is not None:
        data += (collisions & 0xFFFFFFFF).to_bytes(8, "little")
    return _in_letters(_fnv_1a(data))


@lru_cache(maxsize=256)
def _fnv_1a(data: bytes) -> int:
    digest = _OFFSET
    for byte in data:
        digest = (digest ^ byte) * _PRIME & 0xFFFFFFFF
    return digest


def _in_letters(number: int) -> str:
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(number))


def same_template(one: Object, other: Object) -> bool:
    """Whether two pod templates ask for the same pods, whatever their hash labels say."""
    return _without_hash(one) == _without_hash(other)


def _without_hash(template: Object) -> Object:
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if value}
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key != POD_TEMPLATE_HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def with_hash(template: Object, value: str) -> Object:
    """A copy of a pod template that carries its hash as a label."""
    labelled: Object = copy(template)
    metadata = labelled.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), POD_TEMPLATE_HASH: value}
    return labelled
