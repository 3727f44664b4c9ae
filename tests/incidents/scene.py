"""A broken application as an operator sees it: by the terminal, by the HTTP APIs of telemetry, and at the front door.

Nothing here looks inside the world. Each ``Sign`` is something an engineer would expect to see; one that is missing fails
with all that was typed and seen so far.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from aiopslab.cloud.environment import Environment
from aiopslab.cloud.outside import start_outside
from aiopslab.generators.workload.arrivals import Arrival, Replay
from aiopslab.generators.workload.outcomes import Summary
from aiopslab.generators.workload.users import Users
from simcloud.server.telemetry.apis import apis_of
from tests.incidents.known import Known

Sign = Callable[["Scene"], None]
Step = Callable[["Scene"], None]
"""Something that happens and is not typed."""
PATIENCE_S = 60.0


class Scene:
    """One environment, one terminal, and a transcript of all that is typed at it."""

    def __init__(self, environment: Environment, known: Known, target: str) -> None:
        self.environment = environment
        self.known = known
        self.target = target
        self.transcript: list[str] = []
        self._terminal = environment.terminal()
        self._apis = apis_of(environment.monitoring)
        self._since = environment.now

    def fill(self, text: str) -> str:
        """A text with the words of the application put in."""
        return self.known.fill(text, self.target)

    def type(self, line: str) -> str:
        """Type a line; what it printed."""
        filled = self.fill(line)
        done = self._terminal.run(filled, PATIENCE_S)
        told = (done.stdout + done.stderr).decode(errors="replace")
        self.transcript.append(f"$ {filled}\n{told}" + (f"[exit {done.status}]\n" if done.status else ""))
        return told

    def wait(self, seconds: float) -> None:
        """Let time pass. Users are counted from the last wait on."""
        self._since = self.environment.now
        self.environment.run_for(seconds)
        self.transcript.append(f"-- {seconds:g} s later")

    def crowd(self, journey: str, rate: float, seconds: float) -> None:
        """Let more people come, for one journey, evenly spaced; how they fare is counted with the others."""
        environment = self.environment
        chosen = [one for one in environment.app.journeys if one.name == journey]
        arrivals = Replay(tuple(Arrival(number / rate) for number in range(int(rate * seconds))))
        crowd = Users(environment.door, chosen, arrivals, environment.timeout_s, environment.users.results)
        start_outside(environment.world, "crowd", crowd.program)
        self.transcript.append(f"-- from now on {rate:g} more {journey} a second, for {seconds:g} s")

    def users(self, journey: str, last_s: float | None = None) -> Summary:
        """How the users of a journey fared since the last wait began, or of late; the answered and timed out ones."""
        end = self.environment.now - self.environment.timeout_s
        start = self._since if last_s is None else max(self._since, end - last_s)
        return self.environment.users.results.between(start, end, journey)

    def ask(self, path: str, **parameters: Any) -> Any:
        """A question to the HTTP APIs: the document of the answer."""
        asked = {name: [str(value)] for name, value in parameters.items()}
        for api in self._apis:
            if api.serves(path):
                answer = api.answer(path, asked)
                return answer[1] if isinstance(answer, tuple) else answer
        raise LookupError(f"no API serves {path}")

    def fail(self, why: str) -> None:
        """Fail with what was seen."""
        seen = "\n".join(self.transcript)
        users = "\n".join(f"{name}: {self.users(name)}" for name in self.environment.users.results.journeys)
        raise AssertionError(f"{why}\n{seen}\n{users}")


def spike(journey: str, more: float, seconds: float) -> Step:
    """Users come for a journey in crowds: so many more a second, for so long."""
    return lambda scene: scene.crowd(journey, more, seconds)


def shows(line: str, *patterns: str) -> Sign:
    """A line, typed, prints something that matches each pattern."""

    def look(scene: Scene) -> None:
        told = scene.type(line)
        for pattern in patterns:
            if not re.search(scene.fill(pattern), told, re.MULTILINE):
                scene.fail(f"'{scene.fill(line)}' does not show /{scene.fill(pattern)}/")

    return look


def hides(line: str, pattern: str) -> Sign:
    """A line, typed, prints nothing that matches."""

    def look(scene: Scene) -> None:
        if re.search(scene.fill(pattern), scene.type(line), re.MULTILINE):
            scene.fail(f"'{scene.fill(line)}' shows /{scene.fill(pattern)}/")

    return look


def users_fail(*journeys: str, least: float = 0.9, kind: str = "") -> Sign:
    """At least that share of the requests of each journey fail, the most of them in such words."""

    def look(scene: Scene) -> None:
        for journey in journeys:
            seen = scene.users(journey, 20.0)
            if not seen.requests or seen.error_rate < least:
                scene.fail(f"only {seen.error_rate:.0%} of {journey} fail")
            most = max(seen.kinds, key=lambda word: seen.kinds[word])
            if not re.search(kind, most):
                scene.fail(f"{journey} fails by '{most}', not by /{kind}/")

    return look


def users_fine(*journeys: str, last_s: float = 30.0) -> Sign:
    """Nothing of each journey fails."""

    def look(scene: Scene) -> None:
        for journey in journeys:
            seen = scene.users(journey, last_s)
            if not seen.requests or seen.errors:
                scene.fail(f"{journey}: {seen.errors} of {seen.requests} fail")

    return look


def users_slow(*journeys: str, median_s: float = 0.0, p99_s: float = 0.0) -> Sign:
    """Half of each journey's requests, or the slowest of them, take at least that long, or fail."""

    def look(scene: Scene) -> None:
        for journey in journeys:
            seen = scene.users(journey, 30.0)
            if (seen.p50_s < median_s or seen.p99_s < p99_s) and seen.error_rate < 0.5:
                scene.fail(
                    f"{journey}: the median is {seen.p50_s * 1000:.1f} ms, p99 {seen.p99_s * 1000:.1f} ms"
                )

    return look


def metric(query: str, least: float | None = None, most: float | None = None) -> Sign:
    """A PromQL query has a result, and its first value lies within bounds."""

    def look(scene: Scene) -> None:
        result = scene.ask("/api/v1/query", query=scene.fill(query))["data"]["result"]
        scene.transcript.append(f"PromQL {scene.fill(query)}: {result}")
        if not result:
            scene.fail(f"{scene.fill(query)} has no result")
        value = float(result[0]["value"][1])
        if (least is not None and value < least) or (most is not None and value > most):
            scene.fail(f"{scene.fill(query)} is {value}")

    return look


def alert(name: str) -> Sign:
    """An alert fires or is pending."""
    return metric(f'count(ALERTS{{alertname="{name}"}})', least=1)


def failing_spans(service: str) -> Sign:
    """Of the last minute, Jaeger has traces with a failed span of that service."""

    def look(scene: Scene) -> None:
        found = scene.ask("/api/traces", service=scene.fill(service), tags='{"error":"true"}', lookback="1m")
        if not found["data"]:
            scene.fail(f"no trace shows an error of {scene.fill(service)}")

    return look


def slow_spans(service: str, operation: str, least: str) -> Sign:
    """Of the last minute, Jaeger has traces in which an operation of that service took at least so long."""

    def look(scene: Scene) -> None:
        asked = {
            "service": scene.fill(service),
            "operation": operation,
            "minDuration": least,
            "lookback": "1m",
        }
        if not scene.ask("/api/traces", **asked)["data"]:
            scene.fail(f"no {operation} of {scene.fill(service)} took {least}")

    return look


def no_spans(service: str) -> Sign:
    """Of the last twenty seconds, Jaeger has no trace with that service."""

    def look(scene: Scene) -> None:
        now_us = round((scene.environment.world.epoch_s + scene.environment.now) * 1e6)
        found = scene.ask("/api/traces", service=scene.fill(service), start=now_us - 20_000_000, end=now_us)
        if found["data"]:
            scene.fail(f"{len(found['data'])} traces show {scene.fill(service)}")

    return look


def logged(selector: str, pattern: str) -> Sign:
    """The log search over the application's namespace finds lines that match."""

    def look(scene: Scene) -> None:
        query = scene.fill(f'{{namespace="{{ns}}",{selector}}} |~ `{pattern}`')
        found = scene.ask("/loki/api/v1/query_range", query=query, since="5m", limit=5)
        if not found["data"]["result"]:
            scene.fail(f"no line is found by {query}")

    return look


def for_target(target: str, sign: Sign) -> Sign:
    """A sign that only one of the targets shows."""

    def look(scene: Scene) -> None:
        if scene.target == target:
            sign(scene)

    return look


def later(lines: Iterable[str], wait_s: float, *signs: Sign) -> Sign:
    """What is seen when more has been typed, and more time has passed."""

    def look(scene: Scene) -> None:
        for line in lines:
            scene.type(line)
        scene.wait(wait_s)
        look_at(scene, signs)

    return look


def look_at(scene: Scene, signs: Iterable[Sign]) -> None:
    """All signs in turn."""
    for sign in signs:
        sign(scene)
