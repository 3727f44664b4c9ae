"""The digests of ``md5sum`` and its family."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol


class Digest(Protocol):
    """Takes data piece by piece and shows what it comes to."""

    def update(self, data: bytes, /) -> None:
        """Take a piece of data."""

    def hexdigest(self) -> str:
        """The digest so far."""


def _md5() -> Digest:
    return hashlib.md5(usedforsecurity=False)


def _sha1() -> Digest:
    return hashlib.sha1(usedforsecurity=False)


DIGESTS: dict[str, Callable[[], Digest]] = {
    "md5": _md5,
    "sha1": _sha1,
    "sha256": hashlib.sha256,
    "sha512": hashlib.sha512,
}
DIGEST_BITS = {"md5": 128, "sha1": 160, "sha256": 256, "sha512": 512}
