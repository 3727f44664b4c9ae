"""The agent example-agent: looks at the Deployments once, and answers detection tasks."""

from __future__ import annotations

from collections.abc import Mapping

from aiopslab.agents import agent


@agent("example-agent")
class ExampleAgent:
    """Reports a fault if a Deployment has no ready pods."""

    def __init__(self) -> None:
        self._steps = 0

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Receive the problem before the first step; a model needs all three texts in its prompt."""

    def get_action(self, state: str) -> str:
        """Return the next action; ``state`` is the last observation. May be async. Call your model here."""
        self._steps += 1
        if self._steps == 1:
            return 'exec_shell("kubectl get deployments -A --no-headers")'
        return 'submit("Yes")' if " 0/" in state else 'submit("No")'
