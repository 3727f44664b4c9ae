"""The page for those who come from the public release shows the example that is run, and names what is there."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

import aiopslab
from aiopslab.orchestrator import Orchestrator
from aiopslab.orchestrator.problems.registry import ProblemRegistry
from aiopslab.session import Session

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coming-from-aiopslab.md").read_text()


def test_the_page_shows_the_example_that_is_run() -> None:
    (shown,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    example = (ROOT / "examples" / "03_an_agent_of_aiopslab.py").read_text()
    assert example.endswith(f'"""\n\n{shown}')


@pytest.mark.parametrize("module", sorted(set(re.findall(r"`(aiopslab(?:\.\w+)+)`", PAGE))))
def test_modules_that_the_page_names_are_there(module: str) -> None:
    import_module(module)


def test_names_that_the_page_promises_are_there() -> None:
    unchanged = PAGE.partition("## What works unchanged")[2].partition("## What differs")[0]
    for name in ("Orchestrator", "Wrk", "VirtFaultInjector", "FaultInjector", "is_exact_match", "is_subset"):
        assert name in unchanged
        assert hasattr(aiopslab, name)
    for owner, names in (
        (
            ProblemRegistry,
            ("get_problem_ids", "PROBLEM_REGISTRY", "get_problem_instance", "get_problem_count"),
        ),
        (Session, ("session_id", "history", "to_dict")),
        (Orchestrator, ("register_agent", "init_problem", "start_problem")),
    ):
        for name in names:
            assert name in unchanged
            assert hasattr(owner, name)
    assert {"results_dir", "seed", "tell", "on_step", "thinking_s"} <= set(signature(Orchestrator).parameters)
