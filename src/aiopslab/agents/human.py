"""The name ``human``, which puts a person at the terminal of the command line."""

from __future__ import annotations

from typing import Final

from aiopslab.agents.lookup import NoSuchAgent
from aiopslab.agents.registry import agent

HUMAN: Final = "human"


@agent(HUMAN)
class Human:
    """A person at this terminal, with `aiopslab run` and `aiopslab bench`; `aiopslab play` is the same without --agent."""

    def __init__(self) -> None:
        raise NoSuchAgent(
            "A person needs the command line's own terminal. Use aiopslab play, or aiopslab run with --agent human."
        )
