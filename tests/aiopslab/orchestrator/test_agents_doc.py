"""The examples of docs/agents.md do what the page says."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator.agent import SubprocessAgent, Usage, link
from aiopslab.orchestrator.parser import ResponseParser

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
EXAMPLES = [block for block in BLOCKS if not block.startswith("# careful.py")]
"""The other one is run in tests/aiopslab/cli/test_run_models.py."""


def made(example: str, tmp_path: Path) -> Any:
    if example.startswith("# my_agent.py"):
        (tmp_path / "my_agent.py").write_text(example)
        return SubprocessAgent([sys.executable, str(tmp_path / "my_agent.py")])
    names: dict[str, Any] = {}
    exec(example, names)
    return names["agent"]


def session(agent: Any) -> tuple[str, Usage | None]:
    async def run() -> tuple[str, Usage | None]:
        linked = link(agent, "my agent", timeout_s=120)
        try:
            await linked.init("A problem.", "Instructions.", {"submit": "submit()"})
            return await linked.get_action("Begin. " * 10), linked.usage()
        finally:
            await linked.close()

    return asyncio.run(run())


def test_the_page_has_an_example_of_each_kind() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_an_agent_whose_answer_is_a_call(example: str, tmp_path: Path) -> None:
    answer, usage = session(made(example, tmp_path))
    parsed = ResponseParser().parse(answer)
    assert (parsed["api_name"], parsed["args"]) == ("exec_shell", ["kubectl get pods -A"])
    assert usage == (Usage(17, 0, 0.0) if "def usage" in example else None)
