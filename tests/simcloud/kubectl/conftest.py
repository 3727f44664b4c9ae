"""After a run: how many of the compared command lines are equal."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each file of lines, and one for all."""
    counted = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, value in report.user_properties
        if name == "lines"
    ]
    if not counted:
        return
    terminalreporter.section("kubectl: ours and the genuine one")
    for family, equal, lines in sorted(counted):
        terminalreporter.line(f"{family}: {equal} of {lines} lines equal")
    equal, lines = (sum(count[place] for count in counted) for place in (1, 2))
    terminalreporter.line(f"all: {equal} of {lines} lines equal")
