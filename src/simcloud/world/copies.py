"""Copies of a prepared world, by fork.

Preparing a world takes seconds; an episode wants its own in milliseconds. A process that holds a
prepared world is forked: the copy shares every page of memory until one of the two writes to it, and
every coroutine in it goes on as if nothing had happened. Copies can be copied again, which gives
the tree that benchmarks need: a baseline, a change on top of it, episodes on top of that.

    with Copy.of(prepare) as baseline:
        with baseline.branch(break_the_disk) as broken:
            with broken.branch() as episode:
                print(episode.call(run_agent, "agent-1"))

Where many copies of one world will be asked for, one can be kept ready (``keep_spare``): it was forked before anybody asked, and
has written to the pages of memory that a rehearsal wrote to, which is most of what a copy's first moments cost.

The first world is prepared in a fresh interpreter, so that the caller may have threads and open files as
it likes; the forks happen there, where nothing but the world lives. Functions and results cross by pickle, so
functions must be importable. What a copy raises is raised in the caller as ``CopyFailed``.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import current_process, get_context
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, NoReturn, ParamSpec, TypeVar

from simcloud.world.pages import Run, own_pages, take_pages

W = TypeVar("W")
R = TypeVar("R")
P = ParamSpec("P")

LENGTH: Final = struct.Struct("!Q")
JOIN_S: Final = 10.0
UNGUARDED: Final = 86
"""The exit code of a process that was to prepare a world, and found itself asked to start another one for it."""
UNGUARDED_TOLD: Final = (
    "Worlds are prepared in a process of their own, which reads your script from its top: so the script must not begin its work "
    'when it is only read. Put what it does into a function, say main(), and end with: if __name__ == "__main__": main()'
)
CALL, BRANCH, SPARE, RAISED, DONE = b"c", b"b", b"s", b"r", b"d"


class CopyFailed(Exception):
    """What a copy was asked to do raised there; the text has its traceback."""


class Copy(Generic[W]):
    """A process that holds a world of type ``W`` and does with it what it is told."""

    def __init__(self, link: socket.socket, pid: int) -> None:
        self._link = link
        self.pid = pid

    @classmethod
    def of(cls, prepare: Callable[P, W], *args: P.args, **kwargs: P.kwargs) -> Copy[W]:
        """Prepare a world in a process of its own."""
        if getattr(current_process(), "_inheriting", False):
            sys.exit(UNGUARDED)  # this is that process already, on its way through the caller's script
        ours, theirs = socket.socketpair()
        process = get_context("spawn").Process(
            target=_prepare_and_live, args=(theirs, prepare, args, kwargs), daemon=True
        )
        process.start()
        theirs.close()
        assert process.pid is not None
        copy = cls(ours, process.pid)
        try:
            copy._answer()
        except CopyFailed:
            process.join(JOIN_S)
            if process.exitcode == UNGUARDED:
                raise CopyFailed(UNGUARDED_TOLD) from None
            raise
        return copy

    def call(self, function: Callable[Concatenate[W, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``function(world, …)`` in the copy and return its result."""
        _send(self._link, CALL + pickle.dumps((function, args, kwargs)))
        result: R = self._answer()
        return result

    def branch(
        self, change: Callable[Concatenate[W, P], object] | None = None, *args: P.args, **kwargs: P.kwargs
    ) -> Copy[W]:
        """Copy the copy, and apply a change to the new one."""
        _send(self._link, BRANCH)
        pid = self._answer()
        _, descriptors, _, _ = socket.recv_fds(self._link, 1, 1)
        copy: Copy[W] = Copy(socket.socket(fileno=descriptors[0]), pid)
        if change is not None:
            copy.call(change, *args, **kwargs)
        return copy

    def keep_spare(self, rehearsal: Callable[[W], object] | None) -> None:
        """From now on have the next branch forked before it is asked for; with None, no longer.

        What the rehearsal writes to in a copy that is thrown away, the spare has for itself already. This does not wait
        for either, nor is a world any different in a spare: once something is called here, another one is forked.
        """
        with suppress(OSError):  # the process has ended: whoever asks for a copy is told
            _send(self._link, SPARE + pickle.dumps(rehearsal))

    def close(self) -> None:
        """End the copy's process."""
        self._link.close()

    def __enter__(self) -> Copy[W]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone, killed or out of memory."""
        try:
            return not self._link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def hand_over(self, link: socket.socket) -> None:
        """Give the copy to whoever is at the other end of a link; it is no longer ours."""
        socket.send_fds(link, [b"f"], [self._link.fileno()])
        self.close()

    def _answer(self) -> Any:
        message = _receive(self._link)
        if message is None:
            raise CopyFailed(f"the copy (process {self.pid}) is gone; it was killed or ran out of memory")
        if message[:1] == RAISED:
            raise CopyFailed(message[1:].decode())
        return pickle.loads(message[1:])


def _fork(world: W, link: socket.socket, pages: Sequence[Run] = ()) -> Copy[W]:
    """Fork a process that goes on with the world and serves it, once it has these pages for itself."""
    _require_one_thread()
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        link.close()
        gc.freeze()
        _live(theirs, world, pages)
    theirs.close()
    return Copy(ours, pid)


def _prepare_and_live(
    link: socket.socket, prepare: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> NoReturn:
    # Children of a copy are reaped by the system; an interrupt at the terminal is the driver's.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        world = prepare(*args, **kwargs)
    except Exception:
        _send(link, RAISED + traceback.format_exc().encode())
        os._exit(1)
    # From here on pages are shared with copies: the collector must not touch what exists now.
    gc.collect()
    gc.freeze()
    _send(link, DONE + pickle.dumps(None))
    _live(link, world)


def _live(link: socket.socket, world: Any, pages: Sequence[Run] = ()) -> NoReturn:
    try:
        take_pages(pages)
        _serve(link, world)
    finally:
        os._exit(0)


def _serve(link: socket.socket, world: Any) -> None:
    spares = _Spares(world, link)
    while (message := _receive(link)) is not None:
        kind, body = message[:1], message[1:]
        if kind == SPARE:
            spares.rehearse(body)
        elif kind == BRANCH:
            try:
                copy = spares.take() or _fork(world, link)
            except RuntimeError as error:
                _send(link, RAISED + str(error).encode())
                continue
            _send(link, DONE + pickle.dumps(copy.pid))
            copy.hand_over(link)
        else:
            spares.drop()  # what is called may change the world
            _send(link, _called(world, body))
        spares.fork()


def _called(world: Any, body: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(body)
        return DONE + pickle.dumps(function(world, *args, **kwargs))
    except Exception:
        return RAISED + traceback.format_exc().encode()


class _Spares(Generic[W]):
    """The copy that is kept ready in the process which is copied, one at a time, if any is wanted.

    Its process ends with the one that it was forked from, as every copy whose link is closed. It is a convenience: whatever
    keeps it from being there must not end the world, and shows when a copy is asked for or the rehearsed is done in earnest.
    """

    def __init__(self, world: W, link: socket.socket) -> None:
        self._world = world
        self._link = link
        self._pages: list[Run] | None = None
        """What a spare is to have for itself; None when none is wanted."""
        self._spare: Copy[W] | None = None

    def rehearse(self, pickled: bytes) -> None:
        """Find out what a copy writes to that does this; with None, no spare is wanted any more."""
        self.drop()
        self._pages = None
        with suppress(Exception):
            rehearsal = pickle.loads(pickled)
            if rehearsal is not None:
                with _fork(self._world, self._link) as copy:
                    self._pages = copy.call(_written_by, rehearsal)

    def take(self) -> Copy[W] | None:
        """The spare, if there is one that lives."""
        spare, self._spare = self._spare, None
        return None if spare is None or spare.has_ended else spare

    def drop(self) -> None:
        """End the spare."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None

    def fork(self) -> None:
        """Have a spare, if one is wanted and there is none."""
        if self._pages is not None and self._spare is None:
            with suppress(Exception):
                self._spare = _fork(self._world, self._link, self._pages)


def _written_by(world: W, rehearsal: Callable[[W], object]) -> list[Run]:
    rehearsal(world)
    return own_pages()


def _send(link: socket.socket, data: bytes) -> None:
    link.sendall(LENGTH.pack(len(data)) + data)


def _receive(link: socket.socket) -> bytes | None:
    header = _receive_exactly(link, LENGTH.size)
    return None if header is None else _receive_exactly(link, LENGTH.unpack(header)[0])


def _receive_exactly(link: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = link.recv(min(size - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)


def _require_one_thread() -> None:
    try:
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a Path costs fifty pages after a fork)
    except FileNotFoundError:  # no Linux: threads of libraries stay unseen
        threads = threading.active_count()
    if threads > 1:
        raise RuntimeError(
            f"this process has {threads} threads and cannot be copied safely; "
            "make copies before anything starts a thread"
        )
