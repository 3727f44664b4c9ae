"""ReAct (Yao et al., 2023): the model writes a thought before each action, and reads the observation after it.

Models like to invent the observation and go on; what follows an invented one is dropped, from the answer and from the
conversation.
"""

from __future__ import annotations

import re
from typing import Final

from aiopslab.agents.model_agent import ModelAgent
from aiopslab.agents.prompt_files import load_prompts
from aiopslab.agents.registry import agent
from aiopslab.orchestrator.models import Message

_INVENTED: Final = re.compile(r"^\W{0,4}observation\W{0,4}:", re.IGNORECASE | re.MULTILINE)


@agent("react")
class React(ModelAgent):
    """A language model that thinks before each action (ReAct); choose the model with --model."""

    prompts = load_prompts("react")

    def get_action(self, state: str) -> str:
        """Return thought and action; raises ``ModelFailed``."""
        self.conversation.add(Message("user", f"Observation:\n{state}"))
        return self.conversation.ask(clean=cut_invented).text


def cut_invented(text: str) -> str:
    """Return an answer up to the first observation that the model invented, if anything stands before it."""
    found = _INVENTED.search(text)
    return text[: found.start()].rstrip() or text if found else text
