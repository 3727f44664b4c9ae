"""Rows of blocks and marks."""

from __future__ import annotations

from aiopslab.cli.text_plot import draw_blocks, draw_marks


def test_shares_are_blocks_and_unknown_ones_are_spaces() -> None:
    assert draw_blocks([0.0, 0.5, 1.0, None, 7.0, -1.0]) == "▁▅█ █▁"


def test_marks_stand_at_their_time_and_do_not_overlap() -> None:
    assert draw_marks({0.0: "1", 5.0: "2", 9.9: "10"}, 0.0, 10.0, 20) == "1         2       10"
    assert draw_marks({5.0: "1", 5.1: "2"}, 0.0, 10.0, 10) == "     +"
    assert draw_marks({}, 0.0, 0.0, 10) == ""
