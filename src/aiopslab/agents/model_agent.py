"""What agents around a language model have in common: the model, the conversation, and what the record says of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from aiopslab.agents.conversation import Conversation, Meter
from aiopslab.agents.prompt_files import fill_prompt, format_actions, get_version
from aiopslab.orchestrator import Usage
from aiopslab.orchestrator.models import ChatModel, Message


class ModelAgent:
    """Base class of agents around a language model. A plain one sends each observation and returns the model's text."""

    prompts: ClassVar[Mapping[str, str]]
    """The texts of its prompts by name, with places such as ``{{problem}}``. The first one is the system prompt."""

    def __init__(self, model: str | ChatModel) -> None:
        """Take a model, or its name as ``open_model`` does; raises ``ModelFailed`` if a named one cannot be used."""
        if isinstance(model, str):
            from aiopslab.orchestrator.models import open_model  # loads an HTTP client

            opened = open_model(model)
            opened.check()
            model = opened
        self.meter = Meter(model)
        self.conversation = Conversation(self.meter)

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Begin a new conversation about a problem."""
        self.conversation.start(self.build_system(problem, instructions, actions))

    def build_system(self, problem: str, instructions: str, actions: Mapping[str, str]) -> str:
        """Return the system prompt."""
        documentation = format_actions(actions)
        return self.fill(
            next(iter(self.prompts)), problem=problem, instructions=instructions, actions=documentation
        )

    def fill(self, prompt: str, **values: str) -> str:
        """Return a prompt with its places filled in; raises ``KeyError`` if a value is missing."""
        return fill_prompt(self.prompts[prompt], values)

    def get_action(self, state: str) -> str:
        """Return the model's reply to an observation; raises ``ModelFailed`` when there is none."""
        self.conversation.add(Message("user", state))
        return self.conversation.ask().text

    def usage(self) -> Usage | None:
        """Return the tokens and the cost so far."""
        return self.meter.usage()

    def settings(self) -> dict[str, Any]:
        """Return model, parameters and version of the prompts, for the record."""
        model = self.meter.model
        described = getattr(model, "settings", None) or {"model": model.name}
        return {**described, "prompt": get_version(self.prompts)}
