"""Why a volume cannot be used."""

from __future__ import annotations


class VolumeError(Exception):
    """A volume cannot be set up now; ``name`` is what the mount's event calls it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name

    @property
    def message(self) -> str:
        """The event's sentence."""
        return f'MountVolume.SetUp failed for volume "{self.name}" : {self}'


class ClaimError(Exception):
    """A claim cannot be used now: the whole pod waits for it."""
