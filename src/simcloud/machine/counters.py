"""Counters of time that was skipped: they grow as fast as they were seen to grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from zlib import crc32

from simcloud.machine.computer import Machine
from simcloud.machine.emit import Counter, Histogram, Metrics
from simcloud.machine.logs import ROTATE_BYTES, ContainerLog
from simcloud.machine.network import NODE_PORT, Namespace, Nic
from simcloud.machine.process import Container, Counted
from simcloud.machine.process.cpu import SAMPLES

FULL_SYNC_S: Final = 3600.0
"""How often kube-proxy makes all its rules anew, with counts of zero."""

Add = Callable[[float], None]


@dataclass(slots=True)
class _Reading:
    """A counter, where to add to it, and how long it has counted."""

    value: float
    add: Add
    age_s: float
    most: float | None = None


class Counters:
    """The counters of machines, their processes and programs at one moment, to compare with a later one."""

    def __init__(self, machines: Iterable[Machine], metrics: Mapping[Metrics, None]) -> None:
        self._machines = list(machines)
        self._metrics = metrics
        self._taken_at = self._machines[0].kernel.now
        self._before = self._read()
        for key in [key for key in self._before if isinstance(key, str) and key.startswith(NODE_PORT)]:
            del self._before[key]  # they have been used by the users alone, and for seconds only
        self._log_sizes = {
            container: container.log.size_bytes
            for machine in self._machines
            for container in machine.containers.values()
            if isinstance(container.log, ContainerLog)
        }

    def observe(self) -> None:
        """End the time in which they are seen to grow. Load averages have settled by then."""
        self._observed_s = self._machines[0].kernel.now - self._taken_at
        self._after = self._read()
        for machine in self._machines:
            used_s = machine.cpu.used_s - self._before[machine].value
            machine.cpu.average_load(used_s / self._observed_s, SAMPLES)

    def grow(self, share: float) -> None:
        """Add to each what it would have counted in all its age, at a share of its observed rate.

        Logs that grow have lost their first lines.
        """
        known = self._list_known_rates()
        for key, reading in self._after.items():
            before = self._before.get(key)
            change = reading.value - (before.value if before is not None else 0.0)
            rate = known.get(key, change / self._observed_s)
            if rate > 0.0 and reading.age_s > self._observed_s:
                past = rate * share * (reading.age_s - self._observed_s)
                reading.add(past if reading.most is None else min(past, reading.most))
        passed_s = self._machines[0].kernel.now - self._taken_at
        for container, size_bytes in self._log_sizes.items():
            log, oldest_at = container.log, _find_start(container)
            if not isinstance(log, ContainerLog) or not size_bytes or log.has_past:
                continue
            rate = (log.size_bytes - size_bytes) / passed_s
            if rate * share * (container.kernel.now - oldest_at) > ROTATE_BYTES:
                log.drop_first(size_bytes)

    def _list_known_rates(self) -> dict[object, float]:
        """The rates of counters that learn later what happened in the time observed."""
        since, until = self._taken_at, self._taken_at + self._observed_s
        return {
            ((process, place), name): rate
            for machine in self._machines
            for process in machine.processes.values()
            for place, counted in enumerate(process.counted)
            if counted.rates is not None
            for name, rate in counted.rates(since, until).items()
        }

    def _read(self) -> dict[object, _Reading]:
        found: dict[object, _Reading] = {}
        ages_s: dict[str, float] = {}
        for machine in self._machines:
            now, up_s = machine.kernel.now, machine.kernel.now - machine.booted_at
            found[machine] = _attribute(machine.cpu, "used_s", up_s)
            host = machine.host.namespace
            _read_traffic(found, host.network.machines[machine.name], up_s)
            for unit in ("packets", "bytes"):
                found[machine, unit] = _attribute(host.network.path(host, host), unit, up_s)
            ages_s[host.address] = up_s
            for container in machine.containers.values():
                age_s = now - _find_start(container)
                namespace = container.namespace
                found[container] = _attribute(container.cpu, "used_s", age_s)
                if namespace.address not in ages_s:
                    _read_traffic(found, namespace, age_s)
                ages_s[namespace.address] = max(age_s, ages_s.get(namespace.address, 0.0))
            for process in machine.processes.values():
                found[process] = _attribute(process, "cpu_s", now - process.started_at)
                for place, counted in enumerate(process.counted):
                    _read_counted(found, (process, place), counted, now - process.started_at)
        oldest_s = max(ages_s.values())
        cluster = self._machines[0].host.namespace.network.cluster
        for name, uses in cluster.service_uses().items() if cluster is not None else ():
            age_s = oldest_s % FULL_SYNC_S
            found[name] = _Reading(sum(uses.values()), partial(self._add_uses, name, uses), age_s)
        for metrics in self._metrics:
            _read_metrics(found, metrics, ages_s.get(metrics.address, oldest_s))
        return found

    def _add_uses(self, name: str, uses: dict[str, int], more: float) -> None:
        """Spread connections to a Service over the machines."""
        for machine in self._machines:
            own = 0.7 + crc32(f"{name} {machine.name}".encode()) % 600 / 1000
            uses[machine.name] = uses.get(machine.name, 0) + int(more * own / len(self._machines))


def age_traffic(machine: Machine, seconds: float) -> None:
    """Count what a machine that does little exchanged in the past."""
    card = machine.host.namespace.network.machines[machine.name]
    for meter, packets_s, packet_bytes in ((card.sent, 0.41, 187), (card.received, 0.53, 602)):
        meter.add_traffic(int(seconds * packets_s), int(seconds * packets_s * packet_bytes))


def _find_start(container: Container) -> float:
    """Return when the oldest process of a container started."""
    starts = (process.started_at for process in container.processes.values())
    return min(starts, default=container.kernel.now)


def _attribute(owner: Any, name: str, age_s: float) -> _Reading:
    """A counter that is an attribute; one of whole numbers stays whole."""
    value = getattr(owner, name)
    add: Add = lambda more: setattr(owner, name, getattr(owner, name) + type(value)(more))  # noqa: E731
    return _Reading(value, add, age_s)


def _entry(owner: dict[str, int], name: str, age_s: float) -> _Reading:
    """A counter that is an entry of a dictionary."""

    def add(more: float) -> None:
        owner[name] += int(more)

    return _Reading(owner[name], add, age_s)


def _read_traffic(found: dict[object, _Reading], interface: Namespace | Nic, age_s: float) -> None:
    for meter in (interface.sent, interface.received):
        for unit in ("packets", "bytes"):

            def add(more: float, meter: Any = meter, unit: str = unit) -> None:
                meter.add(unit, int(more))

            found[meter, unit] = _Reading(meter.total(unit), add, age_s)


def _read_metrics(found: dict[object, _Reading], metrics: Metrics, age_s: float) -> None:
    for metric in metrics.families.values():
        if isinstance(metric, Counter):
            is_count = metric.value == int(metric.value)

            def grow(more: float, metric: Counter = metric, is_count: bool = is_count) -> None:
                metric.add(int(more) if is_count else more)

            found[metric] = _Reading(metric.value, grow, age_s)
        elif isinstance(metric, Histogram):
            found[metric] = _attribute(metric, "total", age_s)
            for place, count in enumerate(metric.counts):

                def add(more: float, counts: list[int] = metric.counts, place: int = place) -> None:
                    counts[place] += int(more)

                found[metric, place] = _Reading(count, add, age_s)


def _read_counted(found: dict[object, _Reading], key: object, counted: Counted, age_s: float) -> None:
    owner, names, most = counted.owner, counted.names, counted.most
    for name in names or tuple(owner):
        reading = _entry(owner, name, age_s) if isinstance(owner, dict) else _attribute(owner, name, age_s)
        found[key, name] = replace(reading, most=most(name)) if most is not None else reading
