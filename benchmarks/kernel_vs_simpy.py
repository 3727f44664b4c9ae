"""The kernel against SimPy, on the same model of remote calls with time-outs, in one run.

Clients call a chain of servers one after the other; each call waits for its answer or gives up
after a second. Most answers take a millisecond, one in fifty takes longer than the client waits.
Both sides must complete and give up on the same number of calls, or the comparison means nothing.

Rounds alternate, each side's best round counts, and only the ratio is judged: a slower machine
slows both.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import simpy
from rich.console import Console
from rich.table import Table

from simcloud.sim import Event, Kernel, Queue, TimedOut

SERVERS = 5
CLIENTS = 100
TIMEOUT_S = 1.0
ANSWER_S = 0.001
SLOW_ANSWER_S = 5.0
SLOW_EVERY = 50
LEAST_RATIO = 2.0

Process = Generator[simpy.Event, Any, None]


@dataclass
class Outcome:
    """What the model did: must be equal on both sides."""

    answered: int = 0
    gave_up: int = 0


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
                    outcome.gave_up += 1

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
                    outcome.gave_up += 1

    for inbox in inboxes:
        env.process(serve(inbox))
    for client in range(CLIENTS):
        env.process(call_all(client))
    env.run(1e6)
    return outcome


def timed(run: Callable[[int], Outcome], rounds: int) -> tuple[Outcome, float]:
    gc.collect()
    start = perf_counter()
    outcome = run(rounds)
    return outcome, perf_counter() - start


def compare(calls: int, repeat: int) -> tuple[Outcome, dict[str, float]]:
    """What both did, and each side's best time."""
    rounds = max(1, calls // (CLIENTS * SERVERS))
    sides = {"aiopslab": on_our_kernel, "simpy": on_simpy}
    best_s = dict.fromkeys(sides, float("inf"))
    outcomes: dict[str, Outcome] = {}
    for _ in range(repeat):
        for name, run in sides.items():
            outcomes[name], seconds = timed(run, rounds)
            best_s[name] = min(best_s[name], seconds)
    if outcomes["aiopslab"] != outcomes["simpy"]:
        sys.exit(f"the two sides did different work: {outcomes}")
    return outcomes["simpy"], best_s


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=100_000, help="calls per round (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds of each side (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    outcome, best_s = compare(options.calls, options.repeat)
    calls = outcome.answered + outcome.gave_up
    ratio = best_s["simpy"] / best_s["aiopslab"]
    if options.json:
        print(json.dumps({"calls": calls, "best_s": best_s, "ratio": ratio, "least_ratio": LEAST_RATIO}))
    else:
        table = Table("kernel", "seconds", "calls/s")
        for name, seconds in best_s.items():
            table.add_row(name, f"{seconds:.2f}", f"{calls / seconds:,.0f}")
        Console().print(table)
        print(f"{calls:,} calls, {outcome.gave_up:,} of them timed out; best of {options.repeat} rounds")
        print(f"ratio {ratio:.1f}x (at least {LEAST_RATIO:g}x)")
    return 0 if ratio >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
