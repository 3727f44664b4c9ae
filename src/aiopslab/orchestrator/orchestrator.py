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
import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final, Literal

from aiopslab.orchestrator.action_names import SUBMIT
from aiopslab.orchestrator.agent import AgentFailed, AgentLink, Usage, link
from aiopslab.orchestrator.agent_runners import is_loop_shared
from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop
from aiopslab.orchestrator.episode import Episode, OnStep, Pace
from aiopslab.orchestrator.evaluation import evaluate
from aiopslab.orchestrator.interrupts import defer_interrupts, notice_signals
from aiopslab.orchestrator.journal import Journal, format_draft, mark_as_cut_off
from aiopslab.orchestrator.models import ChatModel, RedactingModel
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.preparation import (
    PreparedProblem,
    deploy,
    offer_transactions,
    open_problem,
    stage,
)
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.records import Record, RecordNotWritten, build_record, write_record
from aiopslab.orchestrator.session import DIGITS, Ending, Session, Step
from aiopslab.orchestrator.transactions import TransactionOptions
from aiopslab.paths import RESULTS_DIR
from aiopslab.service import KubeCtl, make_current
from aiopslab.utils import AIOpsLabError, ProgressCallback, SessionPrint, SubmissionStatus, ignore_progress

MAX_STEPS: Final = 30
AGENT_FAILURES: Final = ("agent error", "agent timed out", "agent gone")
NO_AGENT: Final = "No agent is registered. Call register_agent(agent, name=…) first."
INTERRUPTS: Final = (KeyboardInterrupt, asyncio.CancelledError)


class NotReady(AIOpsLabError):
    """A session cannot begin because something is missing; the message says what to call first."""


class Orchestrator:
    """Prepares problems, lets agents work on them, and judges and records the sessions."""

    def __init__(
        self,
        results: Path | str | None = RESULTS_DIR,
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
        tnr: TransactionOptions | bool = False,
    ) -> None:
        """``results`` is the folder for records, None for no records. ``results_dir`` is the public release's name for it.

        ``tell`` receives progress messages, ``on_step`` each finished step.
        ``judge`` is a language model that rates the agent's reasoning.
        ``probs`` is the registry of problems; all installed ones by default.
        ``action_timeout_s`` is a last-resort limit of wall time: a longer action ends the session.
        ``tnr`` lets every agent work in transactions, which are undone if they make the system worse.
        ``episodes`` is the number of earlier sessions, if they are counted elsewhere; it makes session ids differ.
        """
        self.probs = probs or ProblemRegistry()
        self.session: Session | None = None
        """The session of the problem that was prepared last; None before."""
        self.agent: Any = None
        """The registered agent."""
        self.agent_name = "agent"
        self.parser: Any = ResponseParser()
        """Parses answers; it knows the actions of the problem that was prepared last."""
        self.kubectl = KubeCtl()
        self.sprint = SessionPrint()
        """Prints the results of each session, unless ``tell`` is given."""
        folder = results if results_dir is None else results_dir
        self.results_dir = Path(folder) if folder is not None else None
        self._seed = seed
        self._pace = Pace(thinking_s, time_limit_s, agent_timeout_s, action_timeout_s)
        self._tell = tell or ignore_progress
        self._prints = tell is None
        self._on_step = on_step
        self._judge = judge
        self._tnr = TransactionOptions() if tnr is True else tnr or None
        self.record_path: Path | None = None
        """The file of the latest record; None if there is none."""
        self.record_error: str | None = None
        """Why the latest record could not be written."""
        self._introduces = False
        self._problem: PreparedProblem | None = None
        self._episode: Episode | None = None
        self._journal: Journal | None = None
        self._preparing_s = 0.0
        self._episodes = episodes

    def init_problem(self, problem_id: str, seed: int | None = None) -> tuple[str, str, dict[str, str]]:
        """Prepare a problem. Returns its description, the agent's instructions, and each action's documentation."""
        began = time.perf_counter()
        # This frees the previous world before the next one is created.
        self._problem = self._episode = self.session = None
        task = self.probs.get_problem_instance(problem_id, self._seed if seed is None else seed)
        stage(task, deploy(task, task.seed, self._tell), self._tell)
        problem = open_problem(task)
        prompt = self.use_problem(problem).prompt
        self._preparing_s = time.perf_counter() - began
        return prompt.description, prompt.instructions, dict(prompt.actions)

    def use_problem(self, problem: PreparedProblem) -> PreparedProblem:
        """Use a problem that is prepared already; return it with the actions of transactions, if these are on."""
        if self._tnr is not None:
            problem = offer_transactions(problem, self._tnr)
        self._problem, self._preparing_s, self._episode = problem, 0.0, None
        self.parser = ResponseParser(known=problem.prompt.actions)
        seed, began_s = problem.environment.seed, problem.opened_s
        self.session = Session(problem.task.id, self.agent_name, seed, self._episodes + 1, began_s, began_s)
        self.session.problem, self.session.results_dir = problem.task, self.results_dir
        make_current(problem.environment)
        return problem

    def register_agent(self, agent: object, name: str = "agent", *, introduce: bool = False) -> None:
        """Set the agent for the next problem: an object with ``get_action``, a function, or a ``SubprocessAgent``.

        With ``introduce``, the problem is passed to the object's ``init_context``, as it is for a class.
        """
        self.agent, self.agent_name, self._introduces = agent, name, introduce

    async def ask_agent(self, input: str) -> str:
        """Return the agent's answer to a text, for scripts that run the loop themselves; raises ``NotReady``."""
        if self.agent is None:
            raise NotReady(NO_AGENT)
        ask = getattr(self.agent, "get_action", self.agent)
        answer = ask(input)
        return str(await answer if isawaitable(answer) else answer)

    async def ask_env(self, input: str) -> str | SubmissionStatus:
        """Perform the action of an answer and return the observation, for scripts that run the loop themselves.

        The step is added to the session. An accepted submission returns ``SubmissionStatus.VALID_SUBMISSION``; then
        ``session.problem.eval`` judges it, or ``finish_problem`` the whole session. Raises ``NotReady``.
        """
        step, ending = self.take_step(input)
        return SubmissionStatus.VALID_SUBMISSION if ending == "submitted" else step.observation

    def begin_session(self, max_steps: int = MAX_STEPS) -> Session:
        """Begin the session before its first step, for a script that runs the loop itself; raises ``NotReady``."""
        return self._begin_session(self._get_problem(), max_steps)

    def keep_journal(
        self, max_steps: int = MAX_STEPS, *, names_problem: bool = True
    ) -> tuple[Path | None, Record]:
        """Begin a session whose steps a script takes itself, and write them to a journal from now on. Raises ``NotReady``.

        Returns the journal, None without a folder for records, and the draft of the record, from which ``close_journal`` makes a
        record if this process is killed. The draft is in the journal only if that may name the problem.
        """
        problem = self._get_problem()
        session = self._begin_session(problem, max_steps)
        draft = self._build_record(problem, mark_as_cut_off(session), {})
        if self.results_dir is None:
            return None, draft
        self._journal = Journal(self.results_dir, problem.make_redactor())
        if names_problem:
            self._journal.write_draft(draft)
        return self._journal.path, draft

    def take_step(
        self, answer: str, max_steps: int = MAX_STEPS, wall_s: float = 0.0, usage: Usage | None = None
    ) -> tuple[Step, Ending | None]:
        """Perform the action of an answer, and return the step, and how the session ends with it, if it does.

        ``wall_s`` and ``usage`` are the time that the agent took and what it reports. The first step begins the session. Raises
        ``NotReady``.
        """
        problem = self._get_problem()
        session = self._begin_session(problem, max_steps)
        assert self._episode is not None
        session.wall_agent_s += wall_s
        session.usage = usage or session.usage
        step = self._episode.perform(answer, wall_s, usage)
        session.ended_s, session.wall_ended = problem.environment.now, time.time()
        if step.valid and step.api_name == SUBMIT:
            return step, "submitted"
        return step, self._episode.find_limit()

    def finish_problem(self, ending: Ending = "submitted", why: str = "") -> dict[str, Any]:
        """Judge and record a session whose steps a script took itself; returns what ``start_problem`` returns. Raises ``NotReady``."""
        problem = self._get_problem()
        session = self._begin_session(problem, MAX_STEPS)
        session.ending, session.why = ending, why
        results, failure = self._judge_session(problem, session, None)
        self._problem = None
        result = self._record_session(problem, session, results)
        if self._journal is not None and result["record"] is not None:
            self._journal.remove()
        if failure is not None:
            raise failure
        return result

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
        session = self._begin_session(problem, max_steps)
        session.agent_name, session.max_steps = agent.name, max_steps
        self._journal = (
            None if self.results_dir is None else Journal(self.results_dir, problem.make_redactor())
        )
        with notice_signals():
            failure = await self._run_session(problem, agent, session, began)
        results, failure = self._judge_session(problem, session, failure)
        session_s = time.perf_counter() - began
        with defer_interrupts():
            result = self._record_session(problem, session, results)
            if self._journal is not None:
                self._journal.remove()
        if failure is not None:
            written = result["record"] is not None
            failure.add_note(
                f"The record of the session is {result['record']}."
                if written
                else result["record_error"] or ""
            )
            raise failure
        if os.environ.get("USE_WANDB", "").lower() == "true":
            session.to_wandb()
        return result | {"framework_overhead": self._preparing_s + session_s - session.wall_agent_s}

    def _take_problem_and_agent(self, max_steps: int) -> tuple[PreparedProblem, AgentLink]:
        if self.agent is None:
            raise NotReady(NO_AGENT)
        problem = self._get_problem()
        if max_steps < 1:
            raise NotReady(f"A session needs at least one step, not {max_steps}. Give max_steps=1 or more.")
        shared = is_loop_shared(Orchestrator.start_problem)
        linked = link(
            self.agent,
            self.agent_name,
            timeout_s=self._pace.agent_timeout_s,
            introduce=self._introduces,
            shared_loop=shared,
        )
        self._problem = None  # the agent will have changed it
        return problem, linked

    def _get_problem(self) -> PreparedProblem:
        if self._problem is None:
            raise NotReady(
                "No problem is prepared. Call init_problem(problem_id) first; each session needs its own call."
            )
        return self._problem

    def _begin_session(self, problem: PreparedProblem, max_steps: int) -> Session:
        """Begin the session, unless a script that runs the loop itself has begun it."""
        session = self.session
        assert session is not None
        if self._episode is not None:
            return session
        self._episodes += 1
        self._episode = Episode(problem, session, self._pace, self._report_step)
        session.agent_name, session.max_steps = self.agent_name, max_steps
        session.health, session.declared, session.state = problem.health, problem.declared, problem.state
        session.wall_began = time.time()
        return session

    def _report_step(self, step: Step) -> None:
        if self._journal is not None:
            self._journal.write_step(step)
        if self._on_step is not None:
            self._on_step(step)

    async def _run_session(
        self,
        problem: PreparedProblem,
        agent: AgentLink,
        session: Session,
        began: float,
    ) -> BaseException | None:
        """Let the agent work to the end, and end it. Returns the error to raise once the session is recorded."""
        failure: BaseException | None = None
        journal, draft, episode = self._journal, None, self._episode
        assert episode is not None
        try:
            await agent.start()
            session.agent_name = agent.name
            if journal is not None:
                draft = self._build_record(problem, mark_as_cut_off(session), {})
                if not agent.keep_last_words(journal.path, format_draft(draft)):
                    journal.write_draft(draft)
                    draft = None
            await episode.run(agent)
        except AgentFailed as error:
            session.ending, session.why = "agent error", str(error)
        except INTERRUPTS as error:
            session.ending, failure = "interrupted", error
        except HarnessTimedOut as error:
            session.ending, failure = "harness timed out", error
        except BaseException as error:
            session.ending, session.why, failure = "harness error", _format_error(error), error
        session.ended_s, session.usage = episode.now_s, agent.usage()
        session.agent_settings = agent.settings()
        session.wall_ended = session.wall_began + time.perf_counter() - began
        try:
            await agent.close()  # before anything is judged or recorded
        except INTERRUPTS as error:
            session.ending, failure = "interrupted", failure or error
        if journal is not None and draft is not None:
            journal.write_draft(draft)
        return failure

    def _judge_session(
        self, problem: PreparedProblem, session: Session, failure: BaseException | None
    ) -> tuple[Mapping[str, Any], BaseException | None]:
        if session.ending in ("harness timed out", "harness error"):
            return {}, failure
        try:
            self._tell("the session is over; judging the outcome")
            if problem.transactions is not None:
                problem.transactions.close()
            problem.terminal.close()  # commands still running must not change the system while it is judged
            judge: ChatModel | None = None
            if self._judge is not None and failure is None:  # skip the LLM judge after an interrupt
                judge = RedactingModel(self._judge, problem.make_redactor())
            within = backstop(self._pace.action_timeout_s)
            results = evaluate(problem.task, session, judge, within=within)
            if session.ending in AGENT_FAILURES:  # an error of its own kind, and no wrong answer
                results |= {"success": None, "error": session.ending}
            return results, failure
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
        record = self._build_record(problem, session, results)
        session.results, session.record = dict(results), record
        if self._prints:
            self.sprint.result(session.results)
        self.record_path, self.record_error = self._write_record(record)
        return {
            "history": session.trace,
            "final_state": _get_final_state(session),
            "results": session.results,
            "session_id": session.session_id,
            "ending": session.ending,
            "why": record["why"],
            "record": self.record_path,
            "record_error": self.record_error,
            "session": record,
        }

    def _build_record(self, problem: PreparedProblem, session: Session, results: Mapping[str, Any]) -> Record:
        faults = [fault.facts for fault in problem.task.faults]
        injected_s = problem.environment.injected_s if faults else None
        settings = {
            "max_steps": session.max_steps,
            **asdict(self._pace),
            "faults": faults,
            "injected_s": None if injected_s is None else round(injected_s - session.began_s, DIGITS),
        }
        if self._tnr is not None:
            settings["tnr"] = asdict(self._tnr)
        if problem.transactions is not None:
            session.transactions = problem.transactions.to_record()
        return build_record(
            session, vars(problem.prompt), problem.expected, results, settings, problem.make_redactor()
        )

    def _write_record(self, record: Record) -> tuple[Path | None, str | None]:
        if self.results_dir is None:
            return None, None
        try:
            return write_record(record, self.results_dir), None
        except RecordNotWritten as error:
            return None, str(error)


def _get_final_state(session: Session) -> SubmissionStatus | str:
    if session.ending == "submitted":
        return SubmissionStatus.VALID_SUBMISSION
    return session.steps[-1].observation if session.steps else ""


def _format_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")
