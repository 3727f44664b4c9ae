"""One agent in each of the dresses an agent may come in. Each looks at the nodes and then answers."""

import sys
from collections.abc import Awaitable, Callable

from aiopslab.orchestrator.agent import SubprocessAgent

LOOK = 'I look first.\n```\nexec_shell("kubectl get nodes")\n```'
ANSWER = "submit('Yes')"

PROGRAM = """
import json, sys
actions = {}
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "problem":
        actions = told["actions"]
        assert told["description"] and told["instructions"]
    elif told["type"] == "state":
        look = "submit" in actions and "NAME" not in told["state"]
        usage = {"in_tokens": 40, "out_tokens": 4, "cost_usd": 0.5}
        print(json.dumps({"action": sys.argv[1] if look else sys.argv[2], "usage": usage}), flush=True)
"""


class Introduced:
    """Answers only if it was told what it can do."""

    def init_context(self, problem: str, instructions: str, actions: dict[str, str]) -> None:
        self.ready = bool(problem and instructions and "submit" in actions)

    def get_action(self, state: str) -> str:
        assert self.ready
        return next_line(state)


def next_line(state: str) -> str:
    return ANSWER if "NAME" in state else LOOK


def a_class() -> type[Introduced]:
    return Introduced


def a_function() -> Callable[[str], str]:
    return next_line


def an_async_function() -> Callable[[str], Awaitable[str]]:
    async def agent(state: str) -> str:
        return next_line(state)

    return agent


def a_program() -> SubprocessAgent:
    return SubprocessAgent([sys.executable, "-c", PROGRAM, LOOK, ANSWER])
