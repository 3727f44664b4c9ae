"""``Wrk``: load for a while at a rate, and a report as wrk2 prints it.

Like wrk2 it sends over a fixed number of connections, one request at a time on each, and counts a request's latency from
the moment at which it was due: when a slow answer holds the next request up, the wait is part of its latency. Unlike wrk2 it
measures from the first request on; there is no calibration.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from aiopslab.apps.base import Journey
from aiopslab.generators.site import meant_site
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.histogram import Histogram
from aiopslab.generators.workload.outcomes import Results, quantile
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import TIMEOUT_S, Mix
from simcloud.machine.network.http import HttpResponse
from simcloud.machine.process import Context
from simcloud.services.front_doors import FrontDoor, HttpDoor, Sender, SendFailed
from simcloud.sim import Event

PERCENTILES: Final = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0)


@dataclass
class Report:
    """What a run of wrk found."""

    url: str
    duration_s: float
    threads: int
    connections: int
    latencies: Histogram = field(default_factory=Histogram)
    rates: list[int] = field(default_factory=list)
    """Answers of each whole second."""
    bytes_read: int = 0
    bad_statuses: int = 0
    errors: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("connect", "read", "write", "timeout"), 0)
    )

    def __str__(self) -> str:
        return "".join(
            (
                f"Running {_seconds(self.duration_s)} test @ {self.url}\n",
                f"  {self.threads} threads and {self.connections} connections\n",
                self._statistics(),
                self._distribution(),
                self._totals(),
            )
        )

    def _statistics(self) -> str:
        head = f"  Thread Stats{'Avg':>6}{'Stdev':>11}{'99%':>8}{'+/- Stdev':>12}\n"
        seen = self.latencies
        spread = seen.deviation
        latency = (_time(seen.mean), _time(spread), _time(seen.at(99.0)))
        rates = Histogram()
        for rate in self.rates:
            rates.record(rate)
        pace = (_metric(rates.mean), _metric(rates.deviation), _metric(quantile(sorted(self.rates), 0.99)))
        return (
            head
            + _statistic("Latency", latency, seen.within(spread))
            + _statistic("Req/Sec", pace, rates.within(rates.deviation))
        )

    def _distribution(self) -> str:
        lines = ["  Latency Distribution (HdrHistogram - Recorded Latency)\n"]
        lines += [f"{share:7.3f}%{_padded(_time(self.latencies.at(share)), 10)}\n" for share in PERCENTILES]
        return "".join(
            (*lines, "\n  Detailed Percentile spectrum:\n", self.latencies.printed(), "-" * 58, "\n")
        )

    def _totals(self) -> str:
        count = self.latencies.total
        text = f"  {count} requests in {_time(self.duration_s * 1e6)}, {_binary(self.bytes_read)}B read\n"
        if any(self.errors.values()):
            text += "  Socket errors: " + ", ".join(f"{kind} {n}" for kind, n in self.errors.items()) + "\n"
        if self.bad_statuses:
            text += f"  Non-2xx or 3xx responses: {self.bad_statuses}\n"
        text += f"Requests/sec: {count / self.duration_s:9.2f}\n"
        return text + f"Transfer/sec: {_binary(self.bytes_read / self.duration_s):>10}B\n"


class Wrk:
    """Load at a rate for a duration.

    ``start_workload`` sends it to the application of a problem, ``run`` is its program on a machine; then ``report`` and
    ``results`` are there.
    """

    def __init__(
        self,
        rate: float,
        duration: float,
        dist: str = "exp",
        *,
        connections: int = 2,
        threads: int = 2,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._arrivals = OpenLoop(Steady(rate), dist)
        self._duration_s = duration
        self._connections = connections
        self._threads = threads
        self._timeout_s = timeout_s
        self.results = Results()
        self.report: Report | None = None

    def start_workload(self, url: str) -> None:
        """Send the load to an application's front door; it runs on while the world does.

        Meant for a problem's ``start_workload``: raises ``NoSite`` where no cloud is meant.
        """
        site = meant_site("Wrk")
        where = urlsplit(url)
        if where.scheme != "http" or not where.hostname:
            raise ValueError(
                f"Wrk needs the address of a front door, as {site.app.frontend_url}, not '{url}'."
            )
        door = HttpDoor([where.hostname], where.port or 80)

        async def program(ctx: Context) -> int:
            await self.run(ctx, door, site.app.journeys, url)
            return 0

        site.start_outside("wrk", program)

    async def run(self, ctx: Context, door: FrontDoor, journeys: Sequence[Journey], url: str) -> Report:
        """Send until the time is over, then wait for what is under way."""
        run = _Run(ctx, self, Mix(journeys, self.results), url)
        self.report = run.report
        lanes = [
            ctx.spawn(run.connection(door.open(ctx), self._timeout_s), f"connection {number}")
            for number in range(self._connections)
        ]
        begun, chance = ctx.kernel.now, ctx.random("wrk")
        for arrival in self._arrivals.draw(chance):
            if arrival.t >= self._duration_s:
                break
            await ctx.sleep(begun + arrival.t - ctx.kernel.now)
            run.due(ctx.kernel.now)
        await ctx.sleep(begun + self._duration_s - ctx.kernel.now)
        run.end()
        for lane in lanes:
            await lane
        return run.report

    def start_report(self, url: str) -> Report:
        """An empty report of such a run."""
        report = Report(url, self._duration_s, self._threads, self._connections)
        report.rates = [0] * int(self._duration_s)
        return report


class _Run:
    """One run: requests that are due, and connections that take them."""

    def __init__(self, ctx: Context, wrk: Wrk, mix: Mix, url: str) -> None:
        self._ctx = ctx
        self._mix = mix
        self._chance = ctx.random("wrk")
        self._due: deque[float] = deque()
        self._waiting: deque[Event[None]] = deque()
        self._ended = False
        self._begun = ctx.kernel.now
        self.report = wrk.start_report(url)

    def due(self, now: float) -> None:
        """A request should be sent now."""
        self._due.append(now)
        if self._waiting:
            self._waiting.popleft().set()

    def end(self) -> None:
        """Nothing more is due, and what could not be sent in time is not sent."""
        self._ended = True
        self._due.clear()
        while self._waiting:
            self._waiting.popleft().set()

    async def connection(self, sender: Sender, timeout_s: float) -> None:
        """Take what is due, one after the other."""
        while not self._ended:
            if not self._due:
                woken: Event[None] = Event(self._ctx.kernel)
                self._waiting.append(woken)
                await woken.wait()
                continue
            await self._send(sender, self._due.popleft(), timeout_s)

    async def _send(self, sender: Sender, due: float, timeout_s: float) -> None:
        mix, report = self._mix, self.report
        number = mix.choose(self._chance)
        try:
            status, answer = await mix.record(self._ctx, sender, number, self._chance, timeout_s, due)
        except SendFailed as failure:
            report.errors[failure.kind] += 1
            return
        now = self._ctx.kernel.now
        report.latencies.record(round((now - due) * 1e6))
        report.bad_statuses += status >= 400
        if isinstance(answer, HttpResponse):
            report.bytes_read += answer.size_bytes
        second = int(now - self._begun)
        if second < len(report.rates):
            report.rates[second] += 1


def _statistic(name: str, numbers: tuple[str, str, str], within: float) -> str:
    mean, deviation, high = numbers
    padded = _padded(mean, 8) + _padded(deviation, 10) + _padded(high, 9)
    return f"    {name:<10}{padded}{within:8.2f}%\n"


def _padded(text: str, width: int) -> str:
    """Numbers stand under each other, whatever their unit."""
    unit = len(text) - len(text.rstrip("abcdefghijklmnopqrstuvwxyzKMGTP"))
    return text.rjust(width - (2 - unit)) + " " * (2 - unit)


def _scaled(amount: float, scale: int, base: str, units: tuple[str, ...], digits: int = 2) -> str:
    unit = base
    for larger in units:
        if amount < scale * 0.85:
            break
        amount, unit = amount / scale, larger
    return f"{amount:.{digits}f}{unit}"


def _time(us: float) -> str:
    if us >= 1e6:
        return _scaled(us / 1e6, 60, "s", ("m",))
    return _scaled(us, 1000, "us", ("ms",))


def _seconds(seconds: float) -> str:
    return _scaled(seconds, 60, "s", ("m",), 0)


def _metric(number: float) -> str:
    return _scaled(number, 1000, "", ("k", "M", "G", "T"))


def _binary(number: float) -> str:
    return _scaled(number, 1024, "", ("K", "M", "G", "T"))
