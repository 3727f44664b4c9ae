"""A client of a cluster's API over HTTPS, for code that waits for each answer.

All connections live in an event loop in a thread of their own, so that watches, logs and users go on while the caller works or
waits. What arrives there is passed to the caller's thread by an ``Inbox`` and is handled there, when the caller takes it.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

from aiopslab.cloud.kubernetes.http_client import Answer, HttpClient, HttpFailed
from aiopslab.cloud.kubernetes.kubeconfig import Access
from aiopslab.utils import AIOpsLabError
from simcloud.kubernetes.api import Object
from simcloud.machine.process import Completed

T = TypeVar("T")

REQUEST_S: Final = 60.0
JSON: Final = "application/json"
STATUS: Final = 3
"""The channel of an exec's outcome."""
STDIN: Final = 0
CLOSE: Final = 255
PROTOCOLS: Final = ("v5.channel.k8s.io", "v4.channel.k8s.io")
OUTPUT_BYTES: Final = 16 << 20
"""Maximum number of bytes of each output of an exec that are kept."""


class ClusterFailed(AIOpsLabError):
    """A cluster did not do what the harness needs; the message says what, and what to do."""


class Refused(ClusterFailed):
    """The API answered a request with an error."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class Inbox:
    """What has arrived and is not handled yet: functions to call, each with the time at which it arrived."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[float, Callable[[], None]]] = SimpleQueue()

    def post(self, time_s: float, handle: Callable[[], None]) -> None:
        """Add a function, from any thread."""
        self._waiting.put((time_s, handle))

    def take(self) -> Iterator[tuple[float, Callable[[], None]]]:
        """Yield what has arrived, the oldest first."""
        while True:
            try:
                yield self._waiting.get_nowait()
            except Empty:
                return


class ClusterClient:
    """Sends requests to one cluster, as the user of its kubeconfig."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.http = HttpClient(access.server, access.tls, {"Accept": JSON, **access.headers})
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.failure: BaseException | None = None
        """The first error of a task, which is a defect of the harness."""
        self._thread = threading.Thread(target=self._loop.run_forever, name="cluster", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float = REQUEST_S) -> T:
        """Run a coroutine in the client's loop and return its result; raises ``ClusterFailed`` if it takes too long."""

        async def limit() -> T:
            async with asyncio.timeout(timeout_s):
                return await work

        future: Future[T] = asyncio.run_coroutine_threadsafe(limit(), self._loop)
        try:
            return future.result()
        except TimeoutError:
            raise ClusterFailed(
                f"The cluster at {self.access.server} did not answer within {timeout_s:g} s. Check that it is up."
            ) from None
        except HttpFailed as error:
            raise ClusterFailed(f"The cluster at {self.access.server} cannot be reached ({error}).") from None
        except BaseException:
            future.cancel()
            raise

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the client's loop until it ends or the client is closed."""

        def begin() -> None:
            task = self._loop.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._end)

        self._loop.call_soon_threadsafe(begin)

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.failure = self.failure or task.exception()

    def request(
        self,
        method: str,
        path: str,
        document: Any = None,
        *,
        content_type: str = JSON,
        timeout_s: float = REQUEST_S,
    ) -> Any:
        """Send a request with an object as its body, and return the object of the response; raises ``Refused``."""
        return self.call(self.send(method, path, document, content_type=content_type), timeout_s)

    async def send(self, method: str, path: str, document: Any = None, *, content_type: str = JSON) -> Any:
        """Do the same, inside the client's loop."""
        body = b"" if document is None else msgspec.json.encode(document)
        answer = await self.http.request(method, path, body, {"Content-Type": content_type} if body else {})
        return decode_answer(answer)

    def find(self, path: str) -> Any:
        """Return an object, or None if there is none; raises ``Refused`` for any other error."""
        try:
            return self.request("GET", path)
        except Refused as error:
            if error.status == 404:
                return None
            raise

    def exec(
        self,
        namespace: str,
        pod: str,
        command: Sequence[str],
        stdin: bytes = b"",
        timeout_s: float = REQUEST_S,
    ) -> Completed:
        """Run a command in a pod's first container and return its result; raises ``ClusterFailed``."""
        return self.call(self._exec(namespace, pod, command, stdin), timeout_s)

    async def _exec(self, namespace: str, pod: str, command: Sequence[str], stdin: bytes) -> Completed:
        options = [("stdout", "true"), ("stderr", "true"), *(("command", word) for word in command)]
        if stdin:
            options.append(("stdin", "true"))
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/exec?{urlencode(options)}"
        server = self.access.server
        outputs: dict[int, bytearray] = {1: bytearray(), 2: bytearray(), STATUS: bytearray()}
        try:
            async with connect(
                "ws" + server.removeprefix("http") + path,
                ssl=self.access.tls,
                additional_headers=dict(self.access.headers),
                subprotocols=[*PROTOCOLS],  # type: ignore[list-item]
                max_size=None,
                compression=None,
                ping_interval=None,
                proxy=None,
            ) as socket:
                for start in range(0, len(stdin), 16_384):
                    await socket.send(bytes((STDIN,)) + stdin[start : start + 16_384])
                if stdin and socket.subprotocol == PROTOCOLS[0]:
                    await socket.send(bytes((CLOSE, STDIN)))
                async for message in socket:
                    data = message.encode() if isinstance(message, str) else message
                    kept = outputs.get(data[0]) if data else None
                    if kept is not None and len(kept) < OUTPUT_BYTES:
                        kept += data[1:]
        except InvalidStatus as error:
            raise make_refusal(error.response.status_code, bytes(error.response.body or b"")) from None
        except (WebSocketException, OSError) as error:
            raise ClusterFailed(f"A command in the pod {namespace}/{pod} was cut off ({error}).") from None
        return Completed(_read_status(bytes(outputs[STATUS])), bytes(outputs[1]), bytes(outputs[2]))

    def close(self) -> None:
        """End all tasks and close all connections."""
        if self._loop.is_closed():
            return

        async def end() -> None:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.http.close()

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(REQUEST_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(REQUEST_S)
        self._loop.close()


def decode_answer(answer: Answer) -> Any:
    """Return the object of a response; raises ``Refused``."""
    if answer.status >= 400:
        raise make_refusal(answer.status, answer.body)
    try:
        return msgspec.json.decode(answer.body) if answer.body else None
    except msgspec.DecodeError:
        raise ClusterFailed("The cluster answered with something other than JSON.") from None


def make_refusal(status: int, body: bytes) -> Refused:
    """Return the error of a response, with the message of its Status if it has one."""
    try:
        found = msgspec.json.decode(body)
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, Mapping):
        return Refused(status, "", f"HTTP {status}: {body[:200].decode(errors='replace')}")
    return Refused(status, str(found.get("reason") or ""), str(found.get("message") or f"HTTP {status}"))


def _read_status(text: bytes) -> int:
    """Return the exit code from the outcome of an exec; raises ``ClusterFailed`` if the command could not be started."""
    try:
        status: Object = json.loads(text) if text else {}
    except ValueError:
        status = {}
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise ClusterFailed(f"A command could not be run in its pod ({status.get('message') or 'no status'}).")


async def gather_all(works: Sequence[Awaitable[T]]) -> list[T]:
    """Wait for several coroutines at once, and return their results."""
    return list(await asyncio.gather(*works))
