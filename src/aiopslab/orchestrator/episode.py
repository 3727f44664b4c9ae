"""Runs an agent on a problem: it gets the state, answers with one action, and gets the observation, until the session ends.

An agent's mistakes (an answer that cannot be parsed, an unknown action, a submission of the wrong form) come back to it as
a message; the session goes on, and the step counts. Each step costs the agent's thinking time and the time that its action
takes, both in simulated time. A session ends with a submission, at a limit, or when the agent fails; a command that still
runs at the time limit is ended there.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Final, Literal

from aiopslab.cloud import find_changes
from aiopslab.orchestrator.action_names import FIRST, NEXT, SUBMIT
from aiopslab.orchestrator.agent import AgentFailed, AgentGone, AgentLink, AgentTimedOut, Usage
from aiopslab.orchestrator.agent_link import AgentGaveUp, truncate
from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.preparation import PreparedProblem, make_noise
from aiopslab.orchestrator.session import DIGITS, Ending, Session, Step
from aiopslab.utils import InvalidActionError, InvalidSubmissionError, ResponseParsingError
from simcloud.kubernetes.api import Key

SUBMITTED: Final = "Your answer was accepted. The session ends here."
OBSERVATION_CHARS: Final = 200_000
"""Limit of any observation. Built-in actions have lower limits; this one bounds actions of authors."""

MAX_S: Final = 7 * 86_400.0
LIVE_TIMEOUT_S: Final = 3600.0
"""Time for an action and for judging on a real cluster, where waiting takes as long as it takes, in wall time."""

OnStep = Callable[[Step], None]


@dataclass(frozen=True)
class Pace:
    """Time limits of a session, in simulated time and, as a last resort, in wall time."""

    thinking_s: float | Literal["wall"] = 5.0
    """Simulated cost of each step before its action begins; ``wall`` uses the agent's real time."""
    time_limit_s: float = 7200.0
    """Maximum length of a session, in simulated seconds."""
    agent_timeout_s: float = 600.0
    """Maximum time for one answer of the agent, in wall time."""
    action_timeout_s: float = 300.0
    """Maximum time for one action and for judging, in wall time."""

    def __post_init__(self) -> None:
        if self.thinking_s != "wall" and not 0 <= self.thinking_s <= MAX_S:
            raise ValueError(
                f"thinking_s must be 'wall' or from 0 to {MAX_S:g} seconds, not {self.thinking_s!r}."
            )
        if not 0 < self.time_limit_s <= MAX_S:
            raise ValueError(
                f"time_limit_s must be above 0 and at most {MAX_S:g} seconds, not {self.time_limit_s!r}."
            )
        if not 0 < self.action_timeout_s <= MAX_S:
            raise ValueError(
                f"action_timeout_s must be above 0 and at most {MAX_S:g} seconds, not {self.action_timeout_s!r}."
            )


@dataclass(frozen=True)
class _Outcome:
    api_name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    observation: str
    valid: bool


class Episode:
    """One session in progress. ``run`` fills in its steps and its ending."""

    def __init__(
        self,
        problem: PreparedProblem,
        session: Session,
        pace: Pace,
        on_step: OnStep | None = None,
    ) -> None:
        self.session = session
        self._problem = problem
        self._environment = problem.environment
        self._pace = pace
        self._on_step = on_step
        self._parser = ResponseParser(known=problem.prompt.actions)
        self._declared = problem.declared
        self._usage = Usage(0, 0)
        self._asked_s = session.began_s
        """When the agent got its last observation. A prepared world may be ahead of that (``Stage.open_problem``)."""
        self._has_answer = False
        pauses_s = accumulate(change.pause_s for change in problem.task.noise.during)
        self._meanwhile = deque(zip(pauses_s, problem.task.noise.during, strict=True))
        """What other teams are going to change, and when, in seconds of the session."""
        self._ends_s = problem.terminal.closes_at_s = session.began_s + pace.time_limit_s

    async def run(self, agent: AgentLink) -> None:
        """Let an agent work until the session ends. Raises errors that the agent did not cause."""
        ending: Ending
        prompt = self._problem.prompt
        try:
            await agent.init(
                prompt.description, prompt.instructions, dict(prompt.actions), self._problem.tools
            )
            ending = await self._run_steps(agent)
        except AgentTimedOut as error:
            ending, self.session.why = "agent timed out", str(error)
        except AgentGone as error:
            ending, self.session.why = "agent gone", str(error)
        except AgentGaveUp as error:
            ending, self.session.why = "gave up", str(error)
        except AgentFailed as error:
            ending, self.session.why = "agent error", str(error)
        self.session.ending = ending

    async def _run_steps(self, agent: AgentLink) -> Ending:
        state = FIRST
        while (limit := self.find_limit()) is None:
            response, wall_s = await self._get_response(agent, state)
            step = self.perform(response, wall_s, agent.usage())
            if step.valid and step.api_name == SUBMIT:
                return "submitted"
            state = f"{step.observation}\n\n{NEXT}"
            await asyncio.sleep(0)  # lets an interrupt through even if the agent never awaits
        return limit

    def find_limit(self) -> Ending | None:
        """Return the limit that the session has reached, or None."""
        if len(self.session.steps) >= self.session.max_steps:
            return "step limit"
        return "time limit" if round(self._ends_s - self._environment.now, DIGITS) <= 0 else None

    @property
    def now_s(self) -> float:
        """The simulated time that the session has reached: its beginning, until the agent's first answer."""
        return self._environment.now if self._has_answer else self.session.began_s

    def perform(self, response: str, wall_s: float = 0.0, usage: Usage | None = None) -> Step:
        """Perform the action of an answer, which took some wall time; add the step to the session and return it."""
        step = self._take_step_with_limit(len(self.session.steps) + 1, response, wall_s, usage)
        self.session.steps.append(step)
        if self._on_step is not None:
            self._on_step(step)
        return step

    async def _get_response(self, agent: AgentLink, state: str) -> tuple[str, float]:
        began = time.perf_counter()
        try:
            response = await agent.get_action(state)
        finally:
            wall_s = time.perf_counter() - began
            self.session.wall_agent_s += wall_s
        return response, wall_s

    def _take_step_with_limit(self, number: int, response: str, wall_s: float, usage: Usage | None) -> Step:
        try:
            with backstop(self._pace.action_timeout_s):
                return self._take_step(number, response, wall_s, usage)
        except HarnessTimedOut as error:
            self.session.why = f"{error} The agent had answered: {truncate(response)}"
            raise

    def _take_step(self, number: int, response: str, wall_s: float, usage: Usage | None) -> Step:
        environment, self._has_answer = self._environment, True
        thinking_s = wall_s if self._pace.thinking_s == "wall" else self._pace.thinking_s
        if environment.is_live:
            thinking_s = 0.0  # it has passed already
        environment.run_until(min(self._asked_s + thinking_s, self._ends_s))
        self._let_others_work()
        began_s = environment.now
        outcome = self._perform_response(response)
        self._asked_s = environment.now
        in_tokens, out_tokens = self._count_new_tokens(usage)
        return Step(
            number=number,
            response=response,
            api_name=outcome.api_name,
            args=outcome.args,
            kwargs=outcome.kwargs,
            observation=outcome.observation,
            valid=outcome.valid,
            at_s=round(began_s - self.session.began_s, DIGITS),
            took_s=round(environment.now - began_s, DIGITS),
            health=self._problem.health_monitor.measure(),
            changed=self._find_new_changes(),
            in_tokens=in_tokens,
            out_tokens=out_tokens,
            wall_s=wall_s,
        )

    def _let_others_work(self) -> None:
        """Let other teams make the changes that are due; they are not the agent's, and wait while it has a transaction open."""
        if self._problem.transactions is not None and self._problem.transactions.is_open:
            return
        while self._meanwhile and self._meanwhile[0][0] <= self._environment.now - self.session.began_s:
            make_noise(self._environment, [replace(self._meanwhile.popleft()[1], pause_s=0.0)])
            self._declared = self._environment.read_declared()

    def _perform_response(self, response: str) -> _Outcome:
        try:
            call = self._parser.parse(response)
        except ResponseParsingError as error:
            return _Outcome("", (), {}, str(error), valid=False)
        name, args, kwargs = call["api_name"], tuple(call["args"]), dict(call["kwargs"])
        try:
            observation = self._perform(name, args, kwargs)
        except (InvalidActionError, InvalidSubmissionError) as error:
            return _Outcome(name, args, kwargs, str(error), valid=False)
        return _Outcome(name, args, kwargs, _limit_observation(observation), valid=True)

    def _perform(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        if name != SUBMIT:
            return self._problem.actions.perform(name, args, kwargs)
        if self._problem.transactions is not None and self._problem.transactions.is_open:
            raise InvalidSubmissionError("A transaction is open: commit or abort it before you submit.")
        self.session.solution = self._problem.task.take_submission(args, kwargs)
        return SUBMITTED

    def _find_new_changes(self) -> dict[str, str]:
        before, self._declared = self._declared, self._environment.read_declared()
        return {_format_key(key): what for key, what in find_changes(before, self._declared).items()}

    def _count_new_tokens(self, usage: Usage | None) -> tuple[int | None, int | None]:
        if usage is None:
            return None, None
        before, self._usage = self._usage, usage
        return usage.in_tokens - before.in_tokens, usage.out_tokens - before.out_tokens


def _limit_observation(text: str) -> str:
    if len(text) <= OBSERVATION_CHARS:
        return text
    return f"{text[:OBSERVATION_CHARS]}\n[truncated: {OBSERVATION_CHARS} of {len(text)} characters are shown]"


def _format_key(key: Key) -> str:
    place = f" ({key.namespace})" if key.namespace else ""
    return f"{key.plural}/{key.name}{place}"
