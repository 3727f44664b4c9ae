"""The default engine: Google's RE2, which never backtracks.

RE2 works on bytes: in UTF-8 mode a ``.`` or a bracket expression matches whole valid characters
only, so invalid bytes pass through untouched, as with GNU's tools. Its Python package wraps each
search in a generator and a match object, which doubles the cost per line, so the extension module
beneath it is used directly.
"""

from __future__ import annotations

import re2

from simcloud.patterns.errors import RegexError

Span = tuple[int, int]
MAX_PROGRAM_BYTES = 16 << 20

_RE2 = re2._re2.RE2
_ANYWHERE = _RE2.Anchor.UNANCHORED
_HERE = _RE2.Anchor.ANCHOR_START


class LinearEngine:
    """A compiled RE2 pattern."""

    def __init__(self, pattern: str, *, longest: bool, utf8: bool) -> None:
        options = re2.Options()
        options.longest_match = longest
        options.log_errors = False
        options.max_mem = MAX_PROGRAM_BYTES
        encoding = re2.Options.Encoding
        options.encoding = encoding.UTF8 if utf8 else encoding.LATIN1
        self._regexp = _RE2(pattern.encode("ascii"), options)
        if not self._regexp.ok():
            # The pattern was written by our own renderer: only its size can be wrong.
            raise RegexError("Regular expression too big")
        self._match = self._regexp.Match

    def search(self, line: bytes, start: int) -> list[Span] | None:
        """The spans of the leftmost match from ``start`` on and of its groups ((-1, -1): unset)."""
        spans: list[Span] = self._match(_ANYWHERE, line, start, len(line))
        return spans if spans[0][0] >= 0 else None

    def match(self, line: bytes, start: int, end: int) -> list[Span] | None:
        """Like search, but beginning exactly at ``start`` and ending no later than ``end``."""
        spans: list[Span] = self._match(_HERE, line, start, end)
        return spans if spans[0][0] >= 0 else None
