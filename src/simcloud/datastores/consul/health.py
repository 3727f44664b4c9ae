"""Checks that a service was registered with, really carried out by the agent.

A TTL check turns critical when nobody has said in time that all is well; HTTP and TCP checks ask at their interval.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from simcloud.datastores.consul.asking import Refused
from simcloud.datastores.consul.log import ConsulLog
from simcloud.datastores.consul.state import CRITICAL, PASSING, WARNING, Check, State
from simcloud.golang.durations import parse_duration_s
from simcloud.machine.network import NetworkError
from simcloud.machine.network.http import PORTS
from simcloud.machine.process import Context
from simcloud.services.languages.golang import dial_error
from simcloud.services.rpc.http import HttpClient, HttpError
from simcloud.sim import Event, Task, TimedOut

MIN_INTERVAL_S: Final = 1.0
TTL_EXPIRED: Final = "TTL expired"
OUTPUT_BYTES: Final = 4096
REAP_INTERVAL_S: Final = 30.0


class Checks:
    """The agent's own checks and the tasks that carry them out."""

    def __init__(self, ctx: Context, state: State, log: ConsulLog) -> None:
        self._ctx = ctx
        self._state = state
        self._log = log
        self._http = HttpClient(ctx)
        self._tasks: dict[str, Task[Any]] = {}
        self._reapers: dict[str, Task[Any]] = {}
        self._beats: dict[str, Event[None]] = {}

    def add(self, check: Check) -> None:
        """Register a check and begin to carry it out. ``Refused`` when its definition makes no sense."""
        work = self._work(check)
        self.stop(check.id)
        self._state.put_check(check)
        self._tasks[check.id] = self._ctx.spawn(work, f"check {check.id}")
        after = str(check.definition.get("deregistercriticalserviceafter") or "")
        if after and check.service_id:
            self._reapers[check.id] = self._ctx.spawn(
                self._reap(check, _delay(after)), f"reap {check.service_id}"
            )

    def stop(self, id: str) -> None:
        """Carry a check out no more."""
        for tasks in (self._tasks, self._reapers):
            task = tasks.pop(id, None)
            if task is not None and task is not self._ctx.kernel.current:
                task.drop()

    def beat(self, check: Check, status: str, output: str) -> None:
        """Somebody tells how a TTL check stands."""
        self._state.set_status(check, status, output)
        beat = self._beats.get(check.id)
        if beat is not None:
            beat.set()

    def _work(self, check: Check) -> Any:
        definition = check.definition
        try:
            if definition.get("ttl"):
                check.kind = "ttl"
                return self._expire(check, _positive(definition["ttl"]))
            interval_s = max(MIN_INTERVAL_S, _positive(definition.get("interval") or "0s"))
            timeout_s = _positive(definition.get("timeout") or "10s")
        except ValueError as mistake:
            raise Refused(400, f"Request decode failed: {mistake}") from None
        check.interval, check.timeout = (
            str(definition.get("interval") or ""),
            str(definition.get("timeout") or ""),
        )
        if definition.get("http"):
            check.kind = "http"
            return self._repeat(check, interval_s, timeout_s, self._ask_http)
        if definition.get("tcp"):
            check.kind = "tcp"
            return self._repeat(check, interval_s, timeout_s, self._ask_tcp)
        raise Refused(400, "Invalid check: TTL must be > 0 for TTL checks")

    async def _reap(self, check: Check, after_s: float) -> None:
        """Take a service back that has been critical for so long; the agent looks every 30 s."""
        since: float | None = None
        while True:
            await self._ctx.sleep(REAP_INTERVAL_S)
            now = self._ctx.kernel.now
            since = None if check.status != CRITICAL else since if since is not None else now
            if since is not None and now - since >= after_s:
                self._log.info("agent", f"Check for service has been critical for too long; deregistered service: service={check.service_id} check={check.id}")  # fmt: skip
                self._state.remove_service(check.node, check.service_id)
                self.stop(check.id)
                return

    async def _expire(self, check: Check, ttl_s: float) -> None:
        while True:
            beat: Event[None] = Event(self._ctx.kernel)
            self._beats[check.id] = beat
            try:
                await beat.wait(ttl_s)
            except TimedOut:
                if check.status != CRITICAL:
                    self._log.warn("agent", f"Check missed TTL, is now critical: check={check.id}")
                self._state.set_status(check, CRITICAL, TTL_EXPIRED)
                await beat.wait()

    async def _repeat(self, check: Check, interval_s: float, timeout_s: float, ask: Any) -> None:
        # Real agents stagger checks so that they do not all run at once.
        await self._ctx.sleep(self._ctx.random("checks").random() * interval_s)
        while True:
            status, output = await ask(check, timeout_s)
            if status != check.status:
                say = self._log.debug if status == PASSING else self._log.warn
                words = "Check status updated" if status == PASSING else "Check is now critical"
                say("agent", f"{words}: check={check.id} status={status}")
            self._state.set_status(check, status, output)
            await self._ctx.sleep(interval_s)

    async def _ask_tcp(self, check: Check, timeout_s: float) -> tuple[str, str]:
        target = str(check.definition["tcp"])
        host, _, port = target.rpartition(":")
        if not host or not (port.isascii() and port.isdigit() and len(port) <= 5):
            return CRITICAL, f"dial tcp: address {target}: missing port in address"
        number = int(port)
        try:
            connection = await self._ctx.dial(host, number, "raw", timeout_s)
        except NetworkError as error:
            return CRITICAL, dial_error(self._ctx, error, host, number)
        connection.close()
        return PASSING, f"TCP connect {target}: Success"

    async def _ask_http(self, check: Check, timeout_s: float) -> tuple[str, str]:
        url = str(check.definition["http"])
        method = str(check.definition.get("method") or "GET")
        if not is_url(url):
            return CRITICAL, f'{method.capitalize()} "{url}": unsupported protocol scheme ""'
        headers = {"User-Agent": "Consul Health Check", "Accept": "text/plain, text/*, */*"}
        try:
            response = await self._http.request(method, url, headers=headers, timeout_s=timeout_s)
        except HttpError as error:
            return CRITICAL, str(error)
        body = response.body[:OUTPUT_BYTES].decode("utf-8", "replace")
        output = f"HTTP {method} {url}: {response.status} {response.reason} Output: {body}"
        status = PASSING if 200 <= response.status <= 299 else WARNING if response.status == 429 else CRITICAL
        return status, output


def is_url(text: str) -> bool:
    """Whether it can be asked over HTTP: a scheme, a host, perhaps a port, and then a path or nothing."""
    try:
        parts = urlsplit(text)
        port = parts.port or 1
    except ValueError:
        return False
    authority = text.partition("://")[2].partition("/")[0]
    plain = not any(letter in authority for letter in "@[?#")
    return parts.scheme in PORTS and bool(parts.hostname) and port > 0 and plain


def _delay(text: str) -> float:
    """The genuine agent knows no shorter delay than a minute."""
    try:
        return max(60.0, parse_duration_s(text))
    except ValueError as mistake:
        raise Refused(400, f"Request decode failed: {mistake}") from None


def _positive(text: object) -> float:
    length_s = parse_duration_s(str(text))
    if length_s <= 0:
        raise ValueError(f'time: invalid duration "{text}"')
    return length_s
