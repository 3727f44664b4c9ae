"""Logs, commands and connections of containers as awaitable streams.

The kubelet's side calls back; here a task awaits the data. A writer that is faster than the reader of kubectl's
output blocks, as on a full pipe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Generic, TypeVar

from msgspec import Struct

from simcloud.kubectl.errors import Exit, KubectlError
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, Flow, Forbidden, InternalError, LogOptions, Object, Session
from simcloud.kubernetes.api.subresources import open_log, running_pod, runtime_of
from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, Context, Stream, Tty
from simcloud.sim import Closed, Queue

HIGH_BYTES: Final = 512 << 10
LOOK_AGAIN_S: Final = 0.01
WAITS: Final = 0
"""Stands in the place of a descriptor's number when the command waits for input."""

_Item = TypeVar("_Item")


class Incoming(Generic[_Item]):
    """What callbacks bring, one by one; ``source`` is held while too much waits."""

    def __init__(self, ctx: Context, source: object) -> None:
        self._queue: Queue[tuple[_Item, int]] = Queue(ctx.kernel)
        self._source = source
        self._waiting_bytes = 0

    def put(self, item: _Item, size_bytes: int) -> None:
        """Something has come."""
        self._queue.put_nowait((item, size_bytes))
        self._waiting_bytes += size_bytes
        if self._waiting_bytes > HIGH_BYTES and isinstance(self._source, Flow):
            self._source.pause()

    def end(self) -> None:
        """Mark the end of the stream."""
        self._queue.close()

    async def __aiter__(self) -> AsyncIterator[_Item]:
        while True:
            try:
                item, size_bytes = await self._queue.get()
            except Closed:
                return
            was_full = self._waiting_bytes > HIGH_BYTES
            self._waiting_bytes -= size_bytes
            if was_full and self._waiting_bytes <= HIGH_BYTES and isinstance(self._source, Flow):
                self._source.resume()
            yield item


async def read_log(
    ctx: Context, connection: ApiClient, namespace: str, name: str, options: LogOptions
) -> AsyncIterator[bytes]:
    """A container's log by whole lines, as they come; raises ``ApiError`` before the first."""
    connection.check("get", connection.resource("pods"), namespace, name, "log")
    stream = open_log(connection.api, namespace, name, options)
    incoming: Incoming[bytes] = Incoming(ctx, stream)
    stream.on_data = lambda data: incoming.put(data, len(data))
    stream.on_end = incoming.end
    rest = b""
    try:
        async for data in incoming:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield line + b"\n"
        if rest:
            yield rest
    finally:
        stream.stop()


class Outlets(Struct, frozen=True):
    """Where the two outputs of a command go, and where its input comes from; None for no input."""

    stdout: Stream
    stderr: Stream
    stdin: Stream | None = None


def start_command(
    connection: ApiClient, pod: Object, container: str, argv: list[str], *, stdin: bool, tty: bool
) -> Session:
    """Run a command in a container; refused in the words of whoever refuses."""
    pod = reach(connection, pod, "exec")
    try:
        runtime = runtime_of(connection.api, pod)
        return runtime.exec(pod, container, argv, stdin=stdin, stderr=True, tty=tty)
    except ApiError as error:
        raise upgrade_refused(error) from None


def join(connection: ApiClient, pod: Object, container: str, *, stdin: bool, tty: bool) -> Session:
    """Join a container's own process."""
    pod = reach(connection, pod, "attach")
    try:
        runtime = runtime_of(connection.api, pod)
        return runtime.attach(pod, container, stdin=stdin, stderr=True, tty=tty)
    except ApiError as error:
        raise upgrade_refused(error) from None


def reach(connection: ApiClient, pod: Object, part: str) -> Object:
    """The pod as it is now, if the user may do this with it."""
    metadata = pod["metadata"]
    connection.check("create", connection.resource("pods"), metadata["namespace"], metadata["name"], part)
    try:
        return running_pod(connection.api, metadata["namespace"], metadata["name"])
    except ApiError as error:
        raise upgrade_refused(error) from None


def upgrade_refused(error: ApiError) -> KubectlError:
    """A stream that was refused: genuine clients see the words and not the kind of the refusal."""
    if isinstance(error, Forbidden):
        raise error
    return KubectlError(f"unable to upgrade connection: {error.message}")


async def converse(
    ctx: Context, session: Session, outlets: Outlets, *, tty: bool = False, tells_status: bool = True
) -> None:
    """Pass input and outputs on until the command has ended; raises ``Exit`` when it failed.

    With ``tty``, the command has a terminal of its own and this one is raw.
    """
    stdin = outlets.stdin
    if not isinstance(stdin, Tty):
        await _converse(ctx, session, outlets, tells_status)
        return
    session.echoes = False
    with stdin.pass_on(raw=tty):
        await _converse(ctx, session, outlets, tells_status)


async def _converse(ctx: Context, session: Session, outlets: Outlets, tells_status: bool) -> None:
    incoming: Incoming[tuple[int, bytes]] = Incoming(ctx, session)
    ended: list[tuple[int, str]] = []

    def end(status: int, why: str) -> None:
        ended.append((status, why))
        incoming.end()

    session.on_output = lambda number, data: incoming.put((number, data), len(data))
    session.on_end = end
    if isinstance(outlets.stdin, Tty):
        session.watch_input(lambda: incoming.put((WAITS, b""), 0))
    typing = ctx.spawn(_type(ctx, outlets.stdin, session), "stdin") if outlets.stdin is not None else None
    try:
        async for number, data in incoming:
            if number == WAITS and isinstance(outlets.stdin, Tty):
                outlets.stdin.relay_wait()
                continue
            await (outlets.stderr if number == 2 else outlets.stdout).write(data)
    finally:
        session.stop()
        if typing is not None:
            typing.drop()
    status, why = ended[0]
    if why:
        # The node says so first, and the API server says it again.
        raise KubectlError(InternalError(InternalError(why).message).message)
    if status:
        if tells_status:
            await ctx.err(f"command terminated with exit code {status}\n")
        raise Exit(status)


async def _type(ctx: Context, source: Stream, session: Session) -> None:
    try:
        while data := await source.read():
            session.write(data)
            while isinstance(session, Flow) and session.pending_bytes > HIGH_BYTES:
                await ctx.sleep(LOOK_AGAIN_S)
    except (FileError, BadDescriptor):
        pass
    session.close_input()
