"""Write ``docs/faults/``: a table of all faults, and a page for each.

python scripts/make_fault_pages.py            # write
python scripts/make_fault_pages.py --check    # fail if a page is out of date
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields
from pathlib import Path

from aiopslab.apps import load_applications
from aiopslab.generators.fault import Fault, load_faults
from aiopslab.generators.fault.drawn import VALUES, DrawnFault
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.problems.drawn import CONCURRENT

FOLDER = Path(__file__).parent.parent / "docs" / "faults"
HEAD = "| fault | layer | course | what happened |\n|---|---|---|---|\n"


def make_pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    registry = ProblemRegistry()
    problems: dict[str, dict[str, str]] = {}
    for pid in registry.get_problem_ids():
        if pid.startswith(CONCURRENT):  # the seed draws their faults
            continue
        for fault in registry.get_problem_instance(pid).faults:
            problems.setdefault(fault.name, {})[pid.rpartition("-")[0] if registry.is_drawn(pid) else pid] = (
                pid
            )
    faults = load_faults()
    rows = "".join(
        f"| [{name}]({name}.md) | {kind.layer} | {kind.course} | {summarise(kind)} |\n"
        for name, kind in faults.items()
    )
    index = f"# Faults\n\n{len(faults)} faults. This folder is written by `python scripts/make_fault_pages.py`.\n\n{HEAD}{rows}"
    pages = {f"{name}.md": describe(kind, list(problems.get(name, {}))) for name, kind in faults.items()}
    return {"README.md": index, **pages}


def describe(kind: type[Fault], families: list[str]) -> str:
    """Return the page of a fault."""
    lines = [f"# {kind.name}", "", summarise(kind), "", f"- Layer: {kind.layer}", f"- Course: {kind.course}"]
    if kind.needs:
        lines.append(f"- Needs: {', '.join(kind.needs)}")
    if kind.restart_repairs:
        lines.append("- A restart of the component's pods is a repair.")
    if issubclass(kind, DrawnFault):
        types = ", ".join((kind.fault_type, *kind.also_fault_types))
        levels = ", ".join((kind.layer.title(), *kind.also_levels))
        lines += [f"- Right answers to an analysis: {levels}; {types}"]
        lines += ["", *list_parameters(kind), "", *list_targets(kind)]
    lines += ["", f"Reference repair: {inspect.getdoc(kind.recover)}", ""]
    lines += ["Problems:", "", *(f"- `{family}`" for family in families)]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def list_parameters(kind: type[DrawnFault]) -> list[str]:
    """Return the drawn parameters with their values."""
    drawn = [one for one in fields(kind) if VALUES in one.metadata]
    rows = [
        f"| `{one.name}` | {', '.join(f'`{value}`' for value in dict.fromkeys(one.metadata[VALUES]))} |"
        for one in drawn
    ]
    return ["| drawn | among |", "|---|---|", *rows] if rows else []


def list_targets(kind: type[DrawnFault]) -> list[str]:
    """Return the possible targets in each application."""
    found = {name: kind.list_targets(app()) for name, app in load_applications().items()}
    return [
        "Targets:",
        "",
        *(f"- {name}: {', '.join(targets)}" for name, targets in found.items() if targets),
    ]


def summarise(kind: type[Fault]) -> str:
    """Return the docstring of a fault on one line."""
    return " ".join((inspect.getdoc(kind) or "").split())


def main() -> int:
    """Write or check the pages."""
    pages = make_pages()
    present = {path.name: path.read_text() for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv[1:]:
        if stale := sorted(name for name in {*pages, *present} if pages.get(name) != present.get(name)):
            print(f"{', '.join(stale)} in docs/faults: out of date. Run: python scripts/make_fault_pages.py")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in present.keys() - pages.keys():
        (FOLDER / name).unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
