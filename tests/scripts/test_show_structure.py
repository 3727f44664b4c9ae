from __future__ import annotations

import sys
from pathlib import Path

import grimp
import pytest

from scripts import show_structure

FACADE = """
from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.lower.part import times as times
    from simcloud.lower.part.store import Key as Key
"""


@pytest.fixture(autouse=True)
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = tmp_path / "simcloud" / "lower" / "part"
    part.mkdir(parents=True)
    (part / "__init__.py").write_text(FACADE)
    monkeypatch.setattr(show_structure, "SOURCE", tmp_path)


def find_leaves(importer: str, imported: str, line: str) -> dict[str, set[str]]:
    graph = grimp.ImportGraph()
    graph.add_import(importer=importer, imported=imported, line_number=1, line_contents=line)
    return show_structure.find_leaf_imports(graph)


@pytest.mark.parametrize(
    ("imported", "line"),
    [
        ("simcloud.lower.part", "from simcloud.lower.part import Key"),
        ("simcloud.lower.part.times", "from simcloud.lower.part import times"),
        ("simcloud.lower.part.times", "from simcloud.lower.part import ("),
        ("simcloud.exports", "from simcloud.exports import export_lazily"),
    ],
)
def test_a_facade_and_a_module_that_it_exports_may_be_imported(imported: str, line: str) -> None:
    assert find_leaves("simcloud.upper.page", imported, line) == {}


@pytest.mark.parametrize(
    ("imported", "line"),
    [
        ("simcloud.lower.part.store", "from simcloud.lower.part.store import Key"),
        ("simcloud.lower.part.store", "from simcloud.lower.part import store"),
        ("simcloud.lower.part.times", "from simcloud.lower.part.times import parse"),
    ],
)
def test_a_module_may_not_be_imported_past_its_facade(imported: str, line: str) -> None:
    assert find_leaves("simcloud.upper.page", imported, line) == {imported: {"simcloud.upper.page"}}
    assert find_leaves("simcloud.lower.page", imported, line) == {}


def test_modules_that_import_each_other_are_a_cycle() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]:
        graph.add_import(importer=importer, imported=imported, line_number=1, line_contents="")
    assert show_structure.find_cycles(graph) == [["a", "b", "c"]]


def test_a_failed_check_says_what_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    leaves = {"simcloud.lower.part.store": {"simcloud.upper.page"}}
    assert show_structure.check([["simcloud.a", "simcloud.b"]], leaves) == 1
    assert capsys.readouterr().out.splitlines() == [
        "These modules import each other; move what they share to a lower module: simcloud.a, simcloud.b.",
        "simcloud.upper.page: import from the package simcloud.lower.part instead of the module "
        "simcloud.lower.part.store, and export the name in simcloud.lower.part's __init__ if it is missing there.",
    ]


def test_our_own_packages_pass(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(show_structure, "SOURCE", Path(show_structure.__file__).parent.parent / "src")
    monkeypatch.setattr(sys, "argv", ["show_structure.py", "--check"])
    assert (show_structure.main(), capsys.readouterr().out) == (0, "")
