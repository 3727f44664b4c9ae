"""A language model with a shell, as in the AIOpsLab paper ("GPT with shell"): no plan, no memory besides the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.agents.model_agent import ModelAgent
from aiopslab.agents.prompt_files import load_prompts
from aiopslab.agents.registry import agent

SHELL: Final = ("exec_shell", "submit")


@agent("shell", "llm")
class Shell(ModelAgent):
    """A language model with a shell and nothing else; choose the model with --model."""

    prompts = load_prompts("shell")

    def build_system(self, problem: str, instructions: str, actions: Mapping[str, str]) -> str:
        """Document the shell and ``submit``; all actions if the problem offers no shell."""
        offered = {name: actions[name] for name in SHELL} if set(SHELL) <= set(actions) else actions
        return super().build_system(problem, instructions, offered)
