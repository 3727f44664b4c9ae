"""An agent that does what a file says, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aiopslab.agents.registry import agent

FENCE = "```"


@agent("scripted")
class Scripted:
    """Follows a file: ``scripted:FILE``, an action on each line, or in a fenced block when it takes several."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._actions = answers(Path(path).read_text("utf-8"))

    def get_action(self, state: str) -> str:
        """The next one."""
        action = next(self._actions, None)
        if action is None:
            raise RuntimeError(
                f"{Path(self._path).name} has no more actions, and the session goes on: end it by submit."
            )
        return action


def answers(text: str) -> Iterator[str]:
    """The answers of a script. Empty lines and those that begin with # are passed over, outside of blocks."""
    block: list[str] | None = None
    for line in text.splitlines():
        if block is not None:
            block.append(line)
            if line.strip() == FENCE:
                yield "\n".join(block)
                block = None
        elif line.lstrip().startswith(FENCE):
            block = [line]
        elif line.strip() and not line.lstrip().startswith("#"):
            yield f"{FENCE}\n{line.strip()}\n{FENCE}"
    if block is not None:
        yield "\n".join([*block, FENCE])
