"""One session of the server: its process, its state, its events, and its certain end in a record.

The world, the answer and the judge are in the session's process; this process passes requests to it, one at a time. A
process that dies, hangs or fails ends its session: what its journal holds becomes the record.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar

from aiopslab.orchestrator import (
    FIRST,
    Ending,
    NotARecord,
    RecordNotWritten,
    Stage,
    Usage,
    close_journal,
    read_record,
)
from aiopslab.servers.http_api.errors import HttpError
from aiopslab.servers.http_api.events import EventLog
from aiopslab.servers.http_api.session_process import (
    Answer,
    Closing,
    Opening,
    Reaction,
    SessionSettings,
    close_session,
    open_session,
    show_view,
    take_step,
)
from simcloud.world import Copy, CopyFailed, CopyLost

R = TypeVar("R")
State = Literal["preparing", "open", "ended"]

STOP_S: Final = 10.0
"""Time that a running action has to finish once its session has to end."""
SPARE_S: Final = 30.0
"""Time that a process has beyond its own limits before it is killed."""
MAX_VIEWS: Final = 8
"""Views that may wait for a session at once."""
LOST: Final = "The session's process has ended: it was killed, or ran out of memory. Nothing was judged."
STUCK: Final = "The session's process did not answer in time and was killed. Nothing was judged."
OVER: Final = "The session is over. Its record has everything that happened."
SHOWN: Final = (
    "agent", "seed", "version", "start_time", "system_prompt", "trace", "steps", "health", "simulated", "ending", "why",
)  # fmt: skip
"""The fields of an open session's record that say nothing about the answer."""


class _Stuck(CopyFailed):
    """A process did not answer in time and was killed."""


@dataclass(frozen=True)
class SessionPlan:
    """What was ordered, and what the server made of it."""

    problem: str
    is_chosen: bool
    """Whether the caller chose the problem, and so may know it."""
    seed: int
    agent: str | None
    settings: SessionSettings


class ServedSession:
    """A session from its order to its record."""

    def __init__(
        self, plan: SessionPlan, take_world: Callable[[], Awaitable[Copy[Stage]]], threads: Executor
    ) -> None:
        self.id = secrets.token_hex(8)
        self.token = f"{self.id}.{secrets.token_urlsafe(24)}"
        """Opens this session only, and only to act in it."""
        self.plan = plan
        self.state: State = "preparing"
        self.events = EventLog()
        self.opening: Opening | None = None
        self.closing: Closing | None = None
        self.error: str | None = None
        """Why the session failed, for its client."""
        self.steps = 0
        self.severity: float | None = None
        self.created = time.time()
        self.began = self.touched = time.monotonic()
        self.agent_settings: Mapping[str, Any] = {}
        self._take_world = take_world
        self._threads = threads
        self._world: Copy[Stage] | None = None
        self._turn = asyncio.Lock()
        self._acts = False
        self._views = 0
        self._preparation: asyncio.Task[None] | None = None
        self._end: asyncio.Task[None] | None = None
        self.before_judging: Callable[[], Awaitable[None]] | None = None
        """Ends the agent, before anything is judged or recorded."""

    def prepare(self) -> asyncio.Task[None]:
        """Begin to prepare the world; the session is open, or has ended with an error, when the task is done."""
        if self._preparation is None:
            self._preparation = asyncio.create_task(self._prepare())
        return self._preparation

    async def _prepare(self) -> None:
        try:
            self._world = await self._take_world()
            self.opening = await self._call(open_session, self.plan.settings)
        except Exception as error:
            reason = error.last_line if isinstance(error, CopyFailed) else str(error)
            self.error = f"The problem could not be prepared: {reason.rstrip('.')}. Try it again."
            self._release(None)
            return
        self.severity = self.opening.start.severity
        self.state, self.touched = "open", time.monotonic()
        self.events.add("open", {"severity": self.severity})

    async def act(self, text: str, wall_s: float = 0.0, usage: Usage | None = None) -> Reaction:
        """Perform the action of an answer; raises ``HttpError``. A session that has to end with it has ended on return."""
        self._require_open()
        if self._acts:
            raise HttpError(409, "Another action of this session is running. Wait for its answer.")
        self._acts = True
        # Shielded, because a client that leaves must not leave half a step behind.
        return await asyncio.shield(asyncio.create_task(self._act(Answer(text, wall_s, usage))))

    async def _act(self, answer: Answer) -> Reaction:
        try:
            reaction = await self._call(take_step, answer, self.plan.settings.max_steps)
        except CopyFailed as error:
            reaction = Reaction("", None, *_explain(error))
        finally:
            self._acts, self.touched = False, time.monotonic()
        if reaction.step is not None:
            self._note_step(reaction.step)
        if reaction.ending is not None:
            await self.end(reaction.ending, reaction.why)
        if reaction.step is None:
            raise self._make_failure()
        return reaction

    async def show_view(self, what: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        """Return the status and the JSON document of a view; raises ``HttpError``."""
        if self.closing is not None and what in self.closing.views:
            return 200, self.closing.views[what]
        self._require_open()
        if self._views >= MAX_VIEWS:
            raise HttpError(429, "Too many views of this session are being made. Ask again later.")
        self._views += 1
        return await asyncio.shield(asyncio.create_task(self._show_view(what, query)))

    async def _show_view(self, what: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        try:
            return await self._call(show_view, what, dict(query))
        except CopyFailed as error:
            await self.end(*_explain(error))
            raise self._make_failure() from None
        finally:
            self._views -= 1

    async def end(self, ending: Ending, why: str = "") -> None:
        """End the session: judge it if its process lives, and write its record. Idempotent."""
        if self._end is None:
            self._end = asyncio.create_task(self._finish(ending, why))
        await asyncio.shield(self._end)

    async def _finish(self, ending: Ending, why: str) -> None:
        if self._preparation is not None:
            await asyncio.wait([self._preparation])
        if self.state == "ended" or self._world is None:
            return
        if self.before_judging is not None:
            await self.before_judging()
        if self._acts and not await self._wait_for_action():
            self._world.kill()
        try:
            closing = await self._call(close_session, ending, why, dict(self.agent_settings))
        except CopyFailed:
            closing = await self._run(self._close_lost, ending, why)
        self._release(closing)

    async def _wait_for_action(self) -> bool:
        deadline = time.monotonic() + STOP_S
        while self._acts and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        return not self._acts

    def touch(self) -> None:
        """Note that a client has asked for the session."""
        self.touched = time.monotonic()

    def kill(self) -> None:
        """Kill the session's process; what it does next ends the session."""
        if self._world is not None:
            self._world.kill()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being served."""
        return self._acts or self._views > 0

    @property
    def has_lost_process(self) -> bool:
        """Whether the process has ended although the session has not."""
        return self.state == "open" and self._world is not None and self._world.has_ended

    def read_record(self) -> dict[str, Any]:
        """Return the record: of an open session, what says nothing about the answer. Raises ``HttpError`` and ``NotARecord``."""
        if self.closing is not None and self.closing.record is not None:
            return read_record(self.closing.record)
        if self.opening is None or self.state == "ended":
            raise HttpError(404, self.error or "The session has no record yet. Wait until it is open.")
        record = read_record(self.opening.journal, self.opening.draft)
        shown = {name: record[name] for name in SHOWN if name in record}
        return shown | ({"problem_id": self.plan.problem} if self.plan.is_chosen else {})

    def describe(self, *, for_agent: bool) -> dict[str, Any]:
        """Return what is known of the session; to an agent, without problem and verdict."""
        closing = self.closing
        described: dict[str, Any] = {
            "id": self.id,
            "state": self.state,
            "seed": self.plan.seed,
            "agent": self.plan.agent,
            "max_steps": self.plan.settings.max_steps,
            "steps": self.steps,
            "created": self.created,
            "ending": closing.ending if closing else None,
            "error": self.error,
        }
        if self.opening is not None:
            described |= {"task": self.opening.start.task, "app": self.opening.app}
        if for_agent:
            return described
        described |= {"severity": self.severity, "pid": self._world.pid if self._world else None}
        if self.plan.is_chosen or self.state == "ended":
            described["problem"] = self.plan.problem
        if closing is not None:
            described |= {
                "why": closing.why,
                "results": closing.results,
                "record": closing.record.name if closing.record else None,
            }
        return described

    def describe_start(self) -> dict[str, Any]:
        """Return what an agent gets before its first step; nulls while the world is prepared."""
        if self.opening is None:
            return {"description": None, "instructions": None, "observation": None, "actions": None}
        start = self.opening.start
        return {
            "description": start.description,
            "instructions": start.instructions,
            "observation": f"{start.description}\n\n{FIRST}",
            "actions": list(start.tools),
        }

    def _require_open(self) -> None:
        if self.state == "preparing":
            raise HttpError(
                409,
                "The session is being prepared. Ask again when its state is 'open'.",
                {"retry-after": "1"},
            )
        if self.state == "ended" or self._end is not None:
            raise HttpError(410, self.error or OVER)

    def _make_failure(self) -> HttpError:
        return HttpError(500, self.error) if self.error else HttpError(410, OVER)

    def _note_step(self, step: dict[str, Any]) -> None:
        self.steps, self.severity = step["number"], step["health"]["severity"]
        self.events.add("step", step)
        self.events.add(
            "severity",
            {"step": step["number"], "at_s": round(step["at_s"] + step["took_s"], 6), **step["health"]},
        )

    async def _call(self, function: Callable[..., R], *args: Any) -> R:
        """Run a function in the session's process, one at a time; kill a process that does not answer. Raises ``CopyFailed``."""
        limit_s = self.plan.settings.action_timeout_s + SPARE_S
        async with self._turn:
            if self._world is None:
                raise CopyLost(LOST)
            calling = asyncio.ensure_future(self._run(partial(self._world.call, function), *args))
            done, _ = await asyncio.wait({calling}, timeout=limit_s)
            if not done:
                self._world.kill()
                with suppress(CopyFailed):
                    await calling
                raise _Stuck(STUCK)
            return calling.result()

    async def _run(self, function: Callable[..., R], *args: Any) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *args)

    def _close_lost(self, ending: Ending, why: str) -> Closing:
        """Write the record of a session whose process is gone, from its journal."""
        assert self.opening is not None
        if not ending.startswith(("harness", "agent", "cut off")):
            ending, why = "cut off", f"{why} {LOST}".strip()
        try:
            path = close_journal(self.opening.journal, self.opening.draft, ending, why)
            record = read_record(path)
        except (RecordNotWritten, NotARecord, OSError) as error:
            return Closing(ending, why, {}, None, str(error))
        return Closing(record["ending"], record["why"], record["results"], path, None)

    def _release(self, closing: Closing | None) -> None:
        """Free the process; the session has ended."""
        world, self._world = self._world, None
        if world is not None:
            world.close()
        self.closing, self.state = closing, "ended"
        if closing is not None and closing.ending in ("cut off", "harness error", "harness timed out"):
            self.error = "The session failed and is over; your action was valid. Its record has every step. Begin a new session."
        self.events.add("ended", self.describe(for_agent=False), is_last=True)


def _explain(error: CopyFailed) -> tuple[Ending, str]:
    """Return how a session ends whose process failed, and why."""
    if isinstance(error, CopyLost):
        return "cut off", LOST
    if isinstance(error, _Stuck):
        return "cut off", STUCK
    return "harness error", error.last_line
