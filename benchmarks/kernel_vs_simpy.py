"""The kernel compared with SimPy, on the same model of remote calls with timeouts, in one run.

Clients call a chain of servers one after the other; each call waits for its reply or times out after a second. Most
replies take a millisecond, one in fifty takes longer than the timeout. Both sides must complete and time out the same
number of calls, or the comparison means nothing.

Rounds alternate, the best round of each side counts, and only the ratio of their CPU times is judged: a slower machine
slows both. ``python benchmarks/kernel_vs_simpy.py [--json] [--short]``
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import simpy
from _measure import Stopwatch
from _report import Budget, Report, run, tabulate_rows

from simcloud.sim import Event, Kernel, Queue, TimedOut

SERVERS = 5
CLIENTS = 100
TIMEOUT_S = 1.0
ANSWER_S = 0.001
SLOW_ANSWER_S = 5.0
SLOW_EVERY = 50
CALLS = 100_000
REPEAT = 3
RATIO = Budget(least=2.0)

Process = Generator[simpy.Event, Any, None]


@dataclass
class Outcome:
    """The number of calls that were answered and that timed out; equal on both sides."""

    answered: int = 0
    timed_out: int = 0


def answer_s(number: int) -> float:
    return SLOW_ANSWER_S if number % SLOW_EVERY == 0 else ANSWER_S


def on_our_kernel(rounds: int) -> Outcome:
    kernel = Kernel(seed=1)
    outcome = Outcome()
    inboxes: list[Queue[tuple[Event[int], float]]] = [Queue(kernel) for _ in range(SERVERS)]

    async def handle(reply: Event[int], delay_s: float) -> None:
        await kernel.sleep(delay_s)
        reply.set(1)

    async def serve(inbox: Queue[tuple[Event[int], float]]) -> None:
        while True:
            reply, delay_s = await inbox.get()
            kernel.spawn(handle(reply, delay_s), "handler")

    async def call_all(client: int) -> None:
        for round_ in range(rounds):
            for number, inbox in enumerate(inboxes):
                reply: Event[int] = Event(kernel)
                inbox.put_nowait((reply, answer_s(client + round_ * SERVERS + number)))
                try:
                    await reply.wait(TIMEOUT_S)
                    outcome.answered += 1
                except TimedOut:
                    outcome.timed_out += 1

    for inbox in inboxes:
        kernel.spawn(serve(inbox), "server")
    for client in range(CLIENTS):
        kernel.spawn(call_all(client), "client")
    kernel.run_until(1e6)
    return outcome


def on_simpy(rounds: int) -> Outcome:
    env = simpy.Environment()
    outcome = Outcome()
    inboxes = [simpy.Store(env) for _ in range(SERVERS)]

    def handle(reply: simpy.Event, delay_s: float) -> Process:
        yield env.timeout(delay_s)
        reply.succeed(1)

    def serve(inbox: simpy.Store) -> Process:
        while True:
            reply, delay_s = yield inbox.get()
            env.process(handle(reply, delay_s))

    def call_all(client: int) -> Process:
        for round_ in range(rounds):
            for number, inbox in enumerate(inboxes):
                reply = env.event()
                inbox.put((reply, answer_s(client + round_ * SERVERS + number)))
                yield reply | env.timeout(TIMEOUT_S)
                if reply.triggered:
                    outcome.answered += 1
                else:
                    outcome.timed_out += 1

    for inbox in inboxes:
        env.process(serve(inbox))
    for client in range(CLIENTS):
        env.process(call_all(client))
    env.run(1e6)
    return outcome


def measure_cpu_s(run_model: Callable[[int], Outcome], rounds: int) -> tuple[Outcome, float]:
    gc.collect()
    watch = Stopwatch()
    outcome = run_model(rounds)
    return outcome, watch.cpu_s


def compare(calls: int, repeat: int) -> tuple[Outcome, dict[str, float]]:
    """Return the outcome of both sides and the best time of each."""
    rounds = max(1, calls // (CLIENTS * SERVERS))
    sides = {"aiopslab": on_our_kernel, "simpy": on_simpy}
    best_s = dict.fromkeys(sides, float("inf"))
    outcomes: dict[str, Outcome] = {}
    for _ in range(repeat):
        for name, run_model in sides.items():
            outcomes[name], cpu_s = measure_cpu_s(run_model, rounds)
            best_s[name] = min(best_s[name], cpu_s)
    if outcomes["aiopslab"] != outcomes["simpy"]:
        sys.exit(f"the two sides did different work: {outcomes}")
    return outcomes["simpy"], best_s


def measure(short: bool) -> Report:
    outcome, best_s = compare(500 if short else CALLS, 1 if short else REPEAT)
    calls = outcome.answered + outcome.timed_out
    ratio = best_s["simpy"] / best_s["aiopslab"]
    rows = [
        {"kernel": name, "CPU s": cpu_s, "calls per CPU s": calls / cpu_s} for name, cpu_s in best_s.items()
    ]
    return Report(
        {"calls": calls, "timed_out": outcome.timed_out, "best_cpu_s": best_s, "ratio": ratio},
        [
            tabulate_rows(f"{calls:,} calls, {outcome.timed_out:,} of them timed out", rows),
            f"ratio {ratio:.1f}x ({RATIO})",
        ],
        RATIO.find_missed("calls per second compared with SimPy", ratio),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
