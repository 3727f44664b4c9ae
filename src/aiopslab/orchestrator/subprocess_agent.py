"""An agent that is a separate program: JSON lines on its standard input and output.

It receives `{"type": "problem", …}` once, then `{"type": "state", "state": …}` for each step, and answers each state with
one line `{"action": "…"}`, optionally with `"usage"`; `{"type": "end"}` is the last message. Its standard error is free
for its own use; the last lines are kept to explain a failure.

The program runs in a process group of its own, which is ended with it. It inherits only the basic variables of the
environment: API keys are passed by name. Line lengths, times and kept output are bounded.
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
    check_response,
    parse_usage,
    truncate,
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
    """A command that is an agent. `env` adds variables to the basic ones such as `PATH` and `HOME`."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        if isinstance(argv, str) or not argv:
            raise AgentFailed(
                'The command of a SubprocessAgent is a list of words, for example ["python", "my_agent.py"].'
            )
        self.argv = tuple(str(word) for word in argv)
        self.env = dict(env or {})

    def link(self, name: str, *, timeout_s: float) -> AgentLink:
        """Return a link for one session; the program starts and ends with it."""
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
            expect_answer=False,
        )

    async def get_action(self, state: str) -> str:
        line = await self._exchange({"type": "state", "state": state}, expect_answer=True)
        answer = self._decode_answer(line)
        usage = parse_usage(answer["usage"]) if answer.get("usage") is not None else None
        self._usage = usage or self._usage
        return check_response(self.name, answer["action"])

    def usage(self) -> Usage | None:
        return self._usage

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        try:
            if process.returncode is None:
                await self._send_end(process)
            if not await _wait_for_exit(process, _GRACE_S):
                _signal_group(process.pid, signal.SIGTERM)
                await _wait_for_exit(process, _GRACE_S)
        finally:
            self._kill(process)
        await _wait_for_exit(process, _GRACE_S)
        if self._listening is not None:
            self._listening.cancel()

    async def _exchange(self, message: dict[str, Any], *, expect_answer: bool) -> bytes:
        """Send a message and return the answer's line, if one is expected. On any failure, end the program and raise."""
        try:
            async with asyncio.timeout(self._timeout_s):
                process = self._process or await self._start()
                assert process.stdin is not None
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
                return await self._read_line(process) if expect_answer else b""
        except TimeoutError:
            self._kill(self._process)
            raise AgentTimedOut(
                f"The agent {self.name} did not answer within {self._timeout_s:g} s and was ended. Make it answer each state "
                f"with one line, flushed, or increase its timeout.{self._format_stderr()}"
            ) from None
        except (BrokenPipeError, ConnectionResetError):
            raise await self._make_gone_error() from None
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
                f"The agent {self.name} cannot be started: {truncate(self._agent.argv[0], 200)}: {reason}. "
                "Check the command, and that the file is executable."
            ) from None
        self._process = process
        self._listening = asyncio.create_task(self._keep_stderr(process))
        return process

    async def _read_line(self, process: asyncio.subprocess.Process) -> bytes:
        """Return the next line of output. Also polls for the program's exit, because its children may hold the pipe open."""
        assert process.stdout is not None
        reading = asyncio.create_task(process.stdout.readuntil(b"\n"))
        try:
            while not reading.done():
                over = process.returncode is not None
                await asyncio.wait({reading}, timeout=_POLL_S)
                if over and not reading.done():
                    raise await self._make_gone_error()
            return reading.result()
        except asyncio.IncompleteReadError:
            raise await self._make_gone_error() from None
        except asyncio.LimitOverrunError:
            raise AgentFailed(
                f"The agent {self.name} wrote a line of more than {MAX_LINE_BYTES} bytes and was ended. An answer is one short "
                'line: {"action": "…"}.'
            ) from None
        finally:
            reading.cancel()

    def _decode_answer(self, line: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or "action" not in answer:
            self._kill(self._process)
            seen = truncate(line.decode(errors="replace").strip(), 200)
            raise AgentFailed(
                f'The agent {self.name} wrote {seen!r} where a line {{"action": "…"}} was expected. Only answers go to standard '
                "output; write everything else to standard error."
            )
        return answer

    async def _make_gone_error(self) -> AgentGone:
        process = self._process
        assert process is not None
        ended = await _wait_for_exit(process, _GRACE_S)
        self._kill(process)
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=_GRACE_S)
        how = _describe_exit(process.returncode) if ended else "closed its standard output"
        return AgentGone(f"The agent {self.name} {how} before it answered.{self._format_stderr()}")

    async def _keep_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while chunk := await process.stderr.read(65536):
            self._stderr = (self._stderr + chunk)[-_MAX_STDERR_BYTES:]

    def _format_stderr(self) -> str:
        lines = self._stderr.decode(errors="replace").strip().splitlines()[-10:]
        return "\nIts last lines on standard error:\n" + "\n".join(lines) if lines else ""

    async def _send_end(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(b'{"type": "end"}\n')
            process.stdin.close()
        except (BrokenPipeError, ConnectionResetError, RuntimeError):
            pass

    @staticmethod
    def _kill(process: asyncio.subprocess.Process | None) -> None:
        """Kill the whole process group, children included."""
        if process is not None:
            _signal_group(process.pid, signal.SIGKILL)


async def _wait_for_exit(process: asyncio.subprocess.Process, within_s: float) -> bool:
    """Return whether the program ends in time. asyncio's own wait also waits for children that hold its pipes."""
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


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by signal {-code} ({signal.strsignal(-code)})"
    return f"exited with code {code}"
