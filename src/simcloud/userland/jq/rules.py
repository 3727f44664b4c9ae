"""The notation of the grammar: tokens, their precedence, and rules with their actions.

There are two lists of rules. The first is jq 1.6; the wider one also has the additions of later versions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from simcloud.userland.jq.lalr import Binding, Rule
from simcloud.userland.jq.tree import DOT, Value


class Parser(Protocol):
    """The parser, as the actions of rules use it."""

    at: int

    @property
    def line(self) -> int:
        """The line of the rule being reduced, from 1."""

    def complain(self, message: str) -> None:
        """Report a mistake in the rule being reduced."""

    def complain_of_key(self, key: Value) -> None:
        """Report a constant that is no key of an object."""


Action = Callable[..., Any]

_KEYWORDS = (
    "as def module import include if then else elif reduce foreach end and or try catch label break __loc__"
)
_TOKENS = """
$end error INVALID_CHARACTER IDENT FIELD LITERAL FORMAT .. %= == != // as def module import include if then else elif
reduce foreach end and or try catch label break __loc__ |= += -= *= /= //= <= >= ?// QQSTRING_START QQSTRING_TEXT
QQSTRING_INTERP_START QQSTRING_INTERP_END QQSTRING_END | , = < > + - * / % ? ; ( ) $ : . [ ] { }
"""

KEYWORDS = _KEYWORDS.split()
TOKENS = _TOKENS.split()
"""In the order in which jq lists the tokens it expected."""

BINDING: Binding = {
    token: (level, side)
    for level, (side, names) in enumerate(
        (
            ("only", "FUNCDEF"),
            ("right", "|"),
            ("left", ","),
            ("right", "//"),
            ("none", "= |= += -= *= /= %= //="),
            ("left", "or"),
            ("left", "and"),
            ("none", "!= == < > <= >="),
            ("left", "+ -"),
            ("left", "* / %"),
            ("only", "NONOPT"),
            ("only", "?"),
            ("only", "try"),
            ("only", "catch"),
        )
    )
    for token in names.split()
}

RULES: list[Rule] = []
ACTIONS: list[Action] = []
WIDER_RULES: list[Rule] = []
WIDER_ACTIONS: list[Action] = []


def rule(text: str, action: Action, precedence: str = "", *, since: str = "1.6") -> None:
    """Add ``Left = symbol symbol …``."""
    left, _, right = text.partition(" = ")
    made = Rule(left.removesuffix(" ="), tuple(right.split()), precedence)
    if since == "1.6":
        RULES.append(made)
        ACTIONS.append(action)
    if made.left == "Exp" and made.right[0] in ("reduce", "foreach", "if"):
        made = Rule("Term", made.right, precedence)  # since 1.7
    WIDER_RULES.append(made)
    WIDER_ACTIONS.append(action)


def first(_: Parser, value: Any, *__: Any) -> Any:
    """The value of the first symbol."""
    return value


def second(_: Parser, __: Any, value: Any, *___: Any) -> Any:
    """The value of the second symbol."""
    return value


def nothing(_: Parser, *__: Any) -> Any:
    """An invalid construct passes its input on; its error has been reported."""
    return DOT


def complain(message: str, keep: int = -1) -> Action:
    """Complain about the whole rule, and go on with one of its symbols."""

    def action(parser: Parser, *values: Any) -> Any:
        parser.complain(message)
        return values[keep] if keep >= 0 else DOT

    return action
