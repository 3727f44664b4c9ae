"""Write the tables of docs/coming-from-aiopslab.md: the names of the public AIOpsLab release, and its problem ids.

    python -m scripts.make_aiopslab_page

The names and their uses are in ``tests/aiopslab/compat/names.py``, the ids in ``tests/aiopslab/compat/ids.py``; a test compares the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from aiopslab.orchestrator.problems.missing import find_missing_application
from tests.aiopslab.compat.ids import DISABLED, LIVE
from tests.aiopslab.compat.names import NAMES

PAGE = Path(__file__).parent.parent / "docs" / "coming-from-aiopslab.md"
MISSING = "not available yet"


def format_names() -> list[str]:
    """Return the table of modules and names, sorted by module."""
    lines = ["| Module | Names | Works | Differs |", "|---|---|---|---|"]
    for name in sorted(NAMES, key=lambda name: name.module):
        listed = ", ".join(f"`{each}`" for each in name.names)
        works = "not yet" if name.differs.startswith(MISSING) else "yes"
        differs = name.differs.removeprefix(MISSING).lstrip(": ")
        lines.append(f"| `{name.module}` | {listed} | {works} | {differs} |")
    return lines


def format_ids() -> list[str]:
    """Return the table of problem ids, a row for each family."""
    lines = ["| Family | Ids | State |", "|---|---|---|"]
    return [
        *lines,
        *_format_families(LIVE, ""),
        *_format_families(DISABLED, " (disabled in the public release)"),
    ]


def _format_families(families: Mapping[str, list[str]], note: str) -> list[str]:
    rows = []
    for family, ids in families.items():
        waits_for = find_missing_application(ids[0])
        state = f"waits for {waits_for}" if waits_for else "works"
        listed = ", ".join(f"`{pid.removeprefix(family)}`" for pid in ids)
        rows.append(f"| `{family}` | {listed} | {state}{note} |")
    return rows


def format_page(page: str) -> str:
    """Return the page with its tables replaced."""
    for title, lines in (("names", format_names()), ("ids", format_ids())):
        found = re.search(rf"(<!-- {title}: .*? -->\n).*?(<!-- end of {title} -->)", page, re.DOTALL)
        assert found is not None
        table = "\n".join(("", *lines, "", ""))
        page = page[: found.end(1)] + table + page[found.start(2) :]
    return page


if __name__ == "__main__":
    PAGE.write_text(format_page(PAGE.read_text()))
