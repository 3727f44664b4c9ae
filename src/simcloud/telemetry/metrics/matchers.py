"""Label matchers: equality and regular expressions, and their negations.

Regular expressions are Go's, anchored at both ends; RE2 has the same syntax. Plain text and a choice of texts
(``a|b|c``) are looked up in the index instead of matched against every value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from simcloud.golang import compile_regexp

Operator = Literal["=", "!=", "=~", "!~"]

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/:,;<>=!@#%&~\"' ")


def compile_anchored(pattern: str) -> Any:
    """Compile a regular expression that matches whole texts. Raise ``BadRegex`` if it is invalid."""
    return compile_regexp(f"^(?:{pattern})$")


def words_of(pattern: str) -> tuple[str, ...] | None:
    """Return the strings that a pattern matches, where it is only a choice of plain words."""
    inner = pattern[1:-1] if pattern.startswith("(") and pattern.endswith(")") else pattern
    words = inner.split("|")
    return tuple(words) if all(_PLAIN.issuperset(word) for word in words) else None


@dataclass(frozen=True)
class Matcher:
    """A matcher. Raises ``BadRegex`` for an invalid regular expression."""

    name: str
    operator: Operator
    value: str
    accepts: Callable[[str], object] = field(init=False, repr=False, compare=False)
    """Whether a value of the label fulfils it; a label that a series lacks has the value ""."""
    words: tuple[str, ...] | None = field(init=False, repr=False, compare=False)
    """The values (for ``!=`` and ``!~``: the refused values), where they can be listed."""

    def __post_init__(self) -> None:
        value = self.value
        accepts: Callable[[str], object]
        words: tuple[str, ...] | None = (value,)
        if self.operator == "=":
            accepts = value.__eq__
        elif self.operator == "!=":
            accepts = value.__ne__
        else:
            match = compile_anchored(value).search
            words = words_of(value)
            accepts = match if self.operator == "=~" else lambda text: not match(text)
        object.__setattr__(self, "accepts", accepts)
        object.__setattr__(self, "words", words)

    @property
    def positive(self) -> bool:
        """Return whether the matcher is positive."""
        return self.operator in ("=", "=~")

    def __str__(self) -> str:
        quoted = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.name}{self.operator}"{quoted}"'
