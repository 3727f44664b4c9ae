"""Go's regular expressions. RE2 is the same language, but has other words for some faults."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2

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


_QUIET: Final = re2.Options()
_QUIET.log_errors = False  # they would go to the host's terminal


class BadRegex(ValueError):
    """A regular expression cannot be read; says why in Go's words."""

    def __init__(self, fault: Exception) -> None:
        given = fault.args[0].decode(errors="replace") if fault.args else ""
        what, _, where = given.partition(": ")
        super().__init__(f"error parsing regexp: {_GO_WORDS.get(what, what)}: `{where}`")


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any:
    """A regular expression that is looked for anywhere; ``BadRegex`` when it is none."""
    try:
        return re2.compile(pattern, _QUIET)
    except re2.error as fault:
        raise BadRegex(fault) from None
