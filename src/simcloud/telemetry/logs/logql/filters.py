"""Stages that filter lines by text or labels."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from simcloud.golang import BadRegex, compile_regexp, parse_duration_ns, quote
from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.line import Line, Stage
from simcloud.telemetry.logs.logql.units import parse_bytes
from simcloud.telemetry.metrics import Matcher

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def line_filter(sign: str, texts: Sequence[str]) -> Stage:
    """``|=`` and ``|~`` keep a line that has one of the texts; ``!=`` and ``!~`` one that has none of them."""
    if sign in ("|~", "!~"):
        try:
            tests = [compile_regexp(text).search for text in texts]
        except BadRegex as fault:
            raise LogqlError(str(fault)) from None
    else:
        tests = [_has(text) for text in texts]
    wanted = sign.startswith("|")
    if len(tests) == 1:
        test = tests[0]
        return lambda line: bool(test(line.text)) is wanted
    return lambda line: any(test(line.text) for test in tests) is wanted


def _has(text: str) -> Callable[[str], object]:
    return lambda line: text in line


def label_matcher(matcher: Matcher) -> Stage:
    """Compile a label matcher; a missing label is empty."""
    name, accepts = matcher.name, matcher.accepts
    return lambda line: accepts(line.labels.get(name, ""))


def label_comparison(name: str, sign: str, kind: str, limit: float) -> Stage:
    """A label whose value is a number, a duration or a size, compared."""
    holds, parse = _COMPARE[sign], _PARSERS[kind]

    def stage(line: Line) -> bool:
        value = line.labels.get(name)
        if value is None:
            return False
        try:
            return holds(parse(value), limit)
        except ValueError as fault:
            line.fail("LabelFilterErr", str(fault))
            return True

    return stage


def both(left: Stage, right: Stage) -> Stage:
    """Combine two filters with and. Both are evaluated, as in Loki, so that either may report an error."""

    def stage(line: Line) -> bool:
        first = left(line)
        return bool(right(line)) and bool(first)

    return stage


def either(left: Stage, right: Stage) -> Stage:
    """One or the other."""
    return lambda line: left(line) or right(line)


def parse_float(text: str) -> float:
    """Parse a number in a label. Raise ``ValueError`` with Go's message."""
    try:
        if "_" in text or text != text.strip():
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax") from None


_PARSERS: Final[dict[str, Callable[[str], float]]] = {
    "NUMBER": parse_float,
    "DURATION": parse_duration_ns,
    "BYTES": parse_bytes,
}
