"""ping: measure round trips to a host, with statistics at the end."""

from __future__ import annotations

from math import isqrt
from typing import Final

from simcloud.machine.network import (
    HostUnreachable,
    NameNotFound,
    NetworkError,
    ResolverFailure,
    is_address,
)
from simcloud.machine.process import Context, Signal
from simcloud.sim import Event, Task, TimedOut
from simcloud.userland.commands.net.names.resolution import look_up_host
from simcloud.userland.commands.options import Options, UsageError, parse
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.system.durations import parse_seconds

USAGE: Final = "\nUsage\n  ping [options] <destination>\n\nFor more details see ping(8)."
ENDLESS: Final = 1 << 40
MOST: Final = 9_223_372_036_854_775_807
LONGEST_WAIT_S: Final = 10.0
LEAST_INTERVAL_S: Final = 0.002
WRONG_USE: Final = 2


@command("ping", "ping4")
async def ping(ctx: Context) -> int:
    """Send echo requests until interrupted, or the number given by -c."""
    try:
        options = parse(ctx.args, "46aABbc:CDdfhI:i:l:Lm:M:nOp:qQ:rRs:S:t:T:UvVw:W:")
    except UsageError as mistake:
        raise UsageError(f"{str(mistake).partition(chr(10))[0]}\n{USAGE}", WRONG_USE) from None
    if options.any("h", "V"):
        await ctx.out(f"{USAGE}\n" if options.any("h") else "ping from iputils 20221126\n")
        return 0
    if not options.operands:
        raise UsageError("ping: usage error: Destination address required")
    plan = _Plan(options)
    if plan.complaint:
        await ctx.err(plan.complaint)
    host = options.operands[-1]
    try:
        host, (address, *_) = await look_up_host(ctx, host)
    except (NameNotFound, ResolverFailure) as error:
        raise UsageError(f"ping: {host}: {error}", WRONG_USE) from None
    return await _Session(ctx, options, plan, host, address).run()


class _Plan:
    """The number, interval and size of requests."""

    def __init__(self, options: Options) -> None:
        self.complaint = ""
        self.count = self._whole(options, "c", 1, MOST) or ENDLESS
        size = self._whole(options, "s", 0, 127_992)
        self.size = 56 if size is None else size
        self._whole(options, "t", 0, 255)
        self.deadline_s = self._whole(options, "w", 0, 2**31 - 1)
        self.interval_s = max(self._seconds(options, "i", 1.0), LEAST_INTERVAL_S)
        self.wait_s = self._seconds(options, "W", LONGEST_WAIT_S) or LONGEST_WAIT_S
        if options.any("f"):
            self.interval_s = 0.01

    @staticmethod
    def _whole(options: Options, letter: str, low: int, high: int) -> int | None:
        if not options.any(letter):
            return None
        text = options.last(letter)
        digits = text.removeprefix("-").removeprefix("+")
        if not (digits.isdecimal() and digits.isascii()) or len(digits) > 30:
            raise UsageError(f"ping: invalid argument: '{text}'")
        if not low <= int(text) <= high:
            raise UsageError(f"ping: invalid argument: '{text}': out of range: {low} <= value <= {high}")
        return int(text)

    def _seconds(self, options: Options, letter: str, default: float) -> float:
        """A word that is no number counts as nothing, which ping complains about and lives with."""
        if not options.any(letter):
            return default
        text = options.last(letter)
        seconds = parse_seconds(text.removeprefix("-"))
        if seconds is None:
            self.complaint += f"ping: option argument contains garbage: {text}\nping: this will become fatal error in the future\n"
            return 0.0
        if text.startswith("-"):
            what = "bad linger time" if letter == "W" else "bad timing interval"
            raise UsageError(f"ping: {what}: {text}", WRONG_USE)
        return seconds


class _Session:
    """One run against one address."""

    def __init__(self, ctx: Context, options: Options, plan: _Plan, host: str, address: str) -> None:
        self._ctx = ctx
        self._options = options
        self._plan = plan
        self._host = host
        self._address = address
        self._times_us: list[int] = []
        self._sent = 0
        self._errors = 0
        self._stop: Event[None] = Event(ctx.kernel)
        self._begun_at = ctx.kernel.now
        self._random = ctx.random("ping")
        self._has_sent_all = False
        self._waiting = 0

    async def run(self) -> int:
        ctx, plan = self._ctx, self._plan
        ctx.signals.on(Signal.INT, lambda _signal: self._stop.set())
        timer = None
        if plan.deadline_s:
            timer = ctx.kernel.call_later(float(plan.deadline_s), lambda _: self._stop.set())
        await ctx.out(f"PING {self._host} ({self._address}) {plan.size}({plan.size + 28}) bytes of data.\n")
        last_sent_at = self._begun_at
        requests: list[Task[None]] = []
        while self._sent < plan.count and not self._stop.is_set:
            ctx.spend_turn()
            last_sent_at = ctx.kernel.now
            self._sent += 1
            requests.append(ctx.spawn(self._send_request(self._sent), f"request {self._sent}"))
            if self._sent < plan.count and not self._stop.is_set:
                late_s = min(self._random.expovariate(600.0), 0.03) if plan.interval_s >= 0.2 else 0.0
                await self._pause(plan.interval_s + late_s)
        await self._wait_for_answers(requests)
        if timer is not None:
            timer.cancel()
        await ctx.out(self._statistics(round((last_sent_at - self._begun_at) * 1e3)))
        return 0 if self._times_us else 1

    async def _wait_for_answers(self, requests: list[Task[None]]) -> None:
        """Wait until all are answered; with some answers, no longer than an interval or two round trips."""
        self._has_sent_all = True
        if any(not request.done for request in requests) and not self._stop.is_set:
            longest_s = max([self._plan.interval_s, *(2e-6 * time for time in self._times_us)])
            await self._pause(longest_s if self._times_us else self._plan.wait_s)
        for request in requests:
            request.drop()

    async def _send_request(self, sequence: int) -> None:
        self._waiting += 1
        try:
            await self._exchange(sequence)
        finally:
            self._waiting -= 1
            if self._has_sent_all and not self._waiting and not self._stop.is_set:
                self._stop.set()

    async def _exchange(self, sequence: int) -> None:
        ctx = self._ctx
        try:
            rtt_s = await ctx.container.namespace.ping(self._address, min(self._plan.wait_s, LONGEST_WAIT_S))
            # Interrupts and schedulers of both ends take their time, and now and then a lot of it.
            usual_s = min(0.15 * rtt_s, 8e-5) * (2.0 if sequence == 1 else 1.0)
            more_s = usual_s * self._random.lognormvariate(0.0, 0.8)
            await ctx.kernel.sleep(more_s)
            rtt_s += more_s
        except TimedOut:
            return
        except HostUnreachable:
            self._errors += 1
            here = ctx.container.namespace.address
            await ctx.out(f"From {here} icmp_seq={sequence} Destination Host Unreachable\n")
            return
        except NetworkError as error:
            self._errors += 1
            await ctx.err(f"ping: sendmsg: {error}\n")
            return
        rtt_us = int(rtt_s * 1e6)
        self._times_us.append(rtt_us)
        if not self._options.any("q"):
            stamp = f"[{ctx.now:.6f}] " if self._options.any("D") else ""
            name = self._address
            if not is_address(self._host) and not self._options.any("n"):
                name = f"{self._host} ({self._address})"
            size, time = self._plan.size + 8, _digits(rtt_us / 1e3)
            await ctx.out(f"{stamp}{size} bytes from {name}: icmp_seq={sequence} ttl=64 time={time} ms\n")

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            try:
                await self._stop.wait(seconds)
            except TimedOut:
                pass

    def _statistics(self, elapsed_ms: int) -> str:
        times, received = self._times_us, len(self._times_us)
        lost = 100 * (self._sent - received) / self._sent if self._sent else 0
        errors = f"+{self._errors} errors, " if self._errors else ""
        text = (
            f"\n--- {self._host} ping statistics ---\n{self._sent} packets transmitted, {received} received, "
            f"{errors}{lost:g}% packet loss, time {elapsed_ms}ms\n"
        )
        if not times:
            return text + "\n"
        # It computes in whole microseconds.
        mean = sum(times) // received
        spread = isqrt((sum(time * time for time in times) - sum(times) ** 2 // received) // received)
        shown = "/".join(f"{time / 1e3:.3f}" for time in (min(times), mean, max(times), spread))
        return f"{text}rtt min/avg/max/mdev = {shown} ms\n"


def _digits(milliseconds: float) -> str:
    """Three digits that mean something."""
    if milliseconds >= 99.5:
        return f"{milliseconds:.0f}"
    places = 1 if milliseconds >= 9.95 else 2 if milliseconds >= 0.995 else 3
    return f"{milliseconds:.{places}f}"
