"""Write ``docs/fairness.md`` from the results of a validation and of blind recipes.

aiopslab validate --suite all --log validation.jsonl
python scripts/measure_recipes.py recipes.jsonl
python scripts/make_fairness_page.py validation.jsonl recipes.jsonl
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "docs" / "fairness.md"
TASK = re.compile(
    r"-(?:detection|localization|analysis|mitigation|incident|prediction|finops|ciso)(?:-\d+)?$"
)
HEAD = """# Are the problems fair?

This page is made by `scripts/make_fairness_page.py` from the results of two commands, `aiopslab validate` and
`scripts/measure_recipes.py`.

"""
RECIPES = """
## Blind recipes

What an agent achieves that looks at nothing. The problems with the ids of the public release keep their targets, so they are
counted apart from drawn ones.

| task | recipe | drawn problems | ids of the public release |
|---|---|---|---|
"""


def read_log(path: str) -> list[dict[str, Any]]:
    """Return the entries of a log."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def format_checks(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a row for each check: how many problems it was made on, and how many passed."""
    made, passed = Counter[str](), Counter[str]()
    for entry in entries:
        for finding in entry["findings"]:
            made[finding["what"]] += 1
            passed[finding["what"]] += finding["well"]
    yield "| check | problems | passed |\n|---|---|---|\n"
    yield from (f"| {what} | {count:,} | {passed[what]:,} |\n" for what, count in made.items())


def format_families(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a row for each family: the number of its problems, what is visible, and what is unfair."""
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        families[TASK.sub("", entry["problem"])].append(entry)
    yield "\n## Families\n\n| family | problems | what is visible | not fair |\n|---|---|---|---|\n"
    for family, members in sorted(families.items()):
        findings = [finding for entry in members for finding in entry["findings"]]
        seen = next(
            (finding["why"] for finding in findings if finding["what"] == "the incident is visible"),
            "nothing",
        )
        wrong = dict.fromkeys(finding["what"] for finding in findings if not finding["well"])
        yield f"| {family} | {len(members)} | {seen.replace('|', '/')} | {', '.join(wrong)} |\n"


def format_recipes(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a row for each recipe: how often it succeeded."""
    won, tried = Counter[tuple[str, str, bool]](), Counter[tuple[str, str, bool]]()
    for entry in entries:
        for recipe, success in entry["recipes"].items():
            key = (entry["task"], recipe, entry["drawn"])
            tried[key] += 1
            won[key] += success
    yield RECIPES
    for task, recipe in dict.fromkeys((task, recipe) for task, recipe, _ in tried):
        keys = [(task, recipe, drawn) for drawn in (True, False)]
        yield f"| {task} | {recipe} | {' | '.join(f'{won[key]} of {tried[key]}' for key in keys)} |\n"


def main() -> None:
    """Write the page."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    validated, tried = map(read_log, sys.argv[1:])
    rows = (*format_checks(validated), *format_recipes(tried), *format_families(validated))
    PAGE.write_text(HEAD + "".join(rows), encoding="utf-8")
    print(f"{PAGE.name}: {len(validated)} problems validated, recipes tried on {len(tried)}")


if __name__ == "__main__":
    main()
