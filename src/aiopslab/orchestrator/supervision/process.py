"""A program under a supervisor, as the harness sees it: standard streams, how it exited, and its certain end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from aiopslab.orchestrator.supervision.family import find_descendants, send_signal
from aiopslab.orchestrator.supervision.harness import find_orphans
from aiopslab.orchestrator.supervision.limits import Limits
from aiopslab.orchestrator.supervision.namespaces import Isolation
from aiopslab.orchestrator.supervision.nursery import NurseryLink, SupervisorLost

END_S: Final = 15.0
"""Time that a supervisor has to end its processes; then the harness ends them itself."""
RELEASE_S: Final = 2.0
_PAUSE_S: Final = 0.005
_BOOT: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop()); "
    "from aiopslab.orchestrator.supervision.supervisor import main; main()"
)


_SUPERVISORS: Final[set[int]] = set()
"""Process ids of the supervisors that this process has started and not yet ended."""


class NotStarted(Exception):
    """The program could not be executed, or could not be isolated; the message is the reason."""


class SupervisedProcess:
    """A running program. ``stdin``, ``stdout`` and ``stderr`` are asyncio streams; ``exit_code`` is None while it runs."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    def __init__(self, supervisor: subprocess.Popen[bytes] | None, nursery: NurseryLink | None) -> None:
        """``supervisor`` is a child of this process; None if the nursery has forked it."""
        self.exit_code: int | None = None
        """Negative for a signal."""
        self.exceeded = ""
        """The limit that it exceeded and was ended for."""
        self._supervisor = supervisor
        self._nursery = nursery
        self._writer: asyncio.StreamWriter | None = None
        self._pipes: list[asyncio.ReadTransport] = []
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._listening: asyncio.Task[None] | None = None
        self._exited = asyncio.Event()
        self._others = {process.pid for process in find_orphans()} if nursery is None else set()
        if supervisor is not None:
            _SUPERVISORS.add(supervisor.pid)

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        env: Mapping[str, str],
        limits: Limits,
        isolation: Isolation | None,
        line_bytes: int,
        nursery: NurseryLink | None = None,
    ) -> SupervisedProcess:
        """Start a program; raises ``NotStarted`` and ``SupervisorLost``. ``line_bytes`` is the maximum length of a line of its output."""
        control, their_control = socket.socketpair()
        stdin, their_stdin = socket.socketpair()
        (stdout, their_stdout), (stderr, their_stderr) = os.pipe(), os.pipe()
        theirs = [their_control.detach(), their_stdin.detach(), their_stdout, their_stderr]
        try:
            supervisor = _start_supervisor(theirs, nursery)
        except BaseException:
            for file in (control.detach(), stdin.detach(), stdout, stderr):
                os.close(file)
            raise
        finally:
            for file in theirs:
                os.close(file)
        process = cls(supervisor, nursery)
        _, process.stdin = await asyncio.open_connection(sock=stdin)
        process.stdout = await process._open_pipe(stdout, line_bytes)
        process.stderr = await process._open_pipe(stderr, line_bytes)
        await process._launch(control, argv, env, limits, isolation)
        return process

    async def _open_pipe(self, file: int, line_bytes: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(line_bytes)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(file, "rb", 0)
        )
        self._pipes.append(transport)
        return reader

    async def _launch(
        self,
        control: socket.socket,
        argv: Sequence[str],
        env: Mapping[str, str],
        limits: Limits,
        isolation: Isolation | None,
    ) -> None:
        reader, self._writer = await asyncio.open_connection(sock=control)
        self._listening = asyncio.create_task(self._listen(reader))
        self._send(
            {
                "argv": list(argv),
                "env": dict(env),
                "folder": str(Path.cwd()),
                "limits": limits,
                "isolation": isolation,
            }
        )
        try:
            answer = await self._answers.get()
        except asyncio.CancelledError:
            await self.end()
            raise
        if "started" in answer:
            return
        await self.end()
        await self.release()
        if "refused" in answer:
            raise NotStarted(answer["refused"])
        raise SupervisorLost("the supervisor of the agent ended before it started the agent")

    def keep_last_words(self, journal: Path, draft: str) -> None:
        """Have a line appended to a file if this process is killed."""
        self._send({"journal": str(journal.absolute()), "draft": draft})

    async def wait_for_exit(self, within_s: float) -> bool:
        """Return whether the program's first process ends in time; its children may live on."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), within_s)
        return self.exit_code is not None

    def terminate(self) -> None:
        """Ask the program to exit."""
        self._send({"terminate": True})

    async def end(self) -> None:
        """End the program and everything that it has started. Idempotent."""
        if self._listening is None:
            return
        if self._supervisor is not None:
            self._supervisor.send_signal(signal.SIGCONT)  # an agent may have stopped it
        self._send({"end": True})
        has_ended = False
        try:
            async with asyncio.timeout(END_S):
                while not has_ended:
                    answer = await self._answers.get()
                    if "lost" in answer:
                        break
                    has_ended = "ended" in answer
        except TimeoutError:
            pass
        finally:
            if not has_ended:
                self._end_rest()
            if self.exit_code is None:
                self.exit_code = -signal.SIGKILL
            self._exited.set()
            if self._supervisor is not None:
                _SUPERVISORS.discard(self._supervisor.pid)
            self._listening.cancel()
            self._listening = None
            if self._writer is not None:
                self._writer.close()

    async def release(self) -> None:
        """Close the streams of a program that has ended, whatever is unread in them."""
        deadline = time.monotonic() + RELEASE_S
        while (
            self._supervisor is not None and self._supervisor.poll() is None and time.monotonic() < deadline
        ):
            await asyncio.sleep(_PAUSE_S)
        self.stdin.transport.abort()
        for pipe in self._pipes:
            pipe.close()

    def _end_rest(self) -> None:
        """End what is left of a supervisor that does not answer or was killed."""
        if self._nursery is not None:
            self._nursery.end_session()
            return
        assert self._supervisor is not None
        for process in find_descendants(self._supervisor.pid):
            send_signal(process.pid, signal.SIGKILL)
        self._supervisor.kill()
        known = self._others | _SUPERVISORS
        while orphans := [process.pid for process in find_orphans() if process.pid not in known]:
            for pid in orphans:
                send_signal(pid, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._writer is not None
        with suppress(OSError, RuntimeError):
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            async for line in reader:
                message = json.loads(line)
                self.exceeded = message.get("exceeded", self.exceeded)
                self.exit_code = message.get("exited", self.exit_code)
                if self.exit_code is not None:
                    self._exited.set()
                if message.keys() & {"started", "refused", "ended"}:
                    self._answers.put_nowait(message)
        if self.exit_code is None:
            self.exit_code = -signal.SIGKILL  # the supervisor is gone, and the program with it
        self._exited.set()
        self._answers.put_nowait({"lost": True})


def _start_supervisor(files: Sequence[int], nursery: NurseryLink | None) -> subprocess.Popen[bytes] | None:
    """Start a supervisor with its control socket and the program's standard streams, and return it if it is a child."""
    if nursery is not None:
        nursery.fork_supervisor(files)
        return None
    control, stdin, stdout, stderr = files
    return subprocess.Popen(
        [sys.executable, "-S", "-P", "-E", "-c", _BOOT, str(control), str(Path(__file__).parents[3])],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=(control,),
        env={},
        start_new_session=True,
    )
