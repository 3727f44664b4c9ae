"""Progress where lines are kept: a sentence is not repeated for details that change often."""

from __future__ import annotations

import pytest

from aiopslab.cli.output import Progress


def test_details_in_brackets_give_no_further_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        for message in (
            "starting",
            "deploying (1 of 2)",
            "deploying (2 of 2)",
            "recording",
            "deploying (3 of 3)",
        ):
            progress(message)
    assert capsys.readouterr().err.splitlines() == ["starting", "deploying", "recording", "deploying"]
