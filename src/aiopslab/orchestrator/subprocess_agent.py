"""An agent that is a separate program: JSON lines on its standard input and output.

It receives `{"type": "problem", …}` once, then `{"type": "state", "state": …}` for each step, and answers each state with
one line `{"action": "…"}`, optionally with `"usage"` and `"settings"`, or with `{"error": "…"}` if it has failed; `{"type": "end"}` is the
last message. Its standard error is free for its own use; the last lines are kept to explain a failure.

The program runs under a supervisor (`supervision`), which limits it and ends it together with everything that it has started. It
inherits only the basic variables of the environment: API keys are passed by name. Line lengths, times and kept output are bounded.
"""

import asyncio
import codecs
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiopslab.orchestrator.agent_link import (
    AgentFailed,
    AgentGone,
    AgentLink,
    AgentNotStarted,
    AgentTimedOut,
    Usage,
    check_response,
    parse_settings,
    parse_usage,
    truncate,
)
from aiopslab.orchestrator.models import Tool
from aiopslab.orchestrator.supervision import Isolation, Limits, NurseryLink, SupervisedProcess
from aiopslab.orchestrator.supervision.process import NotStarted

MAX_LINE_BYTES = 2 * 1024 * 1024
_MAX_STDERR_BYTES = 4096
_GRACE_S = 2.0
_POLL_S = 0.05
_INHERITED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
)  # fmt: skip

OnOutput = Callable[[str], None]


class SubprocessAgent:
    """A command that is an agent.

    `env` adds variables to the basic ones such as `PATH` and `HOME`. With `isolation`, the program runs in namespaces of its own.
    A program that `announces` itself writes a line `{"ready": NAME}` when it can work, optionally with `"settings"`, or `{"error": "…"}` if it cannot.
    `on_output` receives what it writes to standard error. A `nursery` forks its supervisor, and the program too if it is Python code.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        limits: Limits = Limits(),  # noqa: B008 (a tuple)
        isolation: Isolation | None = None,
        announces: bool = False,
        on_output: OnOutput | None = None,
        nursery: NurseryLink | None = None,
    ) -> None:
        if isinstance(argv, str) or not argv:
            raise AgentFailed(
                'The command of a SubprocessAgent is a list of words, for example ["python", "my_agent.py"].'
            )
        self.argv = tuple(str(word) for word in argv)
        self.env = dict(env or {})
        self.limits = limits
        self.isolation = isolation
        self.announces = announces
        self.on_output = on_output
        self.nursery = nursery

    def link(self, name: str, *, timeout_s: float) -> AgentLink:
        """Return a link for one session; the program starts and ends with it."""
        return _SubprocessLink(self, name, timeout_s)


def get_basic_variables() -> dict[str, str]:
    """Return the variables of the environment that every program gets."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


class _SubprocessLink(AgentLink):
    def __init__(self, agent: SubprocessAgent, name: str, timeout_s: float) -> None:
        self.name = name
        self._agent = agent
        self._timeout_s = timeout_s
        self._process: SupervisedProcess | None = None
        self._listening: asyncio.Task[None] | None = None
        self._stderr = b""
        self._usage: Usage | None = None
        self._settings: dict[str, Any] = {}

    async def start(self) -> None:
        if self._process is not None:
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                process = await self._launch()
                if not self._agent.announces:
                    return
                announcement = self._decode(await self._read_line(process), "ready")
        except TimeoutError:
            await self._end()
            raise AgentNotStarted(
                f"The agent {self.name} was not ready within {self._timeout_s:g} s.{self._format_stderr()}"
            ) from None
        except AgentFailed as error:
            await self._end()
            raise AgentNotStarted(str(error)) from None
        if "error" in announcement:
            await self._end()
            raise AgentNotStarted(truncate(str(announcement["error"])))
        self.name = truncate(str(announcement["ready"]), 200)
        self._settings = parse_settings(announcement.get("settings"))

    async def init(
        self, problem: str, instructions: str, apis: dict[str, str], tools: Sequence[Tool] = ()
    ) -> None:
        await self.start()
        message = {"type": "problem", "description": problem, "instructions": instructions, "actions": apis}
        await self._exchange({**message, "tools": [vars(tool) for tool in tools]}, expect_answer=False)

    async def get_action(self, state: str) -> str:
        await self.start()
        answer = await self._exchange({"type": "state", "state": state}, expect_answer=True)
        usage = parse_usage(answer["usage"]) if answer.get("usage") is not None else None
        self._usage = usage or self._usage
        self._settings = parse_settings(answer.get("settings")) or self._settings
        return check_response(self.name, answer["action"])

    def usage(self) -> Usage | None:
        return self._usage

    def settings(self) -> dict[str, Any]:
        return self._settings

    def keep_last_words(self, journal: Path, draft: str) -> bool:
        if self._process is None:
            return False
        self._process.keep_last_words(journal, draft)
        return True

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        try:
            if process.exit_code is None:
                self._send_end(process)
            if not await process.wait_for_exit(_GRACE_S):
                process.terminate()
                await process.wait_for_exit(_GRACE_S)
        finally:
            await self._end()

    async def _end(self) -> None:
        """End the program and everything that it has started, and keep its last output."""
        if self._process is None:
            return
        await self._process.end()
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=_GRACE_S)
            self._listening.cancel()
        await self._process.release()

    async def _exchange(self, message: dict[str, Any], *, expect_answer: bool) -> dict[str, Any]:
        """Send a message and return the answer, if one is expected. On any failure, end the program and raise."""
        process = self._process
        assert process is not None
        try:
            async with asyncio.timeout(self._timeout_s):
                process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
                if not expect_answer:
                    return {}
                answer = self._decode(await self._read_line(process), "action")
                if "error" in answer:
                    raise AgentFailed(f"The agent {self.name} raised {truncate(str(answer['error']))}")
                return answer
        except TimeoutError:
            await self._end()
            raise AgentTimedOut(
                f"The agent {self.name} did not answer within {self._timeout_s:g} s and was ended. Make it answer each state "
                f"with one line, flushed, or increase its timeout.{self._format_stderr()}"
            ) from None
        except (BrokenPipeError, ConnectionResetError):
            raise await self._make_gone_error(process) from None
        except AgentFailed:
            await self._end()
            raise

    async def _launch(self) -> SupervisedProcess:
        agent = self._agent
        try:
            process = await SupervisedProcess.start(
                agent.argv,
                get_basic_variables() | agent.env,
                agent.limits,
                agent.isolation,
                MAX_LINE_BYTES,
                agent.nursery,
            )
        except (NotStarted, OSError, ValueError) as error:
            raise AgentNotStarted(_describe_refusal(self.name, agent.argv[0], str(error))) from None
        self._process = process
        self._listening = asyncio.create_task(self._keep_stderr(process))
        return process

    async def _read_line(self, process: SupervisedProcess) -> bytes:
        """Return the next line of output. Also polls for the program's exit, because its children may hold the pipe open."""
        reading = asyncio.create_task(process.stdout.readuntil(b"\n"))
        try:
            while not reading.done():
                over = process.exit_code is not None
                await asyncio.wait({reading}, timeout=_POLL_S)
                if over and not reading.done():
                    raise await self._make_gone_error(process)
            return reading.result()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            raise await self._make_gone_error(process) from None
        except asyncio.LimitOverrunError:
            raise AgentFailed(
                f"The agent {self.name} wrote a line of more than {MAX_LINE_BYTES} bytes and was ended. An answer is one short "
                'line: {"action": "…"}.'
            ) from None
        finally:
            reading.cancel()

    def _decode(self, line: bytes, key: str) -> dict[str, Any]:
        """Return a message of the program, which has a value under the key or under `error`."""
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict) and (key in answer or "error" in answer):
            return answer
        seen = truncate(line.decode(errors="replace").strip(), 200)
        raise AgentFailed(
            f'The agent {self.name} wrote {seen!r} where a line {{"{key}": "…"}} was expected. Only answers go to standard '
            "output; write everything else to standard error."
        )

    async def _make_gone_error(self, process: SupervisedProcess) -> AgentGone:
        ended = await process.wait_for_exit(_GRACE_S)
        await self._end()
        if process.exceeded:
            return AgentGone(
                f"The agent {self.name} had {process.exceeded} and was ended.{self._format_stderr()}"
            )
        how = _describe_exit(process.exit_code) if ended else "closed its standard output"
        return AgentGone(f"The agent {self.name} {how} before it answered.{self._format_stderr()}")

    async def _keep_stderr(self, process: SupervisedProcess) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        while chunk := await process.stderr.read(65536):
            self._stderr = (self._stderr + chunk)[-_MAX_STDERR_BYTES:]
            if self._agent.on_output is not None:
                self._agent.on_output(decoder.decode(chunk))

    def _format_stderr(self) -> str:
        lines = self._stderr.decode(errors="replace").strip().splitlines()[-10:]
        return "\nIts last lines on standard error:\n" + "\n".join(lines) if lines else ""

    @staticmethod
    def _send_end(process: SupervisedProcess) -> None:
        try:
            process.stdin.write(b'{"type": "end"}\n')
            process.stdin.close()
        except (BrokenPipeError, ConnectionResetError, RuntimeError):
            pass


def _describe_refusal(name: str, program: str, reason: str) -> str:
    if reason.startswith("isolation: "):
        return (
            f"The agent {name} cannot be isolated on this host: {reason.removeprefix('isolation: ')}. Run it without isolation, or "
            "allow unprivileged user namespaces (docs/isolation.md)."
        )
    return (
        f"The agent {name} cannot be started: {truncate(program, 200)}: {reason}. "
        "Check the command, and that the file is executable."
    )


def _describe_exit(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by signal {-code} ({signal.strsignal(-code)})"
    return f"exited with code {code}"
