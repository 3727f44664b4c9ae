"""An agent that is a program of its own: JSON lines on its standard input and output.

It is told `{"type": "problem", …}` once, then `{"type": "state", "state": …}` again and again, and answers each state
with one line `{"action": "…"}`, `"usage"` beside it if it likes; `{"type": "end"}` is the last it hears. What it
writes to standard error is its own affair; the last of it is kept to explain a failure.

The program gets a process group of its own, which is ended with it, and of our environment only what programs need to
run at all: keys for a model are handed over by name. Lines, times and what is kept are bounded.
"""

import asyncio
import json
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any

from aiopslab.orchestrator.agent_link import (
    AgentFailed,
    AgentGone,
    AgentLink,
    AgentTimedOut,
    Usage,
    as_response,
    as_usage,
    bounded,
)

MAX_LINE_BYTES = 2 * 1024 * 1024
_MAX_STDERR_BYTES = 4096
_GRACE_S = 2.0
_POLL_S = 0.05
_INHERITED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip


class SubprocessAgent:
    """A command that is an agent. `env` is what it gets beside `PATH`, `HOME` and their like."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        if isinstance(argv, str) or not argv:
            raise AgentFailed(
                'The command of a SubprocessAgent is a list of words, for example ["python", "my_agent.py"].'
            )
        self.argv = tuple(str(word) for word in argv)
        self.env = dict(env or {})

    def link(self, name: str, *, timeout_s: float) -> AgentLink:
        """A link for one session; the program starts with it and ends with it."""
        return _SubprocessLink(self, name, timeout_s)


class _SubprocessLink(AgentLink):
    def __init__(self, agent: SubprocessAgent, name: str, timeout_s: float) -> None:
        self.name = name
        self._agent = agent
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self._stderr = b""
        self._usage: Usage | None = None

    async def init(self, problem: str, instructions: str, apis: dict[str, str]) -> None:
        await self._exchange(
            {"type": "problem", "description": problem, "instructions": instructions, "actions": apis},
            answered=False,
        )

    async def get_action(self, state: str) -> str:
        line = await self._exchange({"type": "state", "state": state}, answered=True)
        told = self._decoded(line)
        usage = as_usage(told["usage"]) if told.get("usage") is not None else None
        self._usage = usage or self._usage
        return as_response(self.name, told["action"])

    def usage(self) -> Usage | None:
        return self._usage

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        try:
            if process.returncode is None:
                await self._say_goodbye(process)
            if not await _exited(process, _GRACE_S):
                _signal_group(process.pid, signal.SIGTERM)
                await _exited(process, _GRACE_S)
        finally:
            self._kill(process)
        await _exited(process, _GRACE_S)
        if self._listening is not None:
            self._listening.cancel()

    async def _exchange(self, message: dict[str, Any], *, answered: bool) -> bytes:
        """Say one thing and hear one line, if one is due; whatever goes wrong, the program is ended and it is told."""
        try:
            async with asyncio.timeout(self._timeout_s):
                process = self._process or await self._start()
                assert process.stdin is not None
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
                return await self._line(process) if answered else b""
        except TimeoutError:
            self._kill(self._process)
            raise AgentTimedOut(
                f"The agent {self.name} has not answered within {self._timeout_s:g} s and was ended. Make it answer each state "
                f"with one line, flushed, or give it more time.{self._last_words()}"
            ) from None
        except (BrokenPipeError, ConnectionResetError):
            raise await self._gone() from None
        except AgentFailed:
            self._kill(self._process)
            raise

    async def _start(self) -> asyncio.subprocess.Process:
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ} | self._agent.env
        try:
            process = await asyncio.create_subprocess_exec(
                *self._agent.argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                limit=MAX_LINE_BYTES,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise AgentFailed(
                f"The agent {self.name} cannot be started: {bounded(self._agent.argv[0], 200)}: {reason}. "
                "Check the command, and that the file may be executed."
            ) from None
        self._process = process
        self._listening = asyncio.create_task(self._keep_stderr(process))
        return process

    async def _line(self, process: asyncio.subprocess.Process) -> bytes:
        """The next line of the program's output. Its children may hold the pipe open, so its end is looked for, too."""
        assert process.stdout is not None
        reading = asyncio.create_task(process.stdout.readuntil(b"\n"))
        try:
            while not reading.done():
                over = process.returncode is not None
                await asyncio.wait({reading}, timeout=_POLL_S)
                if over and not reading.done():
                    raise await self._gone()
            return reading.result()
        except asyncio.IncompleteReadError:
            raise await self._gone() from None
        except asyncio.LimitOverrunError:
            raise AgentFailed(
                f"The agent {self.name} wrote a line of more than {MAX_LINE_BYTES} bytes and was ended. An answer is one short "
                'line: {"action": "…"}.'
            ) from None
        finally:
            reading.cancel()

    def _decoded(self, line: bytes) -> dict[str, Any]:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict) or "action" not in told:
            self._kill(self._process)
            seen = bounded(line.decode(errors="replace").strip(), 200)
            raise AgentFailed(
                f'The agent {self.name} wrote {seen!r} where a line {{"action": "…"}} was expected. Only answers go to standard '
                "output; write everything else to standard error."
            )
        return told

    async def _gone(self) -> AgentGone:
        process = self._process
        assert process is not None
        ended = await _exited(process, _GRACE_S)
        self._kill(process)
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=_GRACE_S)
        how = _ending(process.returncode) if ended else "closed its standard output"
        return AgentGone(f"The agent {self.name} {how} before it answered.{self._last_words()}")

    async def _keep_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(65536):
            self._stderr = (self._stderr + chunk)[-_MAX_STDERR_BYTES:]

    def _last_words(self) -> str:
        lines = self._stderr.decode(errors="replace").strip().splitlines()[-10:]
        return "\nThe last it wrote to standard error:\n" + "\n".join(lines) if lines else ""

    async def _say_goodbye(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(b'{"type": "end"}\n')
            process.stdin.close()
        except (BrokenPipeError, ConnectionResetError, RuntimeError):
            pass

    @staticmethod
    def _kill(process: asyncio.subprocess.Process | None) -> None:
        """End the whole group, at once: what a program started goes with it."""
        if process is not None:
            _signal_group(process.pid, signal.SIGKILL)


async def _exited(process: asyncio.subprocess.Process, within_s: float) -> bool:
    """Whether the program itself ends in time; asyncio's own wait would wait for everybody who holds its pipes."""
    for _ in range(int(within_s / _POLL_S)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(_POLL_S)
    return process.returncode is not None


def _signal_group(leader: int, number: signal.Signals) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        pass


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by signal {-code} ({signal.strsignal(-code)})"
    return f"exited with code {code}"
