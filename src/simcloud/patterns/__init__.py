"""Bounded regular expressions for shells and databases: POSIX basic and extended, Perl's, and fixed strings.

POSIX flavours match leftmost-longest. Every search is bounded: see ``TooMuchWorkError``.
"""

from simcloud.patterns.characters import is_utf8_locale
from simcloud.patterns.errors import RegexError, TooMuchWorkError
from simcloud.patterns.posix import Dialect
from simcloud.patterns.regex import (
    Flavour,
    Match,
    Regex,
    Search,
    compile_patterns,
    compile_regex,
    meter_search,
)

__all__ = [
    "Dialect",
    "Flavour",
    "Match",
    "Regex",
    "RegexError",
    "Search",
    "TooMuchWorkError",
    "compile_patterns",
    "compile_regex",
    "is_utf8_locale",
    "meter_search",
]
