"""Go's regular expressions. RE2 has the same syntax, but other messages for some errors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import re2

_GO_MESSAGES: Final = {
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
    """A regular expression is invalid; the message is Go's."""

    def __init__(self, fault: Exception) -> None:
        given = fault.args[0].decode(errors="replace") if fault.args else ""
        what, _, where = given.partition(": ")
        super().__init__(f"error parsing regexp: {_GO_MESSAGES.get(what, what)}: `{where}`")


@lru_cache(maxsize=4096)
def compile_regexp(pattern: str) -> Any:
    """Compile a regular expression. Raises ``BadRegex``."""
    try:
        return re2.compile(pattern, _QUIET)
    except re2.error as fault:
        raise BadRegex(fault) from None
