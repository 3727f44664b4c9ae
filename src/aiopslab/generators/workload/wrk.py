"""``Wrk``: load at a constant rate for some time, with a report like wrk2's.

Like wrk2 it sends over a fixed number of connections, one request at a time on each, and counts a request's latency from
the time it was due: if a slow answer delays the next request, the delay counts. Unlike wrk2 it has no calibration and
measures from the first request on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aiopslab.apps import Journey
from aiopslab.generators.site import Site, get_current_site
from aiopslab.generators.workload.arrivals import OpenLoop
from aiopslab.generators.workload.histogram import Histogram
from aiopslab.generators.workload.outcomes import Results, get_quantile
from aiopslab.generators.workload.shapes import Steady
from aiopslab.generators.workload.users import TIMEOUT_S, Mix
from simcloud.kubernetes.api import at
from simcloud.machine.network import HttpResponse
from simcloud.machine.process import Context
from simcloud.services import FrontDoor, HttpDoor, Sender, SendFailed
from simcloud.sim import Event

PERCENTILES: Final = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0)


@dataclass
class Report:
    """The report of a run."""

    url: str
    duration_s: float
    threads: int
    connections: int
    latencies: Histogram = field(default_factory=Histogram)
    rates: list[int] = field(default_factory=list)
    """Responses in each whole second."""
    bytes_read: int = 0
    bad_statuses: int = 0
    errors: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("connect", "read", "write", "timeout"), 0)
    )

    def __str__(self) -> str:
        return "".join(
            (
                f"Running {_format_seconds(self.duration_s)} test @ {self.url}\n",
                f"  {self.threads} threads and {self.connections} connections\n",
                self._format_statistics(),
                self._format_distribution(),
                self._format_totals(),
            )
        )

    def _format_statistics(self) -> str:
        head = f"  Thread Stats{'Avg':>6}{'Stdev':>11}{'99%':>8}{'+/- Stdev':>12}\n"
        latencies = self.latencies
        deviation = latencies.deviation
        latency = (_format_us(latencies.mean), _format_us(deviation), _format_us(latencies.at(99.0)))
        rates = Histogram()
        for rate in self.rates:
            rates.record(rate)
        high = get_quantile(sorted(self.rates), 0.99)
        pace = (_format_metric(rates.mean), _format_metric(rates.deviation), _format_metric(high))
        return (
            head
            + _format_statistic("Latency", latency, latencies.share_within(deviation))
            + _format_statistic("Req/Sec", pace, rates.share_within(rates.deviation))
        )

    def _format_distribution(self) -> str:
        lines = ["  Latency Distribution (HdrHistogram - Recorded Latency)\n"]
        lines += [f"{share:7.3f}%{_pad(_format_us(self.latencies.at(share)), 10)}\n" for share in PERCENTILES]
        return "".join(
            (*lines, "\n  Detailed Percentile spectrum:\n", self.latencies.format(), "-" * 58, "\n")
        )

    def _format_totals(self) -> str:
        count = self.latencies.total
        text = f"  {count} requests in {_format_us(self.duration_s * 1e6)}, {_format_binary(self.bytes_read)}B read\n"
        if any(self.errors.values()):
            text += "  Socket errors: " + ", ".join(f"{kind} {n}" for kind, n in self.errors.items()) + "\n"
        if self.bad_statuses:
            text += f"  Non-2xx or 3xx responses: {self.bad_statuses}\n"
        text += f"Requests/sec: {count / self.duration_s:9.2f}\n"
        return text + f"Transfer/sec: {_format_binary(self.bytes_read / self.duration_s):>10}B\n"


class Wrk:
    """Load at a constant rate for a duration.

    ``start_workload`` sends it to the application of a problem; ``run`` is its program on a machine. Afterwards ``report`` and
    ``results`` are available.
    """

    def __init__(
        self,
        rate: float,
        dist: str = "exp",
        connections: int = 2,
        duration: float = 6,
        threads: int = 2,
        latency: bool = True,
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """``rate`` is in requests per second, ``duration`` in seconds. The report always has latencies."""
        self._arrivals = OpenLoop(Steady(rate), dist)
        self._duration_s = duration
        self._connections = connections
        self._threads = threads
        self._timeout_s = timeout_s
        self.results = Results()
        self.report: Report | None = None

    def start_workload(
        self, payload_script: Path | str | None = None, url: str = "", *, payload: str | None = None
    ) -> None:
        """Start the load on an application's front door; it runs while virtual time passes.

        The URL is that of the front door outside the cluster, or of its Service inside. The requests are those of the
        application's users: a wrk script (``payload_script`` or ``payload``, as in the public release) is not run.
        Call this in a problem's ``start_workload``. Raises ``NoSite`` if there is no current site.
        """
        site = get_current_site("Wrk")
        where = urlsplit(_leave_cluster(site, url))
        if where.scheme != "http" or not where.hostname:
            raise ValueError(
                f"Wrk needs the URL of a front door, such as {site.app.frontend_url}, not '{url}'."
            )
        door = HttpDoor([where.hostname], where.port or 80)

        async def program(ctx: Context) -> int:
            await self.run(ctx, door, site.app.journeys, url)
            return 0

        site.start_outside("wrk", program)

    async def run(self, ctx: Context, door: FrontDoor, journeys: Sequence[Journey], url: str) -> Report:
        """Send requests for the duration, wait for the pending ones, and return the report."""
        run = _Run(ctx, self, Mix(journeys, self.results), url)
        self.report = run.report
        lanes = [
            ctx.spawn(run.run_connection(door.open(ctx), self._timeout_s), f"connection {number}")
            for number in range(self._connections)
        ]
        started_s, chance = ctx.kernel.now, ctx.random("wrk")
        for arrival in self._arrivals.draw(chance):
            if arrival.t >= self._duration_s:
                break
            await ctx.sleep(started_s + arrival.t - ctx.kernel.now)
            run.add_request(ctx.kernel.now)
        await ctx.sleep(started_s + self._duration_s - ctx.kernel.now)
        run.end()
        for lane in lanes:
            await lane
        return run.report

    def start_report(self, url: str) -> Report:
        """Return an empty report."""
        report = Report(url, self._duration_s, self._threads, self._connections)
        report.rates = [0] * int(self._duration_s)
        return report


def _leave_cluster(site: Site, url: str) -> str:
    """Return the URL outside the cluster for the one of the front door's Service inside; others unchanged."""
    service = site.app.front_door.service
    names = (at(site.find("services", service), "spec", "clusterIP", default=""), service)
    host = urlsplit(url).hostname or ""
    return site.app.frontend_url if host in names or host.startswith(f"{service}.") else url


class _Run:
    """One run: a queue of due requests, and connections that send them."""

    def __init__(self, ctx: Context, wrk: Wrk, mix: Mix, url: str) -> None:
        self._ctx = ctx
        self._mix = mix
        self._chance = ctx.random("wrk")
        self._due: deque[float] = deque()
        self._waiting: deque[Event[None]] = deque()
        self._ended = False
        self._started_s = ctx.kernel.now
        self.report = wrk.start_report(url)

    def add_request(self, now: float) -> None:
        """Add a request that is due now."""
        self._due.append(now)
        if self._waiting:
            self._waiting.popleft().set()

    def end(self) -> None:
        """Stop the connections and drop the requests that were not sent in time."""
        self._ended = True
        self._due.clear()
        while self._waiting:
            self._waiting.popleft().set()

    async def run_connection(self, sender: Sender, timeout_s: float) -> None:
        """Send due requests, one at a time, until the run ends."""
        while not self._ended:
            if not self._due:
                wake_up: Event[None] = Event(self._ctx.kernel)
                self._waiting.append(wake_up)
                await wake_up.wait()
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
        second = int(now - self._started_s)
        if second < len(report.rates):
            report.rates[second] += 1


def _format_statistic(name: str, numbers: tuple[str, str, str], share: float) -> str:
    mean, deviation, high = numbers
    columns = _pad(mean, 8) + _pad(deviation, 10) + _pad(high, 9)
    return f"    {name:<10}{columns}{share:8.2f}%\n"


def _pad(text: str, width: int) -> str:
    """Align the digits of a number, whatever the length of its unit."""
    unit = len(text) - len(text.rstrip("abcdefghijklmnopqrstuvwxyzKMGTP"))
    return text.rjust(width - (2 - unit)) + " " * (2 - unit)


def _format_scaled(amount: float, scale: int, base: str, units: tuple[str, ...], digits: int = 2) -> str:
    unit = base
    for larger in units:
        if amount < scale * 0.85:
            break
        amount, unit = amount / scale, larger
    return f"{amount:.{digits}f}{unit}"


def _format_us(us: float) -> str:
    if us >= 1e6:
        return _format_scaled(us / 1e6, 60, "s", ("m",))
    return _format_scaled(us, 1000, "us", ("ms",))


def _format_seconds(seconds: float) -> str:
    return _format_scaled(seconds, 60, "s", ("m",), 0)


def _format_metric(number: float) -> str:
    return _format_scaled(number, 1000, "", ("k", "M", "G", "T"))


def _format_binary(number: float) -> str:
    return _format_scaled(number, 1024, "", ("K", "M", "G", "T"))
