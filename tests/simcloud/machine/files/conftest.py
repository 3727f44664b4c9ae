"""A disk of 1 MiB with one volume on it, a clock to turn, and root's view of it all."""

from __future__ import annotations

import pytest

from simcloud.machine.files import Disk, Files, Volume


class Clock:
    """Unix seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def disk() -> Disk:
    return Disk("sda", capacity_bytes=1 << 20, inodes=100)


@pytest.fixture
def volume(disk: Disk, clock: Clock) -> Volume:
    return Volume(disk, clock, "root")


@pytest.fixture
def files(volume: Volume) -> Files:
    return Files(volume)
