"""The hardware of a node: defects that no command causes and no command repairs."""

from __future__ import annotations

from typing import Literal, Protocol

Defect = Literal[
    "power", "unsteady power", "lost directory", "failed writes", "network card", "stolen cpu", "mounts"
]  # fmt: skip


class Hardware(Protocol):
    """One machine and the kernel that runs on it, which can be made to fail; an engineer takes it out of use."""

    @property
    def defects(self) -> tuple[Defect, ...]:
        """What is defective now."""

    def lose_power(self) -> None:
        """Turn it off without notice."""

    def lose_power_often(self, on_s: float, off_s: float) -> None:
        """Turn it off without notice again and again: it runs for about ``on_s``, and is off for ``off_s``."""

    def lose_directory(self, path: str) -> None:
        """Make the block of a directory unreadable."""

    def fail_writes(self) -> None:
        """Make the disk fail all writes, so that its file system becomes read-only."""

    def damage_packets(self, share: float) -> None:
        """Make the network card damage a share of the packets that it receives."""

    def steal_cpu(self, share: float) -> None:
        """Let the hypervisor give a share of the machine's CPU time to others."""

    def exhaust_mounts(self) -> None:
        """Leave the kernel without memory for mounts until it boots again."""
