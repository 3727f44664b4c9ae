"""All sessions of a server: how many there may be, how long they may last, and that each ends in a record."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aiopslab.agents import list_aliases, load_agents, make_process, takes_model
from aiopslab.orchestrator import SubprocessAgent
from aiopslab.orchestrator.problems import (
    ProblemRegistry,
    UnknownProblem,
    replace_noise,
)
from aiopslab.servers.http_api.agent_runner import run_agent
from aiopslab.servers.http_api.bodies import SessionOrder
from aiopslab.servers.http_api.catalog import Catalog
from aiopslab.servers.http_api.errors import HttpError
from aiopslab.servers.http_api.served_session import LOST, ServedSession, SessionPlan
from aiopslab.servers.http_api.session_process import SessionSettings
from aiopslab.servers.http_api.worlds import Worlds

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

SWEEP_S: Final = 0.5
KEPT_ENDED: Final = 100
"""Ended sessions that can still be asked for; their records stay in the folder."""
MAX_ID_CHARS: Final = 200
CLOSE_S: Final = 25.0
"""Time for each thing that is left to do when the server stops."""
CLIENT: Final = "client"
"""The agent in the records of sessions that clients work on."""


@dataclass(frozen=True)
class ServerLimits:
    """Limits of a server's sessions."""

    max_sessions: int = 16
    idle_timeout_s: float = 900.0
    """A session without a request for this time ends."""
    max_time_s: float = 7200.0
    """A session ends after this time."""
    memory_mb: int = 1024
    """Memory that a session's process may use beyond that of its prepared world."""
    action_timeout_s: float = 120.0
    """An action or a judgement that takes longer ends its session."""
    agent_timeout_s: float = 600.0
    """An agent that takes longer for an answer ends its session."""
    close_s: float = CLOSE_S
    """Time that all sessions have to be judged and recorded when the server stops; then their processes are killed."""


DEFAULT_LIMITS: Final = ServerLimits()


class Sessions:
    """The sessions that are being prepared or open, and the latest of those that have ended."""

    def __init__(
        self,
        registry: ProblemRegistry,
        results: Path,
        limits: ServerLimits = DEFAULT_LIMITS,
        models: Sequence[str] = (),
        cluster: KubernetesOptions | None = None,
    ) -> None:
        """``models`` are the language models that agents may use, the first by default; ``cluster`` is a real one to work on."""
        self.registry = registry
        self.catalog = Catalog(registry, cluster)
        self.results = results
        self.limits = limits
        self.models = models
        self.threads = ThreadPoolExecutor(limits.max_sessions + 8, "sessions")
        self._worlds = Worlds(registry, self.threads, cluster)
        self._table: dict[str, ServedSession] = {}
        self._numbers = count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    async def create(self, order: SessionOrder) -> ServedSession:
        """Begin a session; raises ``HttpError``, ``UnknownProblem``, ``NoSuchAgent`` and other errors of the order."""
        problem = await self._choose_problem(order)
        agent = None if order.agent is None else self._make_agent(order.agent, order.model)
        self._check_capacity()
        plan = SessionPlan(
            problem,
            order.problem is not None,
            order.seed,
            order.agent,
            SessionSettings(
                next(self._numbers),
                order.agent or CLIENT,
                order.max_steps,
                self.results,
                self.limits.memory_mb,
                self.limits.action_timeout_s,
                names_problem=agent is None,
            ),
        )
        session = ServedSession(plan, partial(self._worlds.take, problem, order.seed), self.threads)
        self._table[session.id] = session
        self._forget_ended()
        if agent is None:
            session.prepare()
        else:
            link = agent.link(order.agent or "", timeout_s=self.limits.agent_timeout_s)
            self._start(run_agent(session, link))
        return session

    def get(self, id: str) -> ServedSession:
        """Return a session; raises ``HttpError``."""
        session = self._table.get(id)
        if session is None:
            raise HttpError(
                404,
                "There is no such session. GET /api/sessions lists those of this server; "
                "records of earlier ones are at /api/records.",
            )
        return session

    def find_by_token(self, token: str) -> ServedSession | None:
        """Return the session that a token opens."""
        session = self._table.get(token.partition(".")[0])
        return session if session and hmac.compare_digest(session.token.encode(), token.encode()) else None

    def list(self) -> Sequence[ServedSession]:
        """Return all sessions that can be asked for, oldest first."""
        return tuple(self._table.values())

    async def sweep(self) -> None:
        """End sessions that are idle, too old or without a process, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            now = time.monotonic()
            for session in self.list():
                if session.state == "ended":
                    continue
                if session.has_lost_process:
                    self._start(session.end("cut off", LOST))
                elif now - session.began > self.limits.max_time_s:
                    self._start(session.end("interrupted", "The session took longer than the server allows."))
                elif self._is_idle(session, now):
                    self._start(session.end("interrupted", "The client sent no request for too long."))

    def _is_idle(self, session: ServedSession, now: float) -> bool:
        return (
            session.state == "open"
            and session.plan.agent is None
            and not session.is_busy
            and now - session.touched > self.limits.idle_timeout_s
        )

    async def close(self) -> None:
        """End all sessions, each in a record. Those that are not done in time are killed first. Idempotent."""
        self._is_closing = True
        ends = [
            asyncio.create_task(session.end("interrupted", "The server was stopped."))
            for session in self.list()
            if session.state != "ended"
        ]
        late = (await asyncio.wait(ends, timeout=self.limits.close_s))[1] if ends else set()
        if late:
            self.kill()
            await asyncio.wait(late, timeout=CLOSE_S)
        self._worlds.close()
        for task in tuple(self._tasks):
            with suppress(Exception):
                await asyncio.wait_for(task, CLOSE_S)
        self.threads.shutdown(wait=False)

    def kill(self) -> None:
        """Kill the processes of all sessions, which end them without a verdict."""
        for session in self.list():
            session.kill()

    def _check_capacity(self) -> None:
        if self._is_closing:
            raise HttpError(503, "The server is stopping. Try again later.")
        active = sum(session.state != "ended" for session in self.list())
        if active >= self.limits.max_sessions:
            raise HttpError(
                429,
                f"{active} sessions are open, which is the limit. End one with DELETE /api/sessions/ID, or try again later.",
                {"retry-after": "10"},
            )

    async def _choose_problem(self, order: SessionOrder) -> str:
        if order.problem is None:
            ids = await asyncio.get_running_loop().run_in_executor(self.threads, self._list_drawable, order)
            chosen = secrets.choice(ids)
        else:
            chosen = order.problem
        if len(chosen) > MAX_ID_CHARS or not chosen.isprintable():
            raise UnknownProblem(repr(chosen[:MAX_ID_CHARS]), [])
        chosen = replace_noise(chosen, order.noise)
        self.registry.get_problem_instance(chosen, order.seed)
        if missing := self.catalog.explain_unavailable(chosen):
            raise HttpError(400, f"{chosen} is not available on this cluster: it needs {missing}.")
        return chosen

    def _list_drawable(self, order: SessionOrder) -> Sequence[str]:
        ids = self.catalog.select(order.suite, order.task, order.app)
        if order.noise is not None:
            ids = [pid for pid in ids if self.registry.is_drawn(pid)]
        if not ids:
            raise HttpError(400, "No problem fits. Leave out suite, task, app or noise.")
        return ids

    def _make_agent(self, name: str, model: str | None) -> SubprocessAgent:
        known = load_agents()
        names = [*known, *(alias for agent in known for alias in list_aliases(agent))]
        if name not in names:  # files and commands of the host are not for clients
            raise HttpError(
                404, f"There is no agent '{name[:MAX_ID_CHARS]}'. Choose one of: {', '.join(known)}."
            )
        if model is not None and model not in self.models:
            raise HttpError(
                400, f"The model is not offered here. Choose one of: {', '.join(self.models) or 'none'}."
            )
        if takes_model(name) and model is None:
            model = self.models[0] if self.models else None
        return make_process(name, model, hidden=[self.results])[1]

    def _forget_ended(self) -> None:
        ended = [id for id, session in self._table.items() if session.state == "ended"]
        for id in ended[: max(len(ended) - KEPT_ENDED, 0)]:
            del self._table[id]

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
