"""STRATUS (Chen et al., NeurIPS 2025): a team of agents whose order is decided by a state machine and not by a model.

    detection -> diagnosis -> mitigation -> detection again -> submission
                     ^                          |
                     +---- undo, if it failed --+

Each role has its own prompt, its own actions and its own conversation; it hands over a report. Detection and diagnosis
only read. If the session offers transactions, mitigation works in one: the state machine begins and commits it, and the
framework undoes it when the system got worse. Otherwise the undo agent takes a failed repair back. Either way the next
attempt starts with what was learnt.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Final

from aiopslab.agents.floors import detect_form, format_call
from aiopslab.agents.model_agent import ModelAgent
from aiopslab.agents.prompt_files import format_actions, load_prompts
from aiopslab.agents.registry import agent
from aiopslab.agents.stratus.roles import (
    BEGIN,
    COMMIT,
    DETECTION,
    DIAGNOSIS,
    MITIGATION,
    SUBMISSION,
    UNDO,
    Role,
)
from aiopslab.orchestrator import ResponseParser
from aiopslab.orchestrator.evaluation import cut_middle
from aiopslab.orchestrator.models import ChatModel, Message
from aiopslab.utils import ResponseParsingError

ATTEMPTS: Final = 3
"""How often a repair is tried."""
REPORT_CHARS: Final = 2_000
NONE_YET: Final = "nothing yet"
NO_REPORT: Final = "no conclusion was reached"
COMMITTED: Final = "was committed"
_REPORT: Final = re.compile(r"^\W{0,4}REPORT\W{0,4}:\s*(.*)", re.DOTALL | re.MULTILINE)
_HEALTHY: Final = re.compile(r"^\W*healthy\b", re.IGNORECASE)

Turns = Generator[str, str, None]


@agent("stratus")
class Stratus(ModelAgent):
    """Detection, diagnosis, mitigation and undo agents in a state machine (STRATUS); choose the model with --model."""

    prompts = load_prompts(*(role.prompt for role in (DETECTION, DIAGNOSIS, MITIGATION, UNDO, SUBMISSION)))

    def __init__(self, model: str | ChatModel) -> None:
        super().__init__(model)
        self._problem = self._instructions = ""
        self._actions: dict[str, str] = {}
        self._turns: Turns | None = None
        self._state = ""
        """The latest observation."""
        self._log: list[str] = []
        self._lessons: list[str] = []

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Begin with detection, and forget the last session."""
        self._problem, self._instructions, self._actions = problem, instructions, dict(actions)
        self._turns = None
        self._log.clear()
        self._lessons.clear()

    def get_action(self, state: str) -> str:
        """Return the next action of the role whose turn it is; raises ``ModelFailed``."""
        self._state = state
        if self._turns is None:
            self._turns = self._work()
            return next(self._turns)
        return self._turns.send(state)

    def _work(self) -> Turns:
        """The state machine."""
        form = detect_form(self._actions)
        report = yield from self._play(DETECTION)
        if form != "yes or no":
            for _ in range(ATTEMPTS):
                yield from self._play(DIAGNOSIS)
                if form not in ("nothing", "incident"):
                    break
                is_kept = yield from self._mitigate()
                if not is_kept:
                    continue
                report = yield from self._play(DETECTION)
                if _HEALTHY.match(report):
                    break
                self._lessons.append(f"After the repair the system was still ill: {report}")
                if BEGIN not in self._actions:
                    yield from self._play(UNDO)
        while True:  # an answer of the wrong form is explained, and may be corrected
            yield from self._take("submit") if form == "nothing" else self._play(SUBMISSION)

    def _mitigate(self) -> Generator[str, str, bool]:
        """Let the mitigation agent work, in a transaction if there are any; return whether its changes were kept."""
        if BEGIN not in self._actions:
            yield from self._play(MITIGATION)
            return True
        yield from self._take(BEGIN)
        report = yield from self._play(MITIGATION)
        yield from self._take(COMMIT)
        if COMMITTED in self._state:
            return True
        outcome = cut_middle(self._state, REPORT_CHARS)
        self._lessons.append(f"This repair was undone: {report}\nThe outcome: {outcome}")
        self._log.append("The repair was undone; the system is as it was before.")
        return False

    def _play(self, role: Role) -> Generator[str, str, str]:
        """Let a role work until it reports; return its report."""
        self.conversation.start(self._build_prompt(role))
        state, report = self._state, NO_REPORT
        for _ in range(role.max_turns):
            self.conversation.add(Message("user", state))
            answer = self.conversation.ask().text
            found = _REPORT.search(answer)
            call = self._parse(answer)
            if found and call is None:
                report = cut_middle(found[1].strip(), REPORT_CHARS)
                break
            objection = role.object_to(call, self._actions) if call is not None else ""
            if not objection:
                self._state = yield answer
            state = objection or self._state
        self._log.append(f"{role.prompt.removeprefix('stratus_').capitalize()}: {report}")
        return report

    def _take(self, name: str) -> Turns:
        """Take an action of the state machine."""
        self._state = yield format_call(name)

    def _parse(self, answer: str) -> dict[str, object] | None:
        """Return the call in an answer, or None if there is none that can be parsed; the session explains why."""
        try:
            return ResponseParser(known=self._actions).parse(answer)
        except ResponseParsingError:
            return None

    def _build_prompt(self, role: Role) -> str:
        return self.fill(
            role.prompt,
            problem=self._problem,
            instructions=self._instructions,
            actions=format_actions(role.select(self._actions)),
            log="\n\n".join(self._log) or NONE_YET,
            lessons="\n\n".join(self._lessons) or NONE_YET,
        )
