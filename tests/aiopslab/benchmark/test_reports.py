"""Reports of a known benchmark: every number can be checked by hand."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aiopslab.benchmark.formats import FORMATS, format_cell
from aiopslab.benchmark.leaderboard import build_settings_table, read_sources
from aiopslab.benchmark.page import build_page
from aiopslab.benchmark.tables import Table, build_tables, compare_agents
from tests.aiopslab.benchmark.stored import list_stored, write_store


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {table.name: table for table in build_tables(list_stored())}


def read(table: Table) -> list[dict[str, str]]:
    return [dict(zip(table.header, map(format_cell, row), strict=True)) for row in table.rows]


def test_the_overall_table(tables: dict[str, Table]) -> None:
    good, loud = read(tables["overall"])
    assert (good["agent"], good["model"], good["episodes"], good["errors"]) == ("good", "gpt-x", "16", "0")
    assert good["accuracy"] == "88% [64, 97]"  # 14 of 16
    assert (good["balanced"], good["cost"]) == ("100%", "$4.00")
    # A crash counts against the agent, the death of a worker does not: 4 of 16.
    assert (loud["episodes"], loud["errors"], loud["accuracy"]) == ("17", "5", "25% [10, 49]")
    assert (loud["balanced"], loud["cost"]) == ("50%", "–")


def test_the_tables_of_tasks(tables: dict[str, Table]) -> None:
    good, loud = read(tables["task-detection"])
    assert (good["faulty found"], good["healthy left alone"]) == ("100% [51, 100]", "100% [51, 100]")
    assert (loud["faulty found"], loud["healthy left alone"], loud["balanced"]) == (
        "100% [51, 100]",
        "0% [0, 49]",
        "50%",
    )
    assert [row["acc@1"] for row in read(tables["task-localization"])] == ["100% [51, 100]", "0% [0, 49]"]
    assert [row["accuracy"] for row in read(tables["task-mitigation"])] == ["50% [15, 85]", "0% [0, 49]"]


def test_accuracy_by_step_limit_grows_to_the_accuracy(tables: dict[str, Table]) -> None:
    good, _ = read(tables["steps"])
    assert (good["2"], good["3"], good["10"]) == ("0% [0, 19]", "75% [51, 90]", "88% [64, 97]")


def test_layers_difficulty_and_false_alarms(tables: dict[str, Table]) -> None:
    assert read(tables["layers"])[0]["application"] == "50% [15, 85]"
    assert read(tables["difficulty"])[0]["hard"] == "50% [15, 85]"
    assert [row["false alarms"] for row in read(tables["alarms"])] == ["0% [0, 49]", "100% [51, 100]"]


def test_harm_actions_and_commands(tables: dict[str, Table]) -> None:
    (harm,) = read(tables["harm"])
    assert (harm["with regressions"], harm["with needless changes"]) == ("0% [0, 19]", "100% [81, 100]")
    assert (harm["change of severity"], harm["error budget burnt"]) == ("-0.25", "2.0%")
    actions = {row["action"]: row for row in read(tables["actions"])}
    assert (actions["submit"]["good"], actions["submit"]["loud"]) == ("50%", "100%")
    assert (actions["exec_shell"]["good, solved"], actions["exec_shell"]["loud, not solved"]) == ("50%", "0%")
    assert read(tables["commands"]) == [{"command": "kubectl get", "good": "16", "loud": "0"}]


def test_repeats(tables: dict[str, Table]) -> None:
    good, _ = read(tables["repeats"])
    # Three of four problems are always solved, the fourth in one of two attempts.
    assert (good["pass@1"], good["pass@2"], good["pass^2"]) == ("88%", "100%", "75%")


def test_the_paired_comparison(tables: dict[str, Table]) -> None:
    (pair,) = read(tables["pairs"])
    assert pair["difference"].startswith("+62 [")
    assert (pair["problems"], pair["families"]) == ("8", "3")


def test_problems_are_listed_by_their_measured_difficulty(tables: dict[str, Table]) -> None:
    rows = read(tables["problems"])
    assert [row["problem"] for row in rows] == [
        "auth-mitigation-1", "healthy-detection-1", "zero-localization-1", "zero-detection-1",
    ]  # fmt: skip
    assert (rows[0]["all agents"], rows[0]["good"]) == ("25% [7, 59]", "50% [15, 85]")


def test_failures_are_listed_with_a_reason(tables: dict[str, Table]) -> None:
    rows = [(row["agent"], row["ending"], row["episodes"], row["reason"]) for row in read(tables["failures"])]
    assert rows == [("loud", "agent error", "4", "It fell <over>"), ("loud", "worker died", "1", "Killed.")]


def test_the_episodes_in_which_two_agents_differ() -> None:
    counts, episodes = compare_agents(list_stored(), "good", "loud")
    assert {row["agent"]: row["episodes"] for row in read(counts)} == {
        "both": "4", "only good": "10", "only loud": "0", "neither": "2",
    }  # fmt: skip
    assert len(episodes.rows) == 10
    assert read(episodes)[0]["solved by"] == "good"


def test_markdown_and_latex_are_escaped(tables: dict[str, Table]) -> None:
    table = Table("t", "Costs & more", ("a_b", "n"), [["x|y_50%", 1200]], "Note.")
    assert FORMATS["markdown"]([table]).splitlines()[2:5] == [
        "| a_b | n |",
        "| --- | ---: |",
        "| x\\|y_50% | 1,200 |",
    ]
    latex = FORMATS["latex"]([table])
    assert r"x|y\_50\% & 1,200 \\" in latex
    assert r"\caption{Costs \& more. Note.}" in latex


def test_csv_has_a_row_for_each_number(tables: dict[str, Table]) -> None:
    rows = list(csv.DictReader(FORMATS["csv"](list(tables.values())).splitlines()))
    (accuracy,) = [
        row
        for row in rows
        if (row["table"], row["row"], row["column"]) == ("overall", "good / gpt-x", "accuracy")
    ]
    assert (accuracy["value"], accuracy["count"], accuracy["total"]) == ("0.875", "14", "16")


class Page(HTMLParser):
    """Collects tags, checks that they are balanced, and notes everything that a browser would load."""

    VOID = ("meta",)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "href" and tag == "a":
                self.links.append(value or "")
            elif name in ("src", "href", "data", "action"):
                self.loaded.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def make_page(place: Path, *folders: Path) -> tuple[str, Page]:
    sources = read_sources(folders)
    episodes = [episode for source in sources for episode in source.episodes]
    text = build_page(sources, [*build_tables(episodes), build_settings_table(sources)], place)
    page = Page()
    page.feed(text)
    return text, page


def test_the_page_is_complete_and_loads_nothing(tmp_path: Path) -> None:
    text, page = make_page(tmp_path / "report.html", write_store(tmp_path / "store"))
    assert not page.open
    assert page.tags.count("svg") == 4
    assert not page.loaded
    assert "script" not in page.tags
    assert not re.search(r"https?:|@import|url\(", text)
    assert "It fell &lt;over&gt;" in text
    assert "store/sessions/good-zero-detection-1-0-0.json" in page.links
    assert len(page.links) == 16


def test_a_page_elsewhere_links_to_the_same_files(tmp_path: Path) -> None:
    _, page = make_page(tmp_path / "pages" / "report.html", write_store(tmp_path / "store"))
    assert all(link.startswith("../store/sessions/") for link in page.links)


def test_a_leaderboard_names_the_store_where_agents_have_the_same_name(tmp_path: Path) -> None:
    folders = [write_store(tmp_path / name) for name in ("first", "second")]
    sources = read_sources(folders)
    assert {episode.agent for source in sources for episode in source.episodes} == {
        "good (first)", "good (second)", "loud (first)", "loud (second)",
    }  # fmt: skip
    rows = read(build_settings_table(sources))
    assert [(row["store"], row["max steps"]) for row in rows] == [("first", "30"), ("second", "30")]
