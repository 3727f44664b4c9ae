"""The physical properties of the network: delay, jitter, loss, corruption, bandwidth, partition.

An ``Impairment`` is one point that packets pass. There is one between every two machines (a ``Link``), one for each
direction of a machine's network card (``Nic``), and one for each direction of a namespace's interface. The effects of
all impairments on a packet's path add up. A changed field takes effect on the next packet.

One message counts as one packet. A loss inside a long message would be repaired within a round trip; programs notice
the loss of its last packet, and ``loss`` is the probability of that.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from random import Random
from typing import Final, Protocol

LOOPBACK_DELAY_S: Final = 20e-6
"""One way inside a namespace."""

LOCAL_DELAY_S: Final = 50e-6
"""One way between namespaces of the same machine, unless its link says otherwise."""

LINK_DELAY_S: Final = 250e-6
"""One way between machines, unless the link or one of the machines says otherwise."""

_FRACTIONS: Final = ("loss", "corruption")
_DURATIONS: Final = ("delay_s", "jitter_s")
_COUNTERS: Final = ("packets", "bytes", "lost_packets", "lost_bytes", "retransmits")
_READERS: Final = {counter: attrgetter(counter) for counter in _COUNTERS}
_PHYSICS: Final = (*_FRACTIONS, *_DURATIONS, "bandwidth_bytes_s", "partitioned")


class Impairment:
    """What one place on the way does to packets. All fields may be set at any time."""

    __slots__ = (
        "_busy_until", "_changed", "bandwidth_bytes_s", "corrupted", "corruption", "delay_s", "dropped",
        "jitter_s", "loss", "partitioned",
    )  # fmt: skip

    delay_s: float
    """Added to every packet."""
    jitter_s: float
    """On top of the delay: a fresh draw between nothing and this much for each packet."""
    loss: float
    """The share of packets that vanish, 0 to 1."""
    corruption: float
    """The share of packets that arrive with a wrong checksum, and are thrown away there."""
    bandwidth_bytes_s: float | None
    """Packets queue for their turn at this rate; None is as fast as one likes."""
    partitioned: bool
    """Everything vanishes, without a word to either side."""

    def __init__(self, changed: Callable[[], None], delay_s: float = 0.0) -> None:
        self._changed = _nobody_cares_yet
        self._busy_until = [0.0, 0.0]
        self.dropped = 0
        self.corrupted = 0
        self.jitter_s = self.loss = self.corruption = 0.0
        self.bandwidth_bytes_s = None
        self.partitioned = False
        self.delay_s = delay_s
        self._changed = changed

    def __setattr__(self, name: str, value: object) -> None:
        if name in _PHYSICS:
            _check(name, value)
            object.__setattr__(self, name, value)
            self._changed()
        else:
            object.__setattr__(self, name, value)

    @property
    def healthy(self) -> bool:
        """Whether it does nothing to a packet but delay it, always by the same time."""
        return not (
            self.partitioned or self.loss or self.corruption or self.jitter_s or self.bandwidth_bytes_s
        )

    @property
    def opaque(self) -> bool:
        """Whether nothing at all gets through."""
        return self.partitioned or self.loss >= 1.0 or self.corruption >= 1.0

    def wait_s(self, enters_at: float, size_bytes: int, direction: int, random: Random) -> float:
        """How long a packet that comes now queues and jitters here, its plain delay not counted."""
        waited_s = 0.0
        if self.bandwidth_bytes_s is not None:
            starts_at = max(enters_at, self._busy_until[direction])
            leaves_at = starts_at + size_bytes / self.bandwidth_bytes_s
            self._busy_until[direction] = leaves_at
            waited_s = leaves_at - enters_at
        if self.jitter_s:
            waited_s += random.random() * self.jitter_s
        return waited_s

    def swallows(self, random: Random) -> bool:
        """Whether the packet ends here; counted as dropped or as corrupted."""
        if self.partitioned or (self.loss and random.random() < self.loss):
            self.dropped += 1
            return True
        if self.corruption and random.random() < self.corruption:
            self.corrupted += 1
            return True
        return False


def _nobody_cares_yet() -> None:
    """A new place is on no path yet, so its first values change nothing for anybody."""


def _check(name: str, value: object) -> None:
    if name == "partitioned":
        return
    if value is None and name == "bandwidth_bytes_s":
        return
    if not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number, not {value!r}")
    if name in _FRACTIONS and not 0 <= value <= 1:
        raise ValueError(f"{name} must be between 0 and 1, not {value:g}")
    if name in _DURATIONS and not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be 0 or more, not {value:g}")
    if name == "bandwidth_bytes_s" and not value > 0:
        raise ValueError(f"bandwidth_bytes_s must be above 0 (or None for no limit), not {value:g}")


class Traffic(Protocol):
    """The counters of a path."""

    packets: int
    bytes: int
    lost_packets: int
    lost_bytes: int
    retransmits: int


class Meter:
    """What went along a set of paths, those that are forgotten by now included."""

    __slots__ = ("_forgotten", "_paths")

    def __init__(self) -> None:
        self._paths: dict[Traffic, None] = {}
        self._forgotten = dict.fromkeys(_COUNTERS, 0)

    def watch(self, path: Traffic) -> None:
        """Count what goes along this path, too."""
        self._paths[path] = None

    def forget(self, path: Traffic) -> None:
        """Keep the path's counts, not the path."""
        if path in self._paths:
            del self._paths[path]
            for counter in _COUNTERS:
                self._forgotten[counter] += getattr(path, counter)

    def add(self, counter: str, amount: int) -> None:
        """Count what went before the present paths were watched."""
        self._forgotten[counter] += amount

    def add_traffic(self, packets: int, size_bytes: int) -> None:
        """Count traffic that is not simulated as messages."""
        self._forgotten["packets"] += packets
        self._forgotten["bytes"] += size_bytes

    def total(self, counter: str) -> int:
        """Packets, bytes, lost_packets, lost_bytes or retransmits; what was lost was sent, too."""
        of_living: int = sum(map(_READERS[counter], self._paths))
        return self._forgotten[counter] + of_living


class Link(Impairment):
    """The wire between two machines, or (from a machine to itself) its internal bridge."""

    __slots__ = ("ends", "meter")

    def __init__(self, changed: Callable[[], None], ends: tuple[str, str], delay_s: float) -> None:
        super().__init__(changed, delay_s)
        self.ends = ends
        self.meter = Meter()

    @property
    def packets(self) -> int:
        """Packets sent over the link, both ways."""
        return self.meter.total("packets")

    @property
    def bytes(self) -> int:
        """Bytes sent over the link, both ways."""
        return self.meter.total("bytes")

    @property
    def retransmits(self) -> int:
        """Packets sent over the link once more because they, or their answer, were lost."""
        return self.meter.total("retransmits")

    def direction_from(self, machine: str) -> int:
        """Which of the two queues packets that leave this machine stand in."""
        return 0 if machine == self.ends[0] else 1


class Nic:
    """A machine's network card: it stands between all its namespaces and the other machines."""

    __slots__ = (
        "forwarding",
        "impairment",
        "ingress",
        "link_delay_s",
        "machine",
        "next_interface",
        "received",
        "sent",
    )

    def __init__(self, machine: str, changed: Callable[[], None], link_delay_s: float) -> None:
        self.machine = machine
        self.link_delay_s = link_delay_s
        self.impairment = Impairment(changed)
        self.ingress = Impairment(changed)
        self.forwarding = Impairment(changed)
        """What packets of the machine's pods pass; it is partitioned while the kernel does not forward."""
        self.sent = Meter()
        self.received = Meter()
        self.next_interface = 1
