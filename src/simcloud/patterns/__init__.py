"""Bounded regular expressions for shells and databases: POSIX basic and extended, Perl's, and fixed strings.

POSIX flavours match leftmost-longest. Every search is bounded: see ``TooMuchWorkError``.
"""

from simcloud.patterns.characters import char_at as char_at, is_utf8_locale as is_utf8_locale
from simcloud.patterns.errors import RegexError as RegexError, TooMuchWorkError as TooMuchWorkError
from simcloud.patterns.posix import Dialect as Dialect
from simcloud.patterns.regex import (
    Flavour as Flavour,
    Match as Match,
    Regex as Regex,
    Search as Search,
    compile_patterns as compile_patterns,
    compile_regex as compile_regex,
    meter_search as meter_search,
)
