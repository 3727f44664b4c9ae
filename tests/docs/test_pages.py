"""The pages tell the truth: links lead somewhere, command lines are understood, and what Python they show can be imported.

What runs long is run where it belongs: the examples of agents.md, actions.md and sessions.md beside their subjects, the demo's
excerpt in tests/aiopslab/cli/test_demo.py, the files of examples/ in tests/examples/.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

from aiopslab.cli.main import cli
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.utils import AIOpsLabError

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "deploy/README.md"])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
CALL = re.compile(r"(?:^|[|;$] ?|\.venv/bin/)aiopslab (?=[a-z])")
COMMAND = typer.main.get_command(cli)
PLACEHOLDER = re.compile(r"\[?[A-Z]+\]?|…|\.\.\.")
"""Words that stand for others: PROBLEM, FILE."""


def told(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=told)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text())
    inside = [target for target in LINK.findall(text) if not target.startswith(("http://", "https://"))]
    assert not [target for target in inside if not _leads_somewhere(page, target)]


def test_every_page_is_reached_from_the_readme() -> None:
    reached, left = set[Path](), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = [
            (page.parent / link.partition("#")[0]).resolve() for link in LINK.findall(page.read_text())
        ]
        left += [path for path in targets if path.suffix == ".md" and path.is_file()]
        left += [path for folder in targets if folder.is_dir() for path in sorted(folder.glob("*.md"))]
    assert not {path.resolve() for path in PAGES} - {path.resolve() for path in reached}


def _leads_somewhere(page: Path, target: str) -> bool:
    place, _, title = target.partition("#")
    path = (page.parent / place).resolve() if place else page
    return path.exists() and (not title or title in _titles(path))


def _titles(page: Path) -> set[str]:
    """The anchors of a page's titles, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _calls() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = page.read_text()
        lines = [line for _, block in BLOCK.findall(text) for line in block.splitlines()]
        for line in (*lines, *INLINE.findall(BLOCK.sub("", text))):
            found = CALL.search(line)
            if found:
                yield told(page), line[found.end() :].partition("   ")[0].partition(" #")[0]
    for path, command in _commands(COMMAND):
        for line in (command.epilog or "").splitlines():
            if line.strip().startswith("aiopslab "):
                yield f"{path} --help", line.strip().removeprefix("aiopslab ")
            elif found := CALL.search(line):
                yield f"{path} --help", line[found.end() :]


def _commands(command: Any, path: str = "aiopslab") -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, one in getattr(command, "commands", {}).items():
        yield from _commands(one, f"{path} {name}")


CALLS = list(dict.fromkeys(_calls()))


def test_there_are_calls_to_look_at() -> None:
    assert len(CALLS) > 40
    assert len({where for where, _ in CALLS}) > 12


@pytest.mark.parametrize(("where", "line"), CALLS)
def test_a_call_is_understood(where: str, line: str) -> None:
    """Options and arguments are such as the command takes, and problems are such as there are."""
    words = list(takewhile(lambda word: word not in ("|", "&"), shlex.split(line)))
    command = COMMAND
    while (below := getattr(command, "commands", {})) and words:
        assert words[0] in below, f"{where}: there is no command '{words[0]}'"
        command = below[words.pop(0)]
    if not words or any(map(PLACEHOLDER.fullmatch, words)):
        return
    parsed = command.make_context(command.name, [word for word in words if word != "--help"])
    named = [parsed.params.get("problem") or "", *(parsed.params.get("problems") or ())]
    if not parsed.params.get("load") and parsed.params.get("format") != "atif":  # which is about records
        registry = ProblemRegistry()
        assert [name for name in named if name and registry.get_problem(name) is None] == []


def _blocks() -> list[tuple[str, str]]:
    return [
        (f"{told(page)}, block {number}", code)
        for page in PAGES
        if page.name != "CONTRIBUTING.md"  # its files are written and run by test_contributing.py
        for number, (language, code) in enumerate(BLOCK.findall(page.read_text()), start=1)
        if language == "python"
    ]


@pytest.mark.parametrize(("where", "code"), _blocks())
def test_python_can_be_read_and_what_it_imports_is_there(where: str, code: str) -> None:
    indent = len(code) - len(code.lstrip(" "))
    tree = ast.parse("\n".join(line[indent:] for line in code.splitlines()))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "aiopslab":
            try:
                module = import_module(node.module)
            except AIOpsLabError as error:
                pytest.skip(str(error))  # a framework that is an extra; its adapter's own test imports it
            assert not [one.name for one in node.names if not hasattr(module, one.name)], where
