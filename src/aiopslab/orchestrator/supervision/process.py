"""A program under a supervisor, as the harness sees it: standard streams, how it exited, and its certain end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from aiopslab.orchestrator.supervision.family import find_descendants, send_signal
from aiopslab.orchestrator.supervision.harness import find_orphans
from aiopslab.orchestrator.supervision.limits import Limits
from aiopslab.orchestrator.supervision.namespaces import Isolation

END_S: Final = 15.0
"""Time that a supervisor has to end its processes; then the harness ends them itself."""
RELEASE_S: Final = 2.0
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

    def __init__(self, supervisor: asyncio.subprocess.Process, control: socket.socket) -> None:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        self.stdin, self.stdout, self.stderr = supervisor.stdin, supervisor.stdout, supervisor.stderr
        self.exit_code: int | None = None
        """Negative for a signal."""
        self.exceeded = ""
        """The limit that it exceeded and was ended for."""
        self._supervisor = supervisor
        self._control = control
        self._writer: asyncio.StreamWriter | None = None
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._listening: asyncio.Task[None] | None = None
        self._exited = asyncio.Event()
        self._others = {process.pid for process in find_orphans()}
        _SUPERVISORS.add(supervisor.pid)

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        env: Mapping[str, str],
        limits: Limits,
        isolation: Isolation | None,
        line_bytes: int,
    ) -> SupervisedProcess:
        """Start a program; raises ``NotStarted``. ``line_bytes`` is the maximum length of a line on its standard output."""
        ours, theirs = socket.socketpair()
        os.set_inheritable(theirs.fileno(), True)
        source = Path(__file__).parents[3]
        with theirs:
            supervisor = await asyncio.create_subprocess_exec(
                sys.executable, "-S", "-P", "-E", "-c", _BOOT, str(theirs.fileno()), str(source),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                env={},
                limit=line_bytes,
                start_new_session=True,
            )  # fmt: skip
        process = cls(supervisor, ours)
        await process._launch(argv, env, limits, isolation)
        return process

    async def _launch(
        self, argv: Sequence[str], env: Mapping[str, str], limits: Limits, isolation: Isolation | None
    ) -> None:
        reader, self._writer = await asyncio.open_connection(sock=self._control)
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
        if "started" not in answer:
            await self.end()
            await self.release()
            raise NotStarted(answer.get("refused") or "its supervisor ended")

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
        with suppress(ProcessLookupError):
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
            _SUPERVISORS.discard(self._supervisor.pid)
            self._listening.cancel()
            self._listening = None
            if self._writer is not None:
                self._writer.close()

    async def release(self) -> None:
        """Close the streams of a program that has ended, whatever is unread in them."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._supervisor.wait(), RELEASE_S)
        self._supervisor._transport.close()  # type: ignore[attr-defined]  # asyncio has no public way

    def _end_rest(self) -> None:
        """End what is left of a supervisor that does not answer or was killed."""
        for process in find_descendants(self._supervisor.pid):
            send_signal(process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
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
