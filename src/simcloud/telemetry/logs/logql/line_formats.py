"""Stages that rewrite a line or its labels.

The subset of Go's templates that log queries use: texts with ``{{.label}}``, ``{{__line__}}``, ``{{__timestamp__}}``
and functions of one value behind a bar. An unknown function is rejected when the query is parsed, with Go's message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from simcloud.golang import quote
from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.line import DETAILS, ERROR, Line, Stage
from simcloud.telemetry.metrics import Matcher

Template = Callable[[Line], str]
_FIELD: Final = re.compile(r"\.[a-zA-Z_][a-zA-Z0-9_]*")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_FUNCTIONS: Final[dict[str, Callable[[str], str]]] = {
    "ToLower": str.lower,
    "ToUpper": str.upper,
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "trim": str.strip,
    "TrimSpace": str.strip,
}


def line_format(text: str) -> Stage:
    """``line_format``: another text for the line."""
    template = _template(text, "line", f"stage '| line_format {quote(text)}' : invalid line template: ")

    def stage(line: Line) -> bool:
        line.text = template(line)
        return True

    return stage


def label_format(changes: Sequence[tuple[str, str, bool]]) -> Stage:
    """``label_format``: labels renamed, or made by templates. A change is a name, a source, and whether it is a label."""
    shown = "| label_format " + ",".join(
        f"{name}={source if is_label else quote(source)}" for name, source, is_label in changes
    )
    names = [name for name, _, _ in changes]
    for name in names:
        if name in (ERROR, DETAILS):
            raise LogqlError(f"stage '{shown}' : {name} cannot be formatted")
        if names.count(name) > 1:
            words = f"multiple label name '{name}' not allowed in a single format operation"
            raise LogqlError(f"stage '{shown}' : {words}")
    templates = [
        None
        if is_label
        else _template(source, "label", f"stage '{shown}' : invalid template for label '{name}': ")
        for name, source, is_label in changes
    ]

    def stage(line: Line) -> bool:
        for (name, source, _), template in zip(changes, templates, strict=True):
            if template is not None:
                line.set(name, template(line))
            elif source in line.labels:
                line.set(name, line.labels[source])
                line.set(source, "")
        return True

    return stage


def _template(text: str, kind: str, complaint: str) -> Template:
    first, *rest = text.split("{{")
    fixed, actions = [first], []
    for part in rest:
        action, closed, after = part.partition("}}")
        if not closed:
            raise LogqlError(f"{complaint}template: {kind}:1: unclosed action")
        if action.startswith("- "):
            fixed[-1] = fixed[-1].rstrip()
        actions.append(_action(action.removeprefix("- ").removesuffix(" -").strip(), kind, complaint))
        fixed.append(after.lstrip() if action.endswith(" -") else after)

    def template(line: Line) -> str:
        out = [fixed[0]]
        for action, after in zip(actions, fixed[1:], strict=True):
            out += (action(line), after)
        return "".join(out)

    return template


def _action(text: str, kind: str, complaint: str) -> Template:
    source, *functions = (part.strip() for part in text.split("|"))
    if not source:
        raise LogqlError(f"{complaint}template: {kind}:1: missing value for command")
    calls = []
    for name in functions:
        if name not in _FUNCTIONS:
            raise LogqlError(
                f"{complaint}template: {kind}:1: function {quote(name.split()[0] if name else name)} not defined"
            )
        calls.append(_FUNCTIONS[name])
    read = _source(source, kind, complaint)

    def action(line: Line) -> str:
        value = read(line)
        for call in calls:
            value = call(value)
        return value

    return action


def _source(text: str, kind: str, complaint: str) -> Template:
    if text == "__line__":
        return lambda line: line.text
    if text == "__timestamp__":
        return lambda line: (
            f"{datetime.fromtimestamp(line.time_ns // 10**9, UTC):%Y-%m-%d %H:%M:%S}.{line.time_ns % 10**9:09d} +0000 UTC"
        )
    if _FIELD.fullmatch(text):
        name = text[1:]
        return lambda line: line.labels.get(name, "")
    word = text.split(maxsplit=1)[0]
    raise LogqlError(f"{complaint}template: {kind}:1: function {quote(word)} not defined")


def decolorize(line: Line) -> bool:
    """Without the signs that colour a terminal."""
    line.text = _COLOUR.sub("", line.text)
    return True


Choice = tuple[str, Matcher | None]
"""A label, or a label with a certain value."""


def drop(choices: Sequence[Choice]) -> Stage:
    """Without these labels."""

    def stage(line: Line) -> bool:
        for name, matcher in choices:
            if name in line.labels and (matcher is None or matcher.accepts(line.labels[name])):
                line.set(name, "")
        return True

    return stage


def keep(choices: Sequence[Choice]) -> Stage:
    """With none but these labels."""

    def stage(line: Line) -> bool:
        for name, value in list(line.labels.items()):
            wanted = any(
                name == label and (matcher is None or matcher.accepts(value)) for label, matcher in choices
            )
            if not wanted and name not in (ERROR, DETAILS):
                line.set(name, "")
        return True

    return stage
