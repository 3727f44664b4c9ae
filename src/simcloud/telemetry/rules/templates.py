"""The subset of Go's templates that alerts use.

``{{ $labels.pod }}``, ``{{ $value | humanize }}``, ``{{ printf "%.2f" $value }}``, ``if``/``else``/``end``, comparisons, and
``query`` with ``first``, ``value`` and ``label``. ``range``, ``with``, ``define`` and variables are not
supported; a text that uses them is rejected when it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from simcloud.golang import float_text
from simcloud.telemetry.promql import Engine, ParseError, QueryError
from simcloud.telemetry.promql.numbers import unquote
from simcloud.telemetry.rules.template_functions import FUNCTIONS

_ACTION: Final = re.compile(r"\{\{(-\s)?\s*(.*?)\s*(\s-)?\}\}", re.DOTALL)
_WORD: Final = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<number>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"""
    r"""|(?P<path>[$.][\w.]*)|(?P<name>\w+)|(?P<mark>[()|]))"""
)
_NAMED: Final = {"$labels": "labels", ".Labels": "labels", "$value": "value", ".Value": "value"}
_EMPTY: Final = ("$externalLabels", ".ExternalLabels", "$externalURL", ".ExternalURL")


class TemplateError(ValueError):
    """A template cannot be parsed or expanded."""


class Scope(Struct, frozen=True):
    """The data of a template."""

    labels: dict[str, str]
    value: float
    engine: Engine
    t_ms: int


Term = Callable[[Scope], Any]
# A part of a template is a text, a term, or the branches of an ``if`` with what else.


def expand(name: str, text: str, scope: Scope) -> str:
    """Return the text with its actions carried out; a failure is reported in the text, as Prometheus does."""
    if "{{" not in text:
        return text
    try:
        return _render(_read(text), scope)
    except (TemplateError, ParseError, QueryError) as fault:
        return f"<error expanding template: error executing template __alert_{name}: {fault}>"


def check(text: str) -> None:
    """Raise ``TemplateError`` when a text cannot be read."""
    _read(text)


def _render(parts: list[Any], scope: Scope) -> str:
    out = []
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, tuple):
            branches, otherwise = part
            chosen = next((body for condition, body in branches if condition(scope)), otherwise)
            out.append(_render(chosen, scope))
        else:
            out.append(_format_value(part(scope)))
    return "".join(out)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{value[key]}" for key in sorted(value)) + "]"
    return float_text(value) if isinstance(value, float) else str(value)


@lru_cache(maxsize=1024)
def _read(text: str) -> list[Any]:
    parts, keyword = _block(_pieces(text))
    if keyword is not None:
        raise TemplateError(f"unexpected {{{{{keyword}}}}}")
    return parts


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Plain texts and actions in turn."""
    position, trim = 0, False
    for match in _ACTION.finditer(text):
        plain = text[position : match.start()]
        plain = plain.lstrip() if trim else plain
        yield "text", plain.rstrip() if match[1] else plain
        yield "action", match[2]
        position, trim = match.end(), bool(match[3])
    rest = text[position:]
    if "{{" in rest:
        raise TemplateError("unclosed action")
    yield "text", rest.lstrip() if trim else rest


def _block(pieces: Iterator[tuple[str, str]]) -> tuple[list[Any], str | None]:
    """Parts up to an ``else`` or ``end`` of an outer ``if``, and that word."""
    parts: list[Any] = []
    for kind, piece in pieces:
        if kind == "text":
            parts.append(piece)
            continue
        word, _, rest = piece.partition(" ")
        if word in ("range", "with", "define", "template", "block") or ":=" in piece:
            raise TemplateError(f"{word} is not supported in templates here")
        if word in ("else", "end"):
            return parts, piece
        if word == "if":
            parts.append(_condition(rest, pieces))
        elif piece and not piece.startswith("/*"):
            parts.append(_pipeline(piece))
    return parts, None


def _condition(
    test: str, pieces: Iterator[tuple[str, str]]
) -> tuple[list[tuple[Term, list[Any]]], list[Any]]:
    branches: list[tuple[Term, list[Any]]] = []
    while True:
        body, keyword = _block(pieces)
        branches.append((_pipeline(test), body))
        if keyword == "end":
            return branches, []
        if keyword is None:
            raise TemplateError("unexpected EOF")
        if not keyword.startswith("else if "):
            otherwise, keyword = _block(pieces)
            if keyword != "end":
                raise TemplateError("expected end; found " + (keyword or "EOF"))
            return branches, otherwise
        test = keyword.removeprefix("else if ")


def _pipeline(text: str) -> Term:
    words = _words(text)
    term = _stages(words)
    if words:
        raise TemplateError(f"unexpected {words[0][1]!r} in command")
    return term


def _words(text: str) -> list[tuple[str, str]]:
    words, position = [], 0
    while position < len(text.rstrip()):
        match = _WORD.match(text, position)
        if match is None:
            raise TemplateError(f"unexpected {text[position:].strip()[:1]!r} in command")
        words.append((match.lastgroup or "", match[match.lastgroup or 0]))
        position = match.end()
    return words


def _stages(words: list[tuple[str, str]]) -> Term:
    """Commands joined by ``|``: each gets the one before it as its last argument."""
    term: Term | None = None
    while True:
        term = _command(words, term)
        if not words or words[0][1] != "|":
            return term
        words.pop(0)


def _command(words: list[tuple[str, str]], piped: Term | None) -> Term:
    operands: list[Term] = []
    function: Callable[..., Any] | None = None
    while words and words[0][1] not in ("|", ")"):
        kind, text = words.pop(0)
        if kind == "name" and text not in ("true", "false"):
            if operands or function is not None:
                raise TemplateError(f"function {text!r} must stand first or in parentheses")
            function = _function(text)
        else:
            operands.append(_operand(kind, text, words))
    if piped is not None:
        operands.append(piped)
    if function is None:
        if len(operands) != 1:
            raise TemplateError(
                "missing value for command" if not operands else "can't give argument to non-function"
            )
        return operands[0]
    called = function
    return lambda scope: _call(called, scope, [operand(scope) for operand in operands])


def _call(function: Callable[..., Any], scope: Scope, arguments: list[Any]) -> Any:
    try:
        return function(scope, *arguments)
    except (TypeError, ValueError, IndexError) as fault:
        raise TemplateError(str(fault)) from None


def _operand(kind: str, text: str, words: list[tuple[str, str]]) -> Term:
    if kind == "string":
        string = unquote(text)
        return lambda scope: string
    if kind == "number":
        number: Any = float(text) if any(mark in text for mark in ".e") else int(text)
        return lambda scope: number
    if kind == "name":
        return lambda scope: text == "true"
    if text == "(":
        inner = _stages(words)
        if not words or words.pop(0)[1] != ")":
            raise TemplateError("unclosed left paren")
        return inner
    return _path(text)


def _path(text: str) -> Term:
    for prefix, field in _NAMED.items():
        if text == prefix:
            return lambda scope: getattr(scope, field)
        if text.startswith(prefix + ".") and field == "labels":
            label = text.removeprefix(prefix + ".")
            return lambda scope: scope.labels.get(label, "")
    if text.startswith(_EMPTY):
        return lambda scope: ""
    raise TemplateError(f"undefined variable {text!r}")


def _function(name: str) -> Callable[..., Any]:
    if name == "query":
        return _query
    function = FUNCTIONS.get(name)
    if function is None:
        raise TemplateError(f"function {name!r} not defined")
    return lambda scope, *arguments: function(*arguments)


def _query(scope: Scope, text: str) -> list[dict[str, Any]]:
    result = scope.engine.instant(text, scope.t_ms)
    return [{"labels": dict(labels), "value": value} for labels, value in result.vector]
