"""An image in a registry: its root filesystem, and how its containers start."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from simcloud.kubernetes.images.references import Reference
from simcloud.machine import Image

LATENCY_S: Final = 0.15
"""What a pull costs beside the transfer: asking for manifests and unpacking."""

BYTES_PER_S: Final = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Published:
    """One image under one name. ``command`` and ``args`` are its ENTRYPOINT and CMD; ``user`` its USER."""

    reference: Reference
    image: Image
    size_bytes: int
    digest: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    user: str = ""
    workdir: str = "/"

    @property
    def name(self) -> str:
        """The full name."""
        return self.reference.name

    @property
    def image_id(self) -> str:
        """How statuses identify what was run."""
        return f"{self.reference.repository}@{self.digest}"

    @property
    def pull_s(self) -> float:
        """How long a pull takes when nothing is in its way."""
        return LATENCY_S + self.size_bytes / BYTES_PER_S

    @property
    def uid(self) -> int | None:
        """The number of the image's user; 0 if it says none, None for a name that only the image knows."""
        user = self.user.partition(":")[0]
        if user in ("", "root"):
            return 0
        return int(user) if user.isdecimal() else None


def digest_of(name: str) -> str:
    """A digest for an image that nobody gave one."""
    return f"sha256:{sha256(name.encode()).hexdigest()}"
