"""Calls written as data: the JSON and the tags of tool-calling interfaces, and ReAct's `Action Input`.

Only unambiguous data counts: an object that names an action and holds its arguments. An object that has only a `name`
(most Kubernetes objects do), or a name and a list of `args` (a container has both), is a call only if the name is an
action's.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from aiopslab.orchestrator.parsing.calls import Call
from aiopslab.orchestrator.parsing.literals import Reader, Unreadable

_NAMES = ("name", "api_name", "action", "tool", "tool_name", "function", "function_name")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "input", "action_input", "tool_input", "kwargs")
_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function", "tool", "call", "action", "command")
_IDENTIFIER = re.compile(r"(?:[^\W\d]\w*\.)*([^\W\d]\w{0,79})")
_MAX_WRAPPERS = 4
_REACT = re.compile(
    r"^\W{0,4}action\W{0,4}:\W{0,4}([^\W\d]\w{0,79})\W{0,4}\n\W{0,4}action[ _]input\W{0,2}:",
    re.IGNORECASE | re.MULTILINE,
)
_FUNCTION_TAG = re.compile(r"<(function|invoke)(?:=| name=\"?)([^\W\d]\w{0,79})\"?>")
_PARAMETER_TAG = re.compile(r"<parameter(?:=| name=\"?)([^\W\d]\w{0,79})\"?>")
_MAX_TAGS = 50
_MAX_OBJECTS = 20
_OBJECT = re.compile(r"(?:^[ \t]*+|[:>\]][ \t]*+)[{\[](?=\s*+[{\"'])", re.MULTILINE)
_BLANK_LINE = re.compile(r"[ \t`]*+(?:\n|\Z)")
_LANGUAGE = re.compile(r"\s*+[\w+-]{0,20}\s*+(?=[\[{])")


def parse_json_calls(text: str, start: int, end: int, known: Collection[str]) -> list[Call]:
    """Return the calls in a section that is one JSON value, optionally after a language's name; else an empty list."""
    language = _LANGUAGE.match(text, start, end)
    if not language:
        return []
    reader = Reader(text, language.end(), end, json=True)
    try:
        value = reader.read_value()
    except Unreadable:
        return []
    if reader.peek():
        return []
    return [replace(call, start=start, stop=end) for call in _find_calls(value, known, 0)]


def parse_json_in_text(text: str, known: Collection[str]) -> list[Call]:
    """Return calls of known actions as JSON on a line of its own, or after a mark such as `[TOOL_CALLS]` or a colon."""
    calls: list[Call] = []
    at = 0
    for _ in range(_MAX_OBJECTS):
        found = _OBJECT.search(text, at)
        if not found:
            break
        reader = Reader(text, found.end() - 1, json=True)
        try:
            value = reader.read_value()
        except Unreadable:
            at = found.end()
            continue
        at = reader.at
        named = [call for call in _find_calls(value, known, 0) if call.name in known]
        calls += [replace(call, start=found.start(), stop=at) for call in named]
    return calls


def parse_react_calls(text: str, known: Collection[str]) -> list[Call]:
    """Return calls written as `Action: name` and, on the next line, `Action Input:` with a value or plain text."""
    calls = []
    for found in islice(_REACT.finditer(text), _MAX_TAGS):
        line_end = text.find("\n", found.end()) % (len(text) + 1)
        reader = Reader(text, found.end(), json=True)
        try:
            value, stop = reader.read_value(), reader.at
            stop = stop if _BLANK_LINE.match(text, stop) else 0
        except Unreadable:
            stop = 0
        if not stop:
            value, stop = text[found.end() : line_end].strip().strip("`"), line_end
        for call in _find_calls({"name": found[1], "arguments": value}, known, 0):
            calls.append(replace(call, start=found.start(), stop=stop))
    return calls


def parse_tagged_calls(text: str) -> list[Call]:
    """Return calls written as `<function=name><parameter=key>value</parameter></function>`, or with `invoke` and `name="…"`."""
    calls = []
    for opening in islice(_FUNCTION_TAG.finditer(text), _MAX_TAGS):
        end = text.find(f"</{opening[1]}", opening.end())
        end = len(text) if end < 0 else end
        kwargs = {}
        for parameter in islice(_PARAMETER_TAG.finditer(text, opening.end(), end), _MAX_TAGS):
            closing = text.find("</parameter", parameter.end(), end)
            kwargs[parameter[1]] = _parse_tag_value(text[parameter.end() : end if closing < 0 else closing])
        calls.append(Call(opening[2], [], kwargs, opening.start(), text.find(">", end) + 1 or len(text)))
    return calls


def _parse_tag_value(written: str) -> Any:
    """Return a value between tags: a number, list, dict or constant if it parses as one, or else the text."""
    reader = Reader(written, json=True)
    try:
        value = reader.read_value()
    except Unreadable:
        return written.strip()
    return written.strip() if isinstance(value, str) or reader.peek() else value


def _find_calls(value: Any, known: Collection[str], depth: int) -> Iterator[Call]:
    if depth > _MAX_WRAPPERS:
        return
    if isinstance(value, list):
        for item in value[:16]:
            yield from _find_calls(item, known, depth + 1)
    if not isinstance(value, dict):
        return
    call = _build_call(value, known)
    if call is not None:
        yield call
        return
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), dict | list):
            yield from _find_calls(value[wrapper], known, depth + 1)
            return


def _build_call(value: dict[Any, Any], known: Collection[str]) -> Call | None:
    named = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    identifier = _IDENTIFIER.fullmatch(named.strip()) if named else None
    if identifier is None:
        return None
    given = [_decode_arguments(value[key]) for key in _ARGUMENTS if key in value]
    if identifier[1] not in known and (not given or (known and isinstance(value.get("args"), list))):
        return None
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for arguments in given:
        if isinstance(arguments, dict):
            kwargs.update((str(key), argument) for key, argument in arguments.items())
        elif isinstance(arguments, list):
            args.extend(arguments)
        elif arguments not in (None, ""):
            args.append(arguments)
    return Call(identifier[1], args, kwargs)


def _decode_arguments(arguments: Any) -> Any:
    """Return arguments, decoded if they are JSON inside a string."""
    if isinstance(arguments, str) and arguments.lstrip()[:1] in ("{", "["):
        reader = Reader(arguments, json=True)
        try:
            value = reader.read_value()
        except Unreadable:
            return arguments
        return arguments if reader.peek() else value
    return arguments
