"""Copies of a prepared world, by fork.

Preparing a world takes seconds; an episode needs its own world in milliseconds. So a process that holds a
prepared world is forked: parent and copy share each page of memory until one of them writes to it, and
all coroutines continue in the copy. Copies can be copied again, which gives a tree: a baseline, a change on
top of it, episodes on top of that.

    with Copy.of(prepare) as baseline:
        with baseline.branch(break_the_disk) as broken:
            with broken.branch() as episode:
                print(episode.call(run_agent, "agent-1"))

If many copies of a world are needed, one can be kept ready (``keep_spare``): it is forked in advance and already owns the pages
of memory that a rehearsal wrote to, which saves most of the time that a new copy's first action takes.

The first world is prepared in a new interpreter, so that the caller may have threads and open files; all forks happen
in that process. Python's garbage collector is off there and in all copies: heaps are large, and a running world collects garbage itself. Functions and results are pickled, so functions must be importable; those of the caller's script are, because the new
interpreter imports the script. ``Copy.of_imported`` does not import it, for scripts that start threads on import (many numeric
libraries do) or have no ``__main__`` guard. An exception in a copy is raised in the caller as ``CopyFailed``.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import current_process, spawn
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, NoReturn, ParamSpec, TypeVar

from simcloud.world.pages import Run, find_own_pages, take_pages

W = TypeVar("W")
R = TypeVar("R")
P = ParamSpec("P")

LENGTH: Final = struct.Struct("!Q")
SCRIPT: Final = ("init_main_from_name", "init_main_from_path")
"""Keys of the caller's script in the description of a process."""
START: Final = (
    "import sys; link, *sys.path = sys.argv[1:]; "
    "from simcloud.world.copies import run_new_process; run_new_process(int(link))"
)
ANSWER_S: Final = 300.0
"""The longest time that a copy of ``call_in_copy`` may take, on the host's clock."""
UNGUARDED: Final = 86
"""Exit code of a new process that would start yet another one, because the caller's script has no ``__main__`` guard."""
UNGUARDED_MESSAGE: Final = (
    "Worlds are prepared in a new process, which imports your script. So the script must not start its work on import: put the work "
    'into a function main() and end the script with: if __name__ == "__main__": main()'
)
CALL, BRANCH, SPARE, FILE, RAISED, DONE = b"c", b"b", b"s", b"f", b"r", b"d"
_started: list[subprocess.Popen[bytes]] = []
"""The processes that this one has started and has not reaped yet."""


class CopyFailed(Exception):
    """A function raised an exception in a copy; the message has its traceback."""

    @property
    def last_line(self) -> str:
        """The last line of the message, which names the exception."""
        return str(self).strip().splitlines()[-1]


class CopyLost(CopyFailed):
    """The process of a copy has ended: it was killed or ran out of memory."""


class Copy(Generic[W]):
    """A process that holds a world of type ``W`` and runs functions on it."""

    def __init__(self, link: socket.socket, pid: int) -> None:
        self._link = link
        self.pid = pid

    @classmethod
    def of(cls, prepare: Callable[P, W], *args: P.args, **kwargs: P.kwargs) -> Copy[W]:
        """Prepare a world in a new process that imports the caller's script; raises ``CopyFailed``."""
        return cls._start(_describe_process(), pickle.dumps((prepare, args, kwargs)))

    @classmethod
    def of_imported(cls, prepare: Callable[P, W], *args: P.args, **kwargs: P.kwargs) -> Copy[W]:
        """Prepare a world in a new process that cannot use functions of the caller's script; raises ``CopyFailed``."""
        described = _describe_process()
        for key in SCRIPT:
            described.pop(key, None)
        return cls._start(described, pickle.dumps((prepare, args, kwargs)))

    @classmethod
    def _start(cls, described: dict[str, Any], work: bytes) -> Copy[W]:
        ours, theirs = socket.socketpair()
        with theirs:
            flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
            process = subprocess.Popen(
                [sys.executable, *flags, "-c", START, str(theirs.fileno()), *described["sys_path"]],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        _started[:] = [other for other in _started if other.poll() is None]  # reaps those that have ended
        _started.append(process)
        copy = cls(ours, process.pid)
        try:
            with suppress(ConnectionError):  # the process has ended, which the missing result reports
                _send(ours, pickle.dumps((described, work)))
            copy._receive_result()
        except CopyFailed:
            copy.close()
            if process.wait() == UNGUARDED:
                raise CopyFailed(UNGUARDED_MESSAGE) from None
            raise
        except BaseException:  # an interrupt: nobody waits for this world any more
            process.kill()
            process.wait()
            raise
        return copy

    def call(self, function: Callable[Concatenate[W, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``function(world, …)`` in the copy and return its result; raises ``CopyFailed``."""
        with suppress(ConnectionError):  # the process has ended, which the missing result reports
            _send(self._link, CALL + pickle.dumps((function, args, kwargs)))
        result: R = self._receive_result()
        return result

    def pass_file(self, descriptor: int) -> int:
        """Open a file of this process in the copy, too; return its descriptor there. Raises ``CopyFailed``."""
        with suppress(ConnectionError):
            _send(self._link, FILE)
            socket.send_fds(self._link, [FILE], [descriptor])
        passed: int = self._receive_result()
        return passed

    def branch(
        self, change: Callable[Concatenate[W, P], object] | None = None, *args: P.args, **kwargs: P.kwargs
    ) -> Copy[W]:
        """Return a new copy of this copy, with a change applied to it; raises ``CopyFailed``."""
        with suppress(ConnectionError):
            _send(self._link, BRANCH)
        pid = self._receive_result()
        _, descriptors, _, _ = socket.recv_fds(self._link, 1, 1)
        copy: Copy[W] = Copy(socket.socket(fileno=descriptors[0]), pid)
        if change is not None:
            copy.call(change, *args, **kwargs)
        return copy

    def keep_spare(self, rehearsal: Callable[[W], object] | None) -> None:
        """Fork the next branch in advance from now on; with None, stop doing so. Returns at once.

        The rehearsal runs in a copy that is thrown away, and the spare then owns the pages that the rehearsal wrote to. After
        every ``call`` the spare is forked anew, so its world is always equal to this one.
        """
        with suppress(OSError):  # the process has ended, which the next call reports
            _send(self._link, SPARE + pickle.dumps(rehearsal))

    def close(self) -> None:
        """End the copy's process."""
        self._link.close()

    def kill(self) -> None:
        """End the copy's process at once, also in the middle of a call, which then raises ``CopyLost``."""
        if not self.has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Copy[W]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, for example because it was killed or ran out of memory."""
        try:
            return not self._link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def hand_over(self, link: socket.socket) -> None:
        """Send the copy to the process at the other end of a link, and close it here."""
        socket.send_fds(link, [b"f"], [self._link.fileno()])
        self.close()

    def _receive_result(self) -> Any:
        message = _receive(self._link)
        if message is None:
            raise CopyLost(f"the copy (process {self.pid}) has ended; it was killed or ran out of memory")
        if message[:1] == RAISED:
            raise CopyFailed(message[1:].decode())
        return pickle.loads(message[1:])


def call_in_copy(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a function in a copy of this process that ends afterwards, and return its result; raises ``CopyFailed``.

    The function need not be importable, and this process may have threads. Only the calling thread continues in the copy, so the
    function must not wait for others or for locks that they may hold; a copy without an answer is killed after ``ANSWER_S``.
    """
    ours, theirs = socket.socketpair()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer interpreters warn of forks beside threads
        pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            ours.close()
            gc.freeze()
            _send(theirs, _call_and_pickle(function, args, kwargs))
        finally:
            os._exit(0)
    theirs.close()
    copy: Copy[object] = Copy(ours, pid)
    ours.settimeout(ANSWER_S)
    try:
        result: R = copy._receive_result()
        return result
    except TimeoutError:
        raise CopyFailed(f"the copy (process {pid}) did not answer within {ANSWER_S:g} s") from None
    finally:
        copy.close()
        with suppress(OSError):  # the system may have reaped it
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _fork(world: W, link: socket.socket, pages: Sequence[Run] = ()) -> Copy[W]:
    """Fork a process that takes these pages and then serves its copy of the world."""
    _require_one_thread()
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        link.close()
        gc.freeze()
        _serve_and_exit(theirs, world, pages)
    theirs.close()
    return Copy(ours, pid)


def _describe_process() -> dict[str, Any]:
    """Return what a new process needs to import what this one can import, the script included."""
    if getattr(current_process(), "_inheriting", False):
        sys.exit(UNGUARDED)  # this already is the new process, importing the caller's script
    described = spawn.get_preparation_data("world")
    del described["authkey"]  # cannot be pickled, and no world needs it
    return described


def run_new_process(descriptor: int) -> NoReturn:
    """Prepare the world that the process at the other end of a link wants, and serve it. The process ends with the link."""
    # The system reaps the children of a copy; only the calling process handles Ctrl-C.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    link = socket.socket(fileno=descriptor)
    message = _receive(link)
    if message is None:
        os._exit(1)
    try:
        described, work = pickle.loads(message)
        process: Any = current_process()
        process._inheriting = (
            True  # as in any new process of ``multiprocessing``, while it imports the script
        )
        spawn.prepare(described)
        process._inheriting = False
        prepare, args, kwargs = pickle.loads(work)
        world = prepare(*args, **kwargs)
    except Exception:
        with suppress(ConnectionError):
            _send(link, RAISED + traceback.format_exc().encode())
        os._exit(1)
    gc.freeze()  # from now on pages are shared with copies, so the collector must not write to existing objects
    with suppress(ConnectionError):  # nobody waits for this world any more, which serving it notices
        _send(link, DONE + pickle.dumps(None))
    _serve_and_exit(link, world)


def _serve_and_exit(link: socket.socket, world: Any, pages: Sequence[Run] = ()) -> NoReturn:
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
        elif kind == FILE:
            _send(link, DONE + pickle.dumps(socket.recv_fds(link, 1, 1)[1][0]))
        else:
            spares.drop()  # the call may change the world
            _send(link, _call(world, body))
        spares.fork()


def _call(world: Any, body: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(body)
    except Exception:
        return RAISED + traceback.format_exc().encode()
    return _call_and_pickle(function, (world, *args), kwargs)


def _call_and_pickle(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    try:
        return DONE + pickle.dumps(function(*args, **kwargs))
    except Exception:
        return RAISED + traceback.format_exc().encode()


class _Spares(Generic[W]):
    """At most one copy that is kept ready in the process that is being copied.

    The spare ends with its parent, like every copy whose link is closed. It is only an optimization, so errors are suppressed here;
    they show again when a copy is requested or the rehearsed function is really called.
    """

    def __init__(self, world: W, link: socket.socket) -> None:
        self._world = world
        self._link = link
        self._pages: list[Run] | None = None
        """Pages that a spare takes in advance; None if no spare is wanted."""
        self._spare: Copy[W] | None = None

    def rehearse(self, pickled: bytes) -> None:
        """Run a rehearsal in a copy and store the pages it writes to; with None, keep no spare."""
        self.drop()
        self._pages = None
        with suppress(Exception):
            rehearsal = pickle.loads(pickled)
            if rehearsal is not None:
                with _fork(self._world, self._link) as copy:
                    self._pages = copy.call(_find_written_pages, rehearsal)

    def take(self) -> Copy[W] | None:
        """Return the spare if there is one and its process is alive."""
        spare, self._spare = self._spare, None
        return None if spare is None or spare.has_ended else spare

    def drop(self) -> None:
        """End the spare."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None

    def fork(self) -> None:
        """Fork a spare if one is wanted and there is none."""
        if self._pages is not None and self._spare is None:
            with suppress(Exception):
                self._spare = _fork(self._world, self._link, self._pages)


def _find_written_pages(world: W, rehearsal: Callable[[W], object]) -> list[Run]:
    rehearsal(world)
    return find_own_pages()


def _send(link: socket.socket, data: bytes) -> None:
    link.sendall(LENGTH.pack(len(data)) + data)


def _receive(link: socket.socket) -> bytes | None:
    header = _receive_exactly(link, LENGTH.size)
    return None if header is None else _receive_exactly(link, LENGTH.unpack(header)[0])


def _receive_exactly(link: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            part = link.recv(min(size - len(data), 1 << 20))
        except ConnectionError:  # the other process was killed before it read all that was sent
            return None
        if not part:
            return None
        data += part
    return bytes(data)


def _require_one_thread() -> None:
    try:
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a Path costs fifty pages after a fork)
    except FileNotFoundError:  # not Linux: threads of libraries are not counted
        threads = threading.active_count()
    if threads > 1:
        raise RuntimeError(
            f"this process has {threads} threads and cannot be copied safely; "
            "make copies before anything starts a thread"
        )
