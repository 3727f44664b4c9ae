"""The life of programs beside their requests: the CPU time of their timers and collectors, and memory that varies.

Every few seconds each process of a machine is charged for it. This work is only accounted: no request waits for it.
"""

from __future__ import annotations

from math import exp
from random import Random
from typing import TYPE_CHECKING, Final
from zlib import crc32

from simcloud.machine.process import ProcessDead

if TYPE_CHECKING:
    from simcloud.machine.computer import Machine
    from simcloud.machine.process import Container, Process
    from simcloud.machine.process.cpu import ContainerCpu

TICK_S: Final = 5.0
NOISE_VALUES: Final = 4096
NOISE_SIGMA: Final = 0.28
TAIL_SHARE: Final = 0.006
TAIL_FACTORS: Final = (2.0, 7.0)

SYSTEM_CORES: Final = 0.012
"""What the kernel's own threads use."""
OTHER_CORES: Final = 0.000_6
CORES: Final = {
    "kube-apiserver": 0.055, "etcd": 0.027, "kube-controller": 0.018, "kubelet": 0.024, "containerd": 0.013,
    "kube-scheduler": 0.004, "metrics-server": 0.004, "mongod": 0.005, "consul": 0.007, "prometheus": 0.009,
    "redis-server": 0.002, "coredns": 0.002, "all-in-one-linux": 0.002, "pause": 0.0, "systemd": 0.000_05,
    "sshd": 0.000_002,
}  # fmt: skip
"""CPU time of programs that nobody asks anything, by the names that ``ps`` shows."""

TRAFFIC_BYTES_S: Final = (14_300.0, 3_400.0)
"""What a node's own programs send and receive: scrapes, leases, statuses, watches, probes."""
PACKET_BYTES: Final = (612, 158)
LOOPBACK_SHARE: Final = 0.13
"""The share of it that stays on the machine."""
LARGE_BYTES: Final = 2 * 1024**2
"""Smaller programs keep what they have."""
LEAST_SPARE: Final = 0.01
MOST_SPARE: Final = 0.22
SPARE_NOISE: Final = 0.02


def draw_noise(chance: Random) -> tuple[float, ...]:
    """Draw factors with a mean of one: most are near it, a few are several times as large."""
    values = [chance.lognormvariate(0.0, NOISE_SIGMA) for _ in range(NOISE_VALUES)]
    for index in range(NOISE_VALUES):
        if chance.random() < TAIL_SHARE:
            values[index] *= chance.uniform(*TAIL_FACTORS)
    mean = sum(values) / NOISE_VALUES
    return tuple(value / mean for value in values)


def count_idle_cores(container: Container) -> float:
    """What the programs of a container use of their own accord."""
    if not container.machine.cpu.noise:
        return 0.0
    return sum(CORES.get(process.name, OTHER_CORES) for process in container.processes.values())


class Background:
    """The background work of one machine, until the end of the world."""

    def __init__(self, machine: Machine, chance: Random) -> None:
        self._machine = machine
        self._chance = chance
        machine.kernel.call_later(chance.uniform(0.0, TICK_S), self._tick)

    def _tick(self, _argument: object = None) -> None:
        machine, chance = self._machine, self._chance
        if machine.running:
            cpu = machine.cpu
            cpu.settle(machine.kernel.now)
            self._charge(machine.host.cpu, SYSTEM_CORES)
            self._count_traffic()
            for container in list(machine.containers.values()):
                for process in list(container.processes.values()):
                    if not process.stopped:
                        process.cpu_s += self._charge(container.cpu, CORES.get(process.name, OTHER_CORES))
                        self._vary_memory(container, process)
        machine.kernel.call_later(TICK_S * chance.uniform(0.9, 1.1), self._tick)

    def _count_traffic(self) -> None:
        host, chance = self._machine.host.namespace, self._chance
        card, loopback = host.network.machines[host.machine], host.network.path(host, host)
        for meter, bytes_per_s, packet_bytes in zip(
            (card.sent, card.received), TRAFFIC_BYTES_S, PACKET_BYTES, strict=True
        ):
            packets = round(bytes_per_s * TICK_S * chance.uniform(0.6, 1.4) / packet_bytes)
            meter.add_traffic(packets, packets * packet_bytes + chance.randrange(packet_bytes))
            loopback.packets += round(packets * LOOPBACK_SHARE)
            loopback.bytes += round(packets * LOOPBACK_SHARE) * packet_bytes

    def _charge(self, account: ContainerCpu, cores: float) -> float:
        seconds = cores * TICK_S * exp(self._chance.gauss(0.0, NOISE_SIGMA)) if cores else 0.0
        account.book(seconds)
        return seconds

    def _vary_memory(self, container: Container, process: Process) -> None:
        """Let a program have a little less memory than it asked for. With a limit it has all, so that limits are exact."""
        memory = process.memory
        if memory.declared_bytes < LARGE_BYTES or container.memory_limit_bytes is not None:
            memory.set_spare(0.0)
            return
        own = crc32(container.name.encode()) % 1000 / 1000
        spare = LEAST_SPARE + (MOST_SPARE - LEAST_SPARE) * own
        try:
            memory.set_spare(spare + SPARE_NOISE * (self._chance.random() - 0.5))
        except ProcessDead:
            pass  # the machine was out of memory, and this process was the one to be killed
