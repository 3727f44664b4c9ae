"""Users of an application on a real cluster: the journeys of the embedded cloud's users, sent as HTTP in real time.

They run in the event loop of the cluster's client, also while an agent thinks. Results are written to the caller's store when it
takes them, so that no reader meets half a row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from random import Random
from typing import Any, Final, cast

from aiopslab.cloud.kubernetes.client import ClusterClient
from aiopslab.cloud.kubernetes.clock import ClusterClock
from aiopslab.cloud.kubernetes.http_client import HttpClient, HttpFailed
from aiopslab.generators.workload import Results
from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.services import SendFailed

Post = Callable[[Callable[[], None]], None]
NOT_PASSED_ON: Final = frozenset({"host", "content-length", "connection"})


class QueuedResults(Results):
    """Results that are written by one thread and read by another."""

    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post
        self._rows = 0

    def begin(self, start: float, journey: int) -> int:
        begin = super().begin
        self._post(lambda: _ignore(begin(start, journey)))
        self._rows += 1
        return self._rows - 1

    def finish(self, row: int, latency_s: float, status: int, error: str | None) -> None:
        finish = super().finish
        self._post(lambda: finish(row, latency_s, status, error))


def _ignore(_row: int) -> None:
    """Forget the number of a row, which the caller has already."""


class LiveKernel:
    """The clock that users' programs read."""

    def __init__(self, clock: ClusterClock, epoch_s: float) -> None:
        self._clock = clock
        self._epoch_s = epoch_s

    @property
    def now(self) -> float:
        """Seconds since the site's clock began."""
        return self._clock.now_s - self._epoch_s


class LiveContext:
    """What the program of users needs of a process, in an event loop: time, chance and tasks."""

    def __init__(self, clock: ClusterClock, epoch_s: float, seed: int) -> None:
        self.kernel = LiveKernel(clock, epoch_s)
        self._clock = clock
        self._seed = seed
        self._tasks: set[asyncio.Task[Any]] = set()

    def random(self, name: str) -> Random:
        """Return a stream of random numbers."""
        return Random(f"{self._seed} {name}")

    async def sleep(self, seconds: float) -> None:
        """Let time of the cluster pass."""
        await asyncio.sleep(max(0.0, self._clock.to_wall(seconds)))

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run a coroutine beside the program."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def as_context(self) -> Context:
        """Return itself, under the type that programs expect."""
        return cast(Context, self)


class LiveDoor:
    """An application's front door at a URL."""

    def __init__(
        self, client: HttpClient, clock: ClusterClock, prefix: str = "", *, keeps_host: bool = True
    ) -> None:
        """``prefix`` is put before each path. Behind the API server, a request's own host would mean another server."""
        self._client = client
        self._clock = clock
        self._prefix = prefix
        self._dropped = NOT_PASSED_ON if not keeps_host else NOT_PASSED_ON - {"host"}

    def open(self, ctx: Context) -> LiveDoor:
        """Return the sender of a program, which is the same for all."""
        return self

    async def send(self, request: HttpRequest, timeout_s: float) -> tuple[int, HttpResponse]:
        """Send a request and return the status and the response; raises ``SendFailed``."""
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in self._dropped
        }
        try:
            async with asyncio.timeout(self._clock.to_wall(timeout_s)):
                answer = await self._client.request(
                    request.method, self._prefix + request.path, request.body, _title(headers)
                )
        except TimeoutError:
            raise SendFailed("timeout", "") from None
        except HttpFailed as error:
            raise SendFailed(error.kind, str(error).partition(": ")[2]) from None
        return answer.status, HttpResponse(answer.status, answer.body, _title(answer.headers))


def _title(headers: Mapping[str, str]) -> dict[str, str]:
    return {"-".join(word.capitalize() for word in name.split("-")): value for name, value in headers.items()}


def open_proxied_door(
    client: ClusterClient, clock: ClusterClock, namespace: str, service: str, port: int
) -> LiveDoor:
    """Return a Service as the API server's proxy reaches it."""
    prefix = f"/api/v1/namespaces/{namespace}/services/{service}:{port}/proxy"
    return LiveDoor(client.http, clock, prefix, keeps_host=False)
