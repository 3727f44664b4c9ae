"""What Go says about a regular expression that it cannot read; RE2 has other words for some of the same faults."""

from __future__ import annotations

from typing import Final

_GO_WORDS: Final = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}


def go_fault(fault: Exception) -> str:
    """RE2's complaint in Go's words, with the part that is at fault."""
    given = fault.args[0].decode(errors="replace") if fault.args else ""
    what, _, where = given.partition(": ")
    return f"{_GO_WORDS.get(what, what)}: `{where}`"
