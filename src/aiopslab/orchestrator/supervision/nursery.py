"""A nursery: a process that has imported what agents need, and forks a supervisor with its agent for each session.

A new Python process takes 0.2 s of CPU until it has imported an agent; a fork takes a few milliseconds. The nursery is
started before any world exists and gets nothing but requests to fork, so that its memory, which every agent inherits, holds no world,
no answer, no key and no problem. It runs no code of an agent; the process of an agent sets the same limits and gives up the same
rights as one that is executed (``supervisor.py``). A nursery serves one session at a time, so that all its descendants belong to that session.
It needs a kernel that keeps an agent from signalling it: otherwise one agent could end or stop the parent of the next.

A request is one message with four files: the control socket of a supervisor, and the agent's standard streams. There is no answer.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, NoReturn

from aiopslab.orchestrator.supervision import kernel
from aiopslab.orchestrator.supervision.family import IS_LINUX, find_descendants, send_signal
from aiopslab.orchestrator.supervision.harness import end_with_parent
from aiopslab.orchestrator.supervision.supervisor import Supervisor

FORK: Final = b"f"
FILES: Final = 4
END_S: Final = 15.0
"""Maximum time for the processes of a session to end once they are killed."""
_PAUSE_S: Final = 0.005


class SupervisorLost(Exception):
    """A supervisor ended before it had started its program: it or its nursery was killed, or memory ran out."""


class NurseryLink(NamedTuple):
    """How the process of a session reaches a nursery that another process has started."""

    descriptor: int
    pid: int

    def fork_supervisor(self, files: Sequence[int]) -> None:
        """Have a supervisor forked that uses these files; raises ``SupervisorLost``."""
        try:
            with socket.socket(fileno=os.dup(self.descriptor)) as requests:
                socket.send_fds(requests, [FORK], files)
        except OSError as error:
            raise SupervisorLost(f"the nursery of agents has ended ({error.strerror})") from None

    def end_session(self) -> None:
        """Kill all processes that the nursery has forked, and their descendants; the nursery reaps them."""
        deadline = time.monotonic() + END_S
        while (left := find_descendants(self.pid)) and time.monotonic() < deadline:
            for process in left:
                send_signal(process.pid, signal.SIGKILL)
            time.sleep(_PAUSE_S)


class Nursery:
    """A nursery, in the process that has started it and ends it."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Start a program that calls ``serve_nursery`` with the descriptor that is its last argument."""
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*argv, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=dict(env),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self.link = NurseryLink(self._requests.fileno(), self._process.pid)

    @staticmethod
    def is_supported() -> bool:
        """Return whether this kernel protects a nursery from agents."""
        return IS_LINUX and kernel.can_restrict_signals()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End the nursery and all that it has forked."""
        if self.is_alive:  # otherwise its process id may have become another's
            self.link.end_session()
        self._requests.close()
        self._process.kill()
        self._process.wait()


def serve_nursery(requests: socket.socket) -> None:
    """Fork a supervisor for each request, until the process that has started the nursery ends."""
    end_with_parent()
    kernel.set_process(kernel.PR_SET_DUMPABLE, 0)
    kernel.set_process(kernel.PR_SET_CHILD_SUBREAPER)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps supervisors, and what they leave
    gc.collect()
    gc.freeze()  # the collector must not write to memory that is shared with agents
    while True:
        request, files, _, _ = socket.recv_fds(requests, 1, FILES)
        if not request:
            return
        if not os.fork():
            requests.close()
            _supervise(files)
        for file in files:
            os.close(file)


def _supervise(files: Sequence[int]) -> NoReturn:
    """Be the supervisor of one session in this process."""
    try:
        os.setsid()
        control, *streams = files
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        Supervisor(socket.socket(fileno=control), _execute).run()
    finally:
        os._exit(0)


def _execute(program: str, argv: list[str], env: dict[str, str]) -> NoReturn:
    """Execute a program, as ``os.execvpe``; but run ``python -c CODE`` of this interpreter in this process."""
    if argv[:2] != [sys.executable, "-c"]:
        os.execvpe(program, argv, env)
    _reset_process(env)
    sys.argv = ["-c", *argv[3:]]
    code = 0
    try:
        exec(argv[2], vars(sys.modules["__main__"]))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if not isinstance(error.code, int | None):
            print(error.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    # What an interpreter does at its end, except for freeing its objects one by one, which would copy the memory that is shared.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _reset_process(env: Mapping[str, str]) -> None:
    """Give this process what a newly executed interpreter has: its environment, its signals, no other open files."""
    signal.set_wakeup_fd(-1)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kernel.set_process(kernel.PR_SET_DUMPABLE, 1)  # it may read its own files in /proc
