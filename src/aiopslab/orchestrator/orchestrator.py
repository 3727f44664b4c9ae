"""The door through which agents meet problems, as the papers have it.

    orchestrator = Orchestrator()
    description, instructions, actions = orchestrator.init_problem("scale_pod_zero_social_net-mitigation-1")
    orchestrator.register_agent(agent, name="mine")
    result = asyncio.run(orchestrator.start_problem(max_steps=30))

A session always ends in a record, whatever ended it. Every problem gets a world of its own, so that nothing of one episode
is seen in the next; it lives in the caller's process (``stages.py`` has the way to many copies of one).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

from aiopslab.orchestrator.agent import AgentLink, link
from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop
from aiopslab.orchestrator.callers_loop import is_shared
from aiopslab.orchestrator.discretion import DiscreetModel
from aiopslab.orchestrator.episode import Episode, OnStep, Pace
from aiopslab.orchestrator.evaluation import evaluate
from aiopslab.orchestrator.models import ChatModel
from aiopslab.orchestrator.posing import Posed, pose
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.records import Record, RecordNotWritten, record_of, write_record
from aiopslab.orchestrator.session import Session
from aiopslab.orchestrator.staging import Tell, settled, silent, stage
from aiopslab.utils.status import AIOpsLabError, SubmissionStatus

MAX_STEPS: Final = 30
RESULTS: Final = Path("results")
INTERRUPTS: Final = (KeyboardInterrupt, asyncio.CancelledError)


class NotReady(AIOpsLabError):
    """A session was to begin and something is missing; the sentence says what to call first."""


class Orchestrator:
    """Poses problems, lets agents work on them, judges and records."""

    def __init__(
        self,
        results: Path | str | None = RESULTS,
        seed: int = 0,
        *,
        thinking_s: float | Literal["wall"] = Pace.thinking_s,
        time_limit_s: float = Pace.time_limit_s,
        agent_timeout_s: float = Pace.agent_timeout_s,
        action_timeout_s: float = Pace.action_timeout_s,
        probs: ProblemRegistry | None = None,
        episodes: int = 0,
        tell: Tell | None = None,
        on_step: OnStep | None = None,
        judge: ChatModel | None = None,
        results_dir: Path | str | None = None,
    ) -> None:
        """``results`` is where records go, None for nowhere; ``tell`` hears of progress, ``on_step`` sees each turn.

        ``judge`` is a language model that gives its opinion of the agent's reasoning.
        ``probs`` is where problems are found, all that are installed unless given.
        ``action_timeout_s`` is a last resort by the host's clock: what takes the framework longer ends the session.
        ``results_dir`` is the public release's name for ``results``.
        ``episodes`` is how many sessions were before, where somebody else counts them: it tells the ids of sessions apart.
        """
        self.probs = probs or ProblemRegistry()
        self.session: Session | None = None
        """The one that goes on, or else the last one."""
        folder = results if results_dir is None else results_dir
        self._results = Path(folder) if folder is not None else None
        self._seed = seed
        self._pace = Pace(thinking_s, time_limit_s, agent_timeout_s, action_timeout_s)
        self._tell = tell or silent
        self._on_step = on_step
        self._judge = judge
        self._agent: tuple[object, str, bool] | None = None
        self._posed: Posed | None = None
        self._preparing_s = 0.0
        self._episodes = episodes

    def init_problem(self, problem_id: str, seed: int | None = None) -> tuple[str, str, dict[str, str]]:
        """Prepare a problem: its description, what is asked of the agent, and the documentation of each action."""
        began = time.perf_counter()
        self._posed = None  # the world before must not stay in memory while the next one is made
        task = self.probs.get_problem(problem_id)
        stage(task, settled(task, self._seed if seed is None else seed, self._tell), self._tell)
        posed = pose(task)
        self.take(posed)
        self._preparing_s = time.perf_counter() - began
        prompt = posed.prompt
        return prompt.description, prompt.instructions, dict(prompt.actions)

    def take(self, posed: Posed) -> None:
        """Use a problem that stands ready already."""
        self._posed, self._preparing_s = posed, 0.0

    def register_agent(self, agent: object, name: str = "agent", *, introduce: bool = False) -> None:
        """Say who works on the next problem: an object with ``get_action``, a function, or a ``SubprocessAgent``.

        With ``introduce`` an object that has ``init_context`` is told the problem by it, as one made from a class is.
        """
        self._agent = (agent, name, introduce)

    async def start_problem(self, max_steps: int = MAX_STEPS) -> dict[str, Any]:
        """Let the agent work on the problem, judge what it did, and record it.

        Returns ``history``, ``final_state``, ``results``, ``framework_overhead``, ``session_id``, ``ending``, ``why``,
        ``record`` (the file; None when there is none), ``record_error`` (why not) and ``session`` (what is in the file).

        Raises:
            NotReady: no problem is prepared, or no agent registered.
            KeyboardInterrupt, CancelledError: it was interrupted; the record is written.
            HarnessTimedOut: the framework took longer than ``action_timeout_s``; the record is written.
            Exception: the framework itself failed; the record is written.
        """
        posed, agent = self._ready(max_steps)
        began = time.perf_counter()
        session = self.session = self._begun(posed, agent.name, max_steps)
        try:
            failure = await self._worked(posed, agent, session, began)
            results, failure = self._judged(posed, session, failure)
            session_s = time.perf_counter() - began
            result = self._recorded(posed, session, results)
        finally:
            await agent.close()
        if failure is not None:
            kept = result["record"] is not None
            failure.add_note(
                f"The record of the session is {result['record']}." if kept else result["record_error"] or ""
            )
            raise failure
        return result | {"framework_overhead": self._preparing_s + session_s - session.wall_agent_s}

    def _ready(self, max_steps: int) -> tuple[Posed, AgentLink]:
        if self._agent is None:
            raise NotReady("No agent is registered. Call register_agent(agent, name=…) first.")
        if self._posed is None:
            raise NotReady(
                "No problem is prepared. Call init_problem(problem_id) first, for every session anew."
            )
        if max_steps < 1:
            raise NotReady(f"A session needs at least one step, not {max_steps}. Give max_steps=1 or more.")
        agent, name, introduce = self._agent
        shared = is_shared(Orchestrator.start_problem)
        linked = link(
            agent, name, timeout_s=self._pace.agent_timeout_s, introduce=introduce, shared_loop=shared
        )
        posed, self._posed = self._posed, None  # it is used up: an agent will have been in it
        return posed, linked

    def _begun(self, posed: Posed, agent_name: str, max_steps: int) -> Session:
        self._episodes += 1
        now = posed.environment.now
        session = Session(
            posed.task.id, agent_name, posed.environment.seed, self._episodes, now, now, max_steps
        )
        session.health, session.declared = posed.health, posed.declared
        session.wall_began = time.time()
        return session

    async def _worked(
        self, posed: Posed, agent: AgentLink, session: Session, began: float
    ) -> BaseException | None:
        """Let the agent work to the end; what is to be raised when all is recorded."""
        failure: BaseException | None = None
        try:
            await Episode(posed, session, self._pace, self._on_step).run(agent)
        except INTERRUPTS as error:
            session.ending, failure = "interrupted", error
        except HarnessTimedOut as error:
            session.ending, failure = "harness timed out", error
        except BaseException as error:
            session.ending, session.why, failure = "harness error", _told(error), error
        session.ended_s, session.usage = posed.environment.now, agent.usage()
        session.wall_ended = session.wall_began + time.perf_counter() - began
        return failure

    def _judged(
        self, posed: Posed, session: Session, failure: BaseException | None
    ) -> tuple[Mapping[str, Any], BaseException | None]:
        if session.ending in ("harness timed out", "harness error"):
            return {}, failure
        try:
            self._tell("the session is over; the outcome is judged")
            posed.terminal.close()  # what an agent left running must not work on while it is judged
            judge: ChatModel | None = None
            if (
                self._judge is not None and failure is None
            ):  # who interrupts does not want to wait for a model
                judge = DiscreetModel(self._judge, posed.redactor())
            within = backstop(self._pace.action_timeout_s)
            return evaluate(posed.task, session, judge, within=within), failure
        except HarnessTimedOut as error:
            session.ending, session.why = "harness timed out", str(error)
            return {}, failure or error
        except BaseException as error:
            session.why = _told(error)
            if failure is None:
                session.ending = "interrupted" if isinstance(error, INTERRUPTS) else "harness error"
            return {}, failure or error

    def _recorded(self, posed: Posed, session: Session, results: Mapping[str, Any]) -> dict[str, Any]:
        faults = [fault.facts for fault in posed.task.faults]
        settings = {"max_steps": session.max_steps, **asdict(self._pace), "faults": faults}
        record = record_of(session, vars(posed.prompt), posed.expected, results, settings, posed.redactor())
        session.results, session.record = dict(results), record
        path, error = self._written(record)
        return {
            "history": session.trace,
            "final_state": _final_state(session),
            "results": session.results,
            "session_id": session.session_id,
            "ending": session.ending,
            "why": record["why"],
            "record": path,
            "record_error": error,
            "session": record,
        }

    def _written(self, record: Record) -> tuple[Path | None, str | None]:
        if self._results is None:
            return None, None
        try:
            return write_record(record, self._results), None
        except RecordNotWritten as error:
            return None, str(error)


def _final_state(session: Session) -> SubmissionStatus | str:
    if session.ending == "submitted":
        return SubmissionStatus.VALID_SUBMISSION
    return session.steps[-1].observation if session.steps else ""


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
