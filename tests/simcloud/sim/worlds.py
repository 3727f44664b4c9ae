"""Scenarios for the determinism check: a clean one, and one for each way to be otherwise."""

from __future__ import annotations

import datetime
import os
import random
import secrets
import time
import uuid
from collections.abc import Callable, Iterator

from simcloud.sim import Event, Kernel, Queue, Semaphore, TimedOut, gather

NAMES = ["geo", "profile", "rate", "recommendation", "reservation", "search", "user"]
UNSEEDED = random.Random()


def clean(seed: int) -> Iterator[str]:
    """Clients, a server with a small queue and a limited store: everything a kernel offers."""
    kernel = Kernel(seed)
    requests: Queue[tuple[str, Event[str]]] = Queue(kernel, capacity=3)
    store = Semaphore(kernel, 2)
    log: list[str] = []

    async def handle(name: str, reply: Event[str]) -> None:
        async with store:
            await kernel.sleep(kernel.random("store").expovariate(20.0))
            reply.set(f"hello {name}")

    async def serve() -> None:
        while True:
            name, reply = await requests.get()
            kernel.spawn(handle(name, reply), f"handle-{name}", kernel.current)

    async def call(name: str) -> str:
        reply: Event[str] = Event(kernel)
        await requests.put((name, reply))
        try:
            return await reply.wait(0.1)
        except TimedOut:
            return f"no answer for {name}"

    async def client() -> None:
        while True:
            names = kernel.random("client").sample(NAMES, 3)
            for answer in await gather(kernel, [call(name) for name in names], "call"):
                log.append(f"{kernel.now:.6f} {answer}")
            await kernel.sleep(kernel.random("client").uniform(0.01, 0.2))

    kernel.spawn(serve(), "server")
    kernel.spawn(client(), "client")
    for _ in range(5):
        kernel.run_for(2.0)
        yield "\n".join(log)
        log.clear()


def one_task(seed: int, act: Callable[[Kernel], object]) -> str:
    """A world with one task that does one thing, and shows what came of it."""
    kernel = Kernel(seed)
    shown: list[str] = []

    async def main() -> None:
        await kernel.sleep(1.5)
        shown.append(str(act(kernel)))

    kernel.spawn(main(), "culprit")
    kernel.run_for(10.0)
    return "\n".join(shown)


def reads_clock(seed: int) -> str:
    return one_task(seed, lambda kernel: time.time())


def reads_clock_in_vain(seed: int) -> str:
    return one_task(seed, lambda kernel: time.time() > 0)


def reads_monotonic(seed: int) -> str:
    return one_task(seed, lambda kernel: time.perf_counter_ns())


def reads_datetime(seed: int) -> str:
    return one_task(seed, lambda kernel: datetime.datetime.now(datetime.UTC).year > 0)


def reads_today(seed: int) -> str:
    return one_task(seed, lambda kernel: datetime.date.today().year > 0)


def formats_now(seed: int) -> str:
    return one_task(seed, lambda kernel: time.strftime("%Y") > "")


def formats_virtual_time(seed: int) -> str:
    return one_task(seed, lambda kernel: time.strftime("%H:%M:%S", time.gmtime(kernel.now)))


def formats_in_host_zone(seed: int) -> str:
    return one_task(seed, lambda kernel: time.strftime("%H:%M:%S", time.localtime(kernel.now)))


def draws_from_host(seed: int) -> str:
    return one_task(seed, lambda kernel: random.random())


def chooses_from_host(seed: int) -> str:
    return one_task(seed, lambda kernel: random.choice(NAMES) in NAMES)


def draws_unseeded(seed: int) -> str:
    return one_task(seed, lambda kernel: random.Random().random() < 2)


def draws_from_unseeded_module_stream(seed: int) -> str:
    return one_task(seed, lambda kernel: UNSEEDED.randint(1, 6) > 0)


def draws_seeded_late(seed: int) -> str:
    stream = random.Random()
    stream.seed(seed)
    return one_task(seed, lambda kernel: stream.random())


def draws_seeded(seed: int) -> str:
    return one_task(seed, lambda kernel: random.Random(seed).random())


def reads_urandom(seed: int) -> str:
    return one_task(seed, lambda kernel: len(os.urandom(4)))


def makes_uuid(seed: int) -> str:
    return one_task(seed, lambda kernel: len(str(uuid.uuid4())))


def makes_uuid1(seed: int) -> str:
    return one_task(seed, lambda kernel: len(str(uuid.uuid1())))


def makes_secret(seed: int) -> str:
    return one_task(seed, lambda kernel: len(secrets.token_hex(4)))


def draws_system_random(seed: int) -> str:
    return one_task(seed, lambda kernel: random.SystemRandom().random() < 2)


def reads_pid(seed: int) -> str:
    return one_task(seed, lambda kernel: os.getpid() > 0)


def iterates_set(seed: int) -> None:
    """Starts tasks in the order of a set of strings; nothing else shows it."""
    kernel = Kernel(seed)

    async def work() -> None:
        await kernel.sleep(1.0)

    async def main() -> None:
        await kernel.sleep(2.0)
        for name in set(NAMES):
            kernel.spawn(work(), name, kernel.current)

    kernel.spawn(main(), "starter")
    kernel.run_for(10.0)


def draws_in_set_order(seed: int) -> str:
    """Which name gets which draw depends on the set; the draws themselves do not."""
    return one_task(seed, lambda kernel: {name: kernel.random(name).random() for name in set(NAMES)} == {})


def sleeps_by_hash(seed: int) -> None:
    kernel = Kernel(seed)
    kernel.spawn(kernel.sleep(1.0 + hash("x") % 1000), "sleeper")
    kernel.run_for(10_000.0)


def shows_set(seed: int) -> str:
    """Only the observation differs: the world itself is always the same."""
    Kernel(seed).run_for(1.0)
    return "first line\n" + " ".join(set(NAMES))


def shows_address(seed: int) -> str:
    return one_task(seed, id)


def builds_with_clock(seed: int) -> str:
    """The clock is read before the world runs, and shows."""
    epoch = time.time()
    return one_task(seed, lambda kernel: epoch + kernel.now)


def measures_itself(seed: int) -> str:
    """The driver may look at its own clock as long as nothing comes of it."""
    start = time.perf_counter()
    shown = one_task(seed, lambda kernel: kernel.now)
    assert time.perf_counter() >= start
    return shown


def fails(seed: int) -> str:
    return one_task(seed, lambda kernel: 1 // 0)


def shows_number(seed: int) -> int:
    return seed


def dies(seed: int) -> None:
    os._exit(3)


def prints(seed: int) -> str:
    print("to standard output, which is not an observation")
    return one_task(seed, lambda kernel: kernel.now)


def two_worlds(seed: int) -> Iterator[str]:
    for number in range(2):
        yield one_task(seed + number, lambda kernel: kernel.random("x").random())


def sleeps_on_host(seed: int) -> str:
    return one_task(seed, lambda kernel: time.sleep(0.0))


def reads_clock_often(seed: int) -> None:
    kernel = Kernel(seed)

    async def tick() -> None:
        while True:
            await kernel.sleep(1.0)
            time.monotonic()

    kernel.spawn(tick(), "ticker")
    kernel.run_for(10.0)


def shows_more_or_less(seed: int) -> str:
    return "\n".join(["same"] * (3 + hash("x") % 1000))


def observes_more_or_less(seed: int) -> Iterator[bytes]:
    yield b"\xff not text"
    yield b"same"
    for _ in range(hash("x") % 1000):
        yield b"more"


def forks(seed: int) -> str:
    """A copy of the world by fork: what the copy does is not part of this run."""
    kernel = Kernel(seed)

    async def tick() -> None:
        while True:
            await kernel.sleep(0.01)

    kernel.spawn(tick(), "ticker")
    kernel.run_for(1.0)
    child = os.fork()
    if child == 0:
        kernel.run_for(100.0)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    kernel.run_for(1.0)
    return f"{status} {kernel.steps}"


def names_that_are_not_text(seed: int) -> bytes:
    kernel = Kernel(seed)
    kernel.spawn(kernel.sleep(1.0), "cat \udcff")
    kernel.run_for(2.0)
    return b"\xff"


def imports_in_a_task(seed: int) -> str:
    """Python's own module reads the clock when it is first imported, for itself only."""

    def act(kernel: Kernel) -> object:
        import logging

        return logging.INFO

    return one_task(seed, act)
