"""The entry point where agents meet problems, with the papers' interface.

    orchestrator = Orchestrator()
    description, instructions, actions = orchestrator.init_problem("scale_pod_zero_social_net-mitigation-1")
    orchestrator.register_agent(agent, name="mine")
    result = asyncio.run(orchestrator.start_problem(max_steps=30))

Every session ends in a record, whatever its ending. Every problem gets a new world in the caller's process, so that no
state leaks from one episode into the next; ``stages.py`` runs many copies of one prepared world instead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

from aiopslab.orchestrator.agent import AgentLink, link
from aiopslab.orchestrator.agent_runners import is_loop_shared
from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop
from aiopslab.orchestrator.episode import Episode, OnStep, Pace
from aiopslab.orchestrator.evaluation import evaluate
from aiopslab.orchestrator.models import ChatModel, RedactingModel
from aiopslab.orchestrator.preparation import (
    PreparedProblem,
    ProgressCallback,
    deploy,
    ignore_progress,
    open_problem,
    stage,
)
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.records import Record, RecordNotWritten, build_record, write_record
from aiopslab.orchestrator.session import Session
from aiopslab.utils import AIOpsLabError, SubmissionStatus

MAX_STEPS: Final = 30
RESULTS: Final = Path("results")
INTERRUPTS: Final = (KeyboardInterrupt, asyncio.CancelledError)


class NotReady(AIOpsLabError):
    """A session cannot begin because something is missing; the message says what to call first."""


class Orchestrator:
    """Prepares problems, lets agents work on them, and judges and records the sessions."""

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
        tell: ProgressCallback | None = None,
        on_step: OnStep | None = None,
        judge: ChatModel | None = None,
        results_dir: Path | str | None = None,
    ) -> None:
        """``results`` is the folder for records, None for no records. ``results_dir`` is the public release's name for it.

        ``tell`` receives progress messages, ``on_step`` each finished step.
        ``judge`` is a language model that rates the agent's reasoning.
        ``probs`` is the registry of problems; all installed ones by default.
        ``action_timeout_s`` is a last-resort limit of wall time: a longer action ends the session.
        ``episodes`` is the number of earlier sessions, if they are counted elsewhere; it makes session ids differ.
        """
        self.probs = probs or ProblemRegistry()
        self.session: Session | None = None
        """The current session, or else the last one."""
        folder = results if results_dir is None else results_dir
        self._results = Path(folder) if folder is not None else None
        self._seed = seed
        self._pace = Pace(thinking_s, time_limit_s, agent_timeout_s, action_timeout_s)
        self._tell = tell or ignore_progress
        self._on_step = on_step
        self._judge = judge
        self._agent: tuple[object, str, bool] | None = None
        self._problem: PreparedProblem | None = None
        self._preparing_s = 0.0
        self._episodes = episodes

    def init_problem(self, problem_id: str, seed: int | None = None) -> tuple[str, str, dict[str, str]]:
        """Prepare a problem. Returns its description, the agent's instructions, and each action's documentation."""
        began = time.perf_counter()
        self._problem = None  # frees the previous world before the next one is created
        task = self.probs.get_problem(problem_id)
        stage(task, deploy(task, self._seed if seed is None else seed, self._tell), self._tell)
        problem = open_problem(task)
        self.use_problem(problem)
        self._preparing_s = time.perf_counter() - began
        prompt = problem.prompt
        return prompt.description, prompt.instructions, dict(prompt.actions)

    def use_problem(self, problem: PreparedProblem) -> None:
        """Use a problem that is prepared already."""
        self._problem, self._preparing_s = problem, 0.0

    def register_agent(self, agent: object, name: str = "agent", *, introduce: bool = False) -> None:
        """Set the agent for the next problem: an object with ``get_action``, a function, or a ``SubprocessAgent``.

        With ``introduce``, the problem is passed to the object's ``init_context``, as it is for a class.
        """
        self._agent = (agent, name, introduce)

    async def start_problem(self, max_steps: int = MAX_STEPS) -> dict[str, Any]:
        """Let the agent work on the problem, judge the session, and record it.

        Returns ``history``, ``final_state``, ``results``, ``framework_overhead``, ``session_id``, ``ending``, ``why``,
        ``record`` (the file, or None), ``record_error`` (why there is no file) and ``session`` (the file's content).

        Raises:
            NotReady: no problem is prepared, or no agent registered.
            KeyboardInterrupt, CancelledError: it was interrupted; the record is written.
            HarnessTimedOut: the framework took longer than ``action_timeout_s``; the record is written.
            Exception: the framework itself failed; the record is written.
        """
        problem, agent = self._take_problem_and_agent(max_steps)
        began = time.perf_counter()
        session = self.session = self._begin_session(problem, agent.name, max_steps)
        try:
            failure = await self._run_session(problem, agent, session, began)
            results, failure = self._judge_session(problem, session, failure)
            session_s = time.perf_counter() - began
            result = self._record_session(problem, session, results)
        finally:
            await agent.close()
        if failure is not None:
            written = result["record"] is not None
            failure.add_note(
                f"The record of the session is {result['record']}."
                if written
                else result["record_error"] or ""
            )
            raise failure
        return result | {"framework_overhead": self._preparing_s + session_s - session.wall_agent_s}

    def _take_problem_and_agent(self, max_steps: int) -> tuple[PreparedProblem, AgentLink]:
        if self._agent is None:
            raise NotReady("No agent is registered. Call register_agent(agent, name=…) first.")
        if self._problem is None:
            raise NotReady(
                "No problem is prepared. Call init_problem(problem_id) first; each session needs its own call."
            )
        if max_steps < 1:
            raise NotReady(f"A session needs at least one step, not {max_steps}. Give max_steps=1 or more.")
        agent, name, introduce = self._agent
        shared = is_loop_shared(Orchestrator.start_problem)
        linked = link(
            agent, name, timeout_s=self._pace.agent_timeout_s, introduce=introduce, shared_loop=shared
        )
        problem, self._problem = self._problem, None  # the agent will have changed it
        return problem, linked

    def _begin_session(self, problem: PreparedProblem, agent_name: str, max_steps: int) -> Session:
        self._episodes += 1
        now = problem.environment.now
        session = Session(
            problem.task.id, agent_name, problem.environment.seed, self._episodes, now, now, max_steps
        )
        session.health, session.declared = problem.health, problem.declared
        session.wall_began = time.time()
        return session

    async def _run_session(
        self, problem: PreparedProblem, agent: AgentLink, session: Session, began: float
    ) -> BaseException | None:
        """Let the agent work to the end. Returns the error to raise once the session is recorded."""
        failure: BaseException | None = None
        try:
            await Episode(problem, session, self._pace, self._on_step).run(agent)
        except INTERRUPTS as error:
            session.ending, failure = "interrupted", error
        except HarnessTimedOut as error:
            session.ending, failure = "harness timed out", error
        except BaseException as error:
            session.ending, session.why, failure = "harness error", _format_error(error), error
        session.ended_s, session.usage = problem.environment.now, agent.usage()
        session.wall_ended = session.wall_began + time.perf_counter() - began
        return failure

    def _judge_session(
        self, problem: PreparedProblem, session: Session, failure: BaseException | None
    ) -> tuple[Mapping[str, Any], BaseException | None]:
        if session.ending in ("harness timed out", "harness error"):
            return {}, failure
        try:
            self._tell("the session is over; judging the outcome")
            problem.terminal.close()  # commands still running must not change the system while it is judged
            judge: ChatModel | None = None
            if self._judge is not None and failure is None:  # skip the LLM judge after an interrupt
                judge = RedactingModel(self._judge, problem.make_redactor())
            within = backstop(self._pace.action_timeout_s)
            return evaluate(problem.task, session, judge, within=within), failure
        except HarnessTimedOut as error:
            session.ending, session.why = "harness timed out", str(error)
            return {}, failure or error
        except BaseException as error:
            session.why = _format_error(error)
            if failure is None:
                session.ending = "interrupted" if isinstance(error, INTERRUPTS) else "harness error"
            return {}, failure or error

    def _record_session(
        self, problem: PreparedProblem, session: Session, results: Mapping[str, Any]
    ) -> dict[str, Any]:
        faults = [fault.facts for fault in problem.task.faults]
        settings = {"max_steps": session.max_steps, **asdict(self._pace), "faults": faults}
        record = build_record(
            session, vars(problem.prompt), problem.expected, results, settings, problem.make_redactor()
        )
        session.results, session.record = dict(results), record
        path, error = self._write_record(record)
        return {
            "history": session.trace,
            "final_state": _get_final_state(session),
            "results": session.results,
            "session_id": session.session_id,
            "ending": session.ending,
            "why": record["why"],
            "record": path,
            "record_error": error,
            "session": record,
        }

    def _write_record(self, record: Record) -> tuple[Path | None, str | None]:
        if self._results is None:
            return None, None
        try:
            return write_record(record, self._results), None
        except RecordNotWritten as error:
            return None, str(error)


def _get_final_state(session: Session) -> SubmissionStatus | str:
    if session.ending == "submitted":
        return SubmissionStatus.VALID_SUBMISSION
    return session.steps[-1].observation if session.steps else ""


def _format_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
