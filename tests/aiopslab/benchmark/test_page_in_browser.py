"""The HTML report in a genuine browser: complete, without the network, and not too wide for a telephone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aiopslab.benchmark import Run, Store, read_sources
from aiopslab.cli.reports import write_page
from scripts.chromium import Page, open_page
from scripts.make_results import draw_report, replace_table
from tests.aiopslab.benchmark.stored import list_stored, write_store

pytestmark = pytest.mark.live("chromium")

ROOT = Path(__file__).parents[3]
LONG = "an-agent-with-a-name-that-is-longer-than-anybody-would-choose@some-provider/some-model-2026-11-17"
OUTSIDE = """
[...document.querySelectorAll("h1, h2, p, figure, svg, .wide, details")]
  .map(element => [element.tagName, element.getBoundingClientRect().right])
  .filter(([_, right]) => right > innerWidth + 0.5)
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, str]]:
    """A browser, and the address of a report with an agent whose name is very long."""
    folder = tmp_path_factory.mktemp("browser")
    with Store.create(folder, Run("run", {"max_steps": 30}, {})) as store:
        for episode in list_stored():
            store.add(episode)
            store.add(replace(episode, agent=f"{episode.agent}-{LONG}"))
    place = folder / "report.html"
    write_page(read_sources([folder]), place)
    with open_page() as browser:
        yield browser, place.as_uri()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_everything_is_there_and_fits(page: tuple[Page, str], width: int, is_dark: bool) -> None:
    browser, address = page
    browser.resize(width, 800, is_dark=is_dark)
    browser.requests.clear()
    browser.open(address)
    browser.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    assert browser.requests == [address]
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate(OUTSIDE) == []
    plots = browser.evaluate(
        "[...document.querySelectorAll('svg')].map(plot => plot.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert len(plots) == 4
    assert all(plot[0] > 300 and plot[1] > 50 for plot in plots)
    assert browser.evaluate("document.querySelectorAll('details tbody tr').length") == 2 * len(list_stored())
    back = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(20, 24, 29)" if is_dark else "rgb(255, 255, 255)")


def test_a_page_that_asks_for_something_is_noticed(page: tuple[Page, str], tmp_path: Path) -> None:
    browser, _ = page
    (tmp_path / "page.html").write_text('<img src="http://example.org/x.png">')
    browser.requests.clear()
    browser.open((tmp_path / "page.html").as_uri())
    assert "http://example.org/x.png" in browser.requests


def test_the_picture_and_the_table_of_the_readme_come_from_a_stored_run(tmp_path: Path) -> None:
    folder = write_store(tmp_path / "store")
    draw_report(folder, tmp_path / "report.png")
    data = (tmp_path / "report.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 200_000
    text = replace_table((ROOT / "README.md").read_text(), folder)
    assert re.search(r"^good +gpt-x +4 +16 +88% \[64, 97\] ", text, re.MULTILINE)
    assert "runbook  –" not in text
