"""An agent that replays the actions in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aiopslab.agents.registry import agent

FENCE = "```"


@agent("scripted")
class Scripted:
    """Replays the actions of a file (``scripted:FILE``): one per line, or a fenced block for several lines."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._actions = parse_script(Path(path).read_text("utf-8"))

    def get_action(self, state: str) -> str:
        """Return the next action; raises ``RuntimeError`` when there is none left."""
        action = next(self._actions, None)
        if action is None:
            raise RuntimeError(
                f"{Path(self._path).name} has no more actions, but the session is not over: end the file with submit."
            )
        return action


def parse_script(text: str) -> Iterator[str]:
    """Yield the actions of a script as fenced blocks. Outside blocks, empty lines and lines starting with # are skipped."""
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
