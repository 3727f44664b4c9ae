"""Puts the results of a stored benchmark into the README: its table, and a picture of its report.

    aiopslab bench --suite smoke --agent runbook,noop,yes --out results/demo
    python -m scripts.make_results results/demo

Both the README and docs/benchmark.md get the table. The picture is docs/report.png; it needs Chromium.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from aiopslab.benchmark import build_overall, format_text, read_sources
from aiopslab.cli.reports import write_page
from scripts.chromium import open_page

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (ROOT / "README.md", ROOT / "docs" / "benchmark.md")
PICTURE: Final = ROOT / "docs" / "report.png"
WIDTH: Final = 1280
HEIGHT: Final = 1100
_TABLE: Final = re.compile(r"^agent +model .*\n-+\n(?:\S.* .*\n)+", re.MULTILINE)


def replace_table(text: str, folder: Path) -> str:
    """Return a page with the table of a stored benchmark in place of the one that it has."""
    episodes = [episode for source in read_sources([folder]) for episode in source.episodes]
    table = format_text([build_overall(episodes)]).split("\n", 2)[2]
    replaced, count = _TABLE.subn(lambda _match: table, text)
    assert count == 1, f"{count} tables were found, not 1"
    return replaced


def draw_report(folder: Path, place: Path) -> None:
    """Draw the first screen of a benchmark's report."""
    page = folder / "report.html"
    write_page(read_sources([folder]), page)
    with open_page() as window:
        window.resize(WIDTH, HEIGHT)
        window.open(page.absolute().as_uri())
        place.write_bytes(window.draw())


def main() -> None:
    """Write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of the benchmark")
    folder = parser.parse_args().folder
    for page in PAGES:
        page.write_text(replace_table(page.read_text("utf-8"), folder), "utf-8")
    draw_report(folder, PICTURE)
    print(*PAGES, PICTURE, sep="\n")


if __name__ == "__main__":
    main()
