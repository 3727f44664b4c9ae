"""FLASH (Zhang et al., 2024): a supervisor keeps the status, steps depend on conditions, and hindsight avoids repetition.

Each turn asks the model twice: as a supervisor, for the status of the work and the next step under conditions ("if the
pod restarts, read its last logs; otherwise ..."), and as an engineer, for the action. When the supervisor sees no
progress, the model is also asked what to do differently; these lessons stay in view for the rest of the session. The
supervisor reads a short log of the session instead of the whole conversation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from aiopslab.agents.model_agent import ModelAgent
from aiopslab.agents.prompt_files import load_prompts
from aiopslab.agents.registry import agent
from aiopslab.orchestrator.evaluation import cut_middle
from aiopslab.orchestrator.models import ChatModel, Message

LOGGED_STEPS: Final = 25
LOGGED_CHARS: Final = 400
STATE_CHARS: Final = 6_000
STATUS_CHARS: Final = 2_000
MAX_LESSONS: Final = 6
NONE_YET: Final = "none yet"
_STUCK: Final = re.compile(r"^\W{0,4}progress\W{0,4}:\W{0,4}no\b", re.IGNORECASE | re.MULTILINE)


@agent("flash")
class Flash(ModelAgent):
    """A language model with a supervisor, conditional steps and hindsight (FLASH); choose the model with --model."""

    prompts = load_prompts("flash", "flash_status", "flash_hindsight")

    def __init__(self, model: str | ChatModel) -> None:
        super().__init__(model)
        self._problem = ""
        self._actions = ""
        self._log: list[str] = []
        self._lessons: list[str] = []
        self._last_action = ""

    def build_system(self, problem: str, instructions: str, actions: Mapping[str, str]) -> str:
        """Document all actions, and forget the last session."""
        self._problem = problem
        self._actions = ", ".join(actions)
        self._log.clear()
        self._lessons.clear()
        self._last_action = ""
        return super().build_system(problem, instructions, actions)

    def get_action(self, state: str) -> str:
        """Let the supervisor assess the state, look back if there was no progress, and act; raises ``ModelFailed``."""
        if self._last_action:
            self._log.append(f"{_shorten(self._last_action)}\n-> {_shorten(state)}")
        status = self._ask("flash_status", state)
        if self._log and _STUCK.search(status):
            self._lessons.append(_shorten(self._ask("flash_hindsight", state)))
            del self._lessons[:-MAX_LESSONS]
        note = f"Supervisor:\n{status}\n\nLessons so far:\n{self._format_lessons()}"
        self.conversation.add(Message("user", f"{cut_middle(state, STATE_CHARS)}\n\n{note}"))
        self._last_action = self.conversation.ask().text
        return self._last_action

    def _ask(self, prompt: str, state: str) -> str:
        """Ask the model aside from the conversation."""
        log = "\n\n".join(self._log[-LOGGED_STEPS:]) or NONE_YET

        def write_question(room_chars: int) -> str:
            return self.fill(
                prompt,
                problem=self._problem,
                actions=self._actions,
                log=cut_middle(log, room_chars // 3),
                lessons=self._format_lessons(),
                state=cut_middle(state, min(STATE_CHARS, room_chars // 4)),
            )

        return cut_middle(self.conversation.ask_aside(write_question), STATUS_CHARS)

    def _format_lessons(self) -> str:
        return "\n".join(f"- {lesson}" for lesson in self._lessons) or NONE_YET


def _shorten(text: str) -> str:
    """Return a text of one line and limited length."""
    return cut_middle(" ".join(text.split()), LOGGED_CHARS).replace("\n", " ")
