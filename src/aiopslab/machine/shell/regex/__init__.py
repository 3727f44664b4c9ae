"""Regular expressions for the shell's text tools: POSIX basic and extended, Perl's, fixed strings.

POSIX flavours match leftmost-longest. Every search is bounded: see ``TooMuchWorkError``.
"""

from aiopslab.machine.shell.regex.characters import is_utf8_locale
from aiopslab.machine.shell.regex.charging import Search, paid_search
from aiopslab.machine.shell.regex.compile import Flavour, Match, Regex, compile_patterns, compile_regex
from aiopslab.machine.shell.regex.errors import RegexError, TooMuchWorkError
from aiopslab.machine.shell.regex.posix import Dialect

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
    "paid_search",
]
