"""An agent at work on a problem: it is told the state, answers with one action, and sees what came of it.

What an agent does wrong (an answer that cannot be read, an action that is not there, a submission of the wrong form) is told
it as a sentence; the session goes on, and the turn counts. Each turn costs the time that the agent thinks and the time that its
action takes, both on the world's clock. A session ends when something was submitted, at its limits, or with its agent; a
command that still runs at the limit of time is ended there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from aiopslab.cloud.declared import find_changes
from aiopslab.orchestrator.actions.action_set import SUBMIT
from aiopslab.orchestrator.agent import AgentFailed, AgentGone, AgentLink, AgentTimedOut, Usage
from aiopslab.orchestrator.agent_link import bounded
from aiopslab.orchestrator.backstop import HarnessTimedOut, backstop
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.posing import Posed
from aiopslab.orchestrator.session import DIGITS, Ending, Session, Step
from aiopslab.utils.status import InvalidActionError, InvalidSubmissionError, ResponseParsingError
from simcloud.kubernetes.api.store import Key

FIRST: Final = "Take your first action."
NEXT: Final = "Take your next action."
TAKEN: Final = "Your answer was taken. The session ends here."
OBSERVATION_CHARS: Final = 200_000
"""Actions keep their own bounds, which are lower; this one holds whatever an author's own action says."""

LONGEST_S: Final = 7 * 86_400.0

OnStep = Callable[[Step], None]


@dataclass(frozen=True)
class Pace:
    """What an agent is given of time: on the world's clock, and as a last resort on the host's."""

    thinking_s: float | Literal["wall"] = 5.0
    """What each turn costs before its action begins; ``wall`` takes what the agent really needed."""
    time_limit_s: float = 7200.0
    """How long a session lasts at most, in simulated seconds."""
    agent_timeout_s: float = 600.0
    """How long one answer may take, by the host's clock."""
    action_timeout_s: float = 300.0
    """How long the framework may take over one action, and over judging, by the host's clock."""

    def __post_init__(self) -> None:
        if self.thinking_s != "wall" and not 0 <= self.thinking_s <= LONGEST_S:
            raise ValueError(
                f"thinking_s is 'wall' or from 0 to {LONGEST_S:g} seconds, not {self.thinking_s!r}."
            )
        if not 0 < self.time_limit_s <= LONGEST_S:
            raise ValueError(
                f"time_limit_s is above 0 and at most {LONGEST_S:g} seconds, not {self.time_limit_s!r}."
            )
        if not 0 < self.action_timeout_s <= LONGEST_S:
            raise ValueError(
                f"action_timeout_s is above 0 and at most {LONGEST_S:g} seconds, not {self.action_timeout_s!r}."
            )


@dataclass(frozen=True)
class _Outcome:
    api_name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    observation: str
    valid: bool


class Episode:
    """One session while it goes on. ``run`` fills it in, turn by turn, and says how it ended."""

    def __init__(
        self,
        posed: Posed,
        session: Session,
        pace: Pace,
        on_step: OnStep | None = None,
    ) -> None:
        self.session = session
        self._posed = posed
        self._environment = posed.environment
        self._pace = pace
        self._on_step = on_step
        self._parser = ResponseParser(known=posed.prompt.actions)
        self._declared = posed.declared
        self._used = Usage(0, 0)
        posed.terminal.closes_at_s = session.began_s + pace.time_limit_s

    async def run(self, agent: AgentLink) -> None:
        """Let an agent work until something ends it. What is no fault of the agent's is raised."""
        ending: Ending
        prompt = self._posed.prompt
        try:
            await agent.init(prompt.description, prompt.instructions, dict(prompt.actions))
            ending = await self._turns(agent)
        except AgentTimedOut as error:
            ending, self.session.why = "agent timed out", str(error)
        except AgentGone as error:
            ending, self.session.why = "agent gone", str(error)
        except AgentFailed as error:
            ending, self.session.why = "agent error", str(error)
        self.session.ending = ending

    async def _turns(self, agent: AgentLink) -> Ending:
        state = FIRST
        for number in range(1, self.session.max_steps + 1):
            if self._left_s() <= 0:
                return "time limit"
            response, wall_s = await self._asked(agent, state)
            step = self._taken(number, response, wall_s, agent.usage())
            self.session.steps.append(step)
            if self._on_step is not None:
                self._on_step(step)
            if step.valid and step.api_name == SUBMIT:
                return "submitted"
            state = f"{step.observation}\n\n{NEXT}"
            await asyncio.sleep(0)  # an agent that never waits must not keep an interrupt from coming through
        return "step limit"

    async def _asked(self, agent: AgentLink, state: str) -> tuple[str, float]:
        began = time.perf_counter()
        try:
            response = await agent.get_action(state)
        finally:
            wall_s = time.perf_counter() - began
            self.session.wall_agent_s += wall_s
        return response, wall_s

    def _taken(self, number: int, response: str, wall_s: float, used: Usage | None) -> Step:
        try:
            with backstop(self._pace.action_timeout_s):
                return self._turn(number, response, wall_s, used)
        except HarnessTimedOut as error:
            self.session.why = f"{error} The agent had answered: {bounded(response)}"
            raise

    def _turn(self, number: int, response: str, wall_s: float, used: Usage | None) -> Step:
        environment = self._environment
        thought_s = wall_s if self._pace.thinking_s == "wall" else self._pace.thinking_s
        environment.run_for(min(thought_s, self._left_s()))
        began_s = environment.now
        outcome = self._acted(response)
        in_tokens, out_tokens = self._newly_used(used)
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
            health=self._posed.watch.now(),
            changed=self._newly_changed(),
            in_tokens=in_tokens,
            out_tokens=out_tokens,
            wall_s=wall_s,
        )

    def _acted(self, response: str) -> _Outcome:
        try:
            call = self._parser.parse(response)
        except ResponseParsingError as error:
            return _Outcome("", (), {}, str(error), valid=False)
        name, args, kwargs = call["api_name"], tuple(call["args"]), dict(call["kwargs"])
        try:
            observation = self._performed(name, args, kwargs)
        except (InvalidActionError, InvalidSubmissionError) as error:
            return _Outcome(name, args, kwargs, str(error), valid=False)
        return _Outcome(name, args, kwargs, _bounded(observation), valid=True)

    def _performed(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        if name != SUBMIT:
            return self._posed.actions.perform(name, args, kwargs)
        self.session.solution = self._posed.task.take_submission(args, kwargs)
        return TAKEN

    def _left_s(self) -> float:
        return round(self.session.began_s + self._pace.time_limit_s - self._environment.now, DIGITS)

    def _newly_changed(self) -> dict[str, str]:
        before, self._declared = self._declared, self._environment.read_declared()
        return {_called(key): what for key, what in find_changes(before, self._declared).items()}

    def _newly_used(self, used: Usage | None) -> tuple[int | None, int | None]:
        if used is None:
            return None, None
        before, self._used = self._used, used
        return used.in_tokens - before.in_tokens, used.out_tokens - before.out_tokens


def _bounded(text: str) -> str:
    if len(text) <= OBSERVATION_CHARS:
        return text
    return f"{text[:OBSERVATION_CHARS]}\n[cut: {OBSERVATION_CHARS} of {len(text)} characters are shown]"


def _called(key: Key) -> str:
    place = f" ({key.namespace})" if key.namespace else ""
    return f"{key.plural}/{key.name}{place}"
