"""Columns of a page, and names made readable."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubectl.describe.generic import readable
from simcloud.kubectl.describe.page import Page, align

WORDS = st.text(st.characters(exclude_characters="\t\v\n\f\r\x1b"), max_size=8)


def test_a_column_is_as_wide_as_its_widest_cell_among_neighbours() -> None:
    assert align("a\tb\nlong\tc\n\nx\ty\n") == "a     b\nlong  c\n\nx  y\n"


def test_the_last_cell_of_a_line_widens_nothing() -> None:
    assert align("a\tb\na much longer line\nc\td\n") == "a  b\na much longer line\nc  d\n"


def test_what_could_steer_a_terminal_is_shown() -> None:
    page = Page()
    page.field("Name", "\x1b[31mred\r")
    assert page.text() == "Name:  ^[[31mred\\r\n"


@given(st.lists(st.lists(WORDS, min_size=1, max_size=5), max_size=8))
def test_cells_keep_their_text_and_order(rows: list[list[str]]) -> None:
    text = align("".join("\t".join(row) + "\n" for row in rows))
    lines = text.split("\n")
    assert len(lines) == len(rows) + 1
    for row, line in zip(rows, lines, strict=False):
        assert line.endswith(row[-1])
        assert line.replace(" ", "") == "".join(row).replace(" ", "")


@pytest.mark.parametrize(
    "field, shown",
    [
        ("lastTransitionTime", "Last Transition Time"),
        ("podCIDRs", "Pod CIDRs"),
        ("apiURL", "API URL"),
        ("uid", "UID"),
        ("HTTPServer", "HTTPServer"),
        ("x-y", "X - Y"),
        ("snake_case", "snake_case"),
        ("1st", "1st"),
        ("", ""),
    ],
)
def test_names_of_fields_are_made_readable(field: str, shown: str) -> None:
    assert readable(field) == shown
