"""Stages that extract labels from a line's text: ``json``, ``logfmt``, ``pattern`` and ``regexp``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from simcloud.golang import BadRegex, compile_regexp
from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.line import Line, Stage

Expressions = Sequence[tuple[str, str]]
"""Labels and where in a line their values are."""

_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")
_NO_JSON: Final = "Value looks like object, but can't find closing '}' symbol"
_PAIR: Final = re.compile(r'([^\s="]+)(?:=(?:"((?:\\.|[^"\\])*)"|([^\s"]*)))?')
_CAPTURE: Final = re.compile(r"<([a-zA-Z_][a-zA-Z0-9_]*)>")
_PATH: Final = re.compile(r'\.?([a-zA-Z_][a-zA-Z0-9_]*)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]')


def label_name(text: str) -> str:
    """Return a key as a label's name."""
    name = _NOT_IN_NAMES.sub("_", text.strip())
    return f"_{name}" if name[:1].isdigit() else name


def _refuse(text: str) -> Any:
    raise ValueError(text)


_document: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=_refuse).decode
"""A JSON text's content, its numbers as they are written."""


def json_stage(line: Line) -> bool:
    """Make a label of every value of an object; the names of nested ones are joined."""
    try:
        document = _document(line.text)
        if not isinstance(document, dict):
            raise ValueError(_NO_JSON)
        for name, value in _flat(document, ""):
            line.extract(name, value)
    except (ValueError, RecursionError):
        line.fail("JSONParserErr", _NO_JSON)
    return True


def _flat(document: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in document.items():
        name = f"{prefix}_{_NOT_IN_NAMES.sub('_', key)}" if prefix else label_name(key)
        if isinstance(value, dict):
            yield from _flat(value, name)
        elif not isinstance(value, list) and value is not None and name:
            yield name, _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if "\ufffd" in value else str(value)


def json_expressions(expressions: Expressions) -> Stage:
    """``json a="b.c"``: only these labels, from these places."""
    paths = [(name, _path(name, text)) for name, text in expressions]

    def stage(line: Line) -> bool:
        try:
            document = _document(line.text)
            for name, path in paths:
                found = _at(document, path)
                if isinstance(found, (dict, list)):
                    line.extract(name, json.dumps(found, separators=(",", ":"), ensure_ascii=False))
                elif found is not None:
                    line.extract(name, _scalar(found))
        except (ValueError, RecursionError):
            line.fail("JSONParserErr", "")
        return True

    return stage


def _at(document: Any, path: list[str | int]) -> Any:
    for step in path:
        if isinstance(document, dict) and isinstance(step, str):
            document = document.get(step)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return None
    return document


def _path(name: str, text: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        match = _PATH.match(text, at)
        if match is None or (match[1] is not None and (text[at] == ".") is (at == 0)):
            raise LogqlError(
                f"stage '| json {name}=\"{text}\"' : cannot parse expression [{text}]: unexpected char {text[at]}"
            )
        steps.append(match[1] if match[1] is not None else int(match[2]) if match[2] else match[3])
        at = match.end()
    if not steps:
        words = "syntax error: unexpected $end, expecting LSB or FIELD"
        raise LogqlError(f"stage '| json {name}=\"{text}\"' : cannot parse expression [{text}]: {words}")
    return steps


def logfmt_pairs(text: str) -> Iterator[tuple[str, str | None]]:
    """Keys and values, ``None`` of a key without one. What does not belong to any is passed over."""
    for match in _PAIR.finditer(text):
        key, quoted, plain = match.groups()
        if quoted is not None:
            try:
                yield key, json.loads(f'"{quoted}"', strict=False)
            except ValueError:
                continue
        else:
            yield key, plain


def logfmt_stage(expressions: Expressions = (), *, keep_empty: bool = False) -> Stage:
    """Make a label of every pair of a line, or only some of them."""
    wanted = {text: name for name, text in expressions}

    def stage(line: Line) -> bool:
        for key, value in logfmt_pairs(line.text):
            if not value and not keep_empty:
                continue
            if not wanted:
                line.extract(label_name(key), value or "")
            elif key in wanted:
                line.extract(wanted[key], value or "")
        return True

    return stage


def pattern_stage(text: str) -> Stage:
    """``<ip> - <_> <path>``: the text between the fixed parts becomes labels."""
    parts = _CAPTURE.split(text)  # fixed, name, fixed, name, ..., fixed
    names, fixed = parts[1::2], parts[0::2]
    named = [name for name in names if name != "_"]
    complaint = ""
    if not named:
        complaint = "at least one capture is required"
    elif len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        complaint = f"duplicate capture name ({twice}): invalid expression"
    for before, after, between in zip(names, names[1:], fixed[1:-1], strict=False):
        if not between and not complaint:
            complaint = f"found consecutive capture '<{before}><{after}>': invalid expression"
    if complaint:
        raise LogqlError(f"invalid pattern parser: {complaint}")

    def stage(line: Line) -> bool:
        rest = line.text
        if not rest.startswith(fixed[0]):
            return True
        rest = rest[len(fixed[0]) :]
        for name, end in zip(names, fixed[1:], strict=True):
            value, met, rest = rest.partition(end) if end else (rest, "", "")
            if name != "_":
                line.extract(name, value)
            if end and not met:
                break
        return True

    return stage


def regexp_stage(text: str) -> Stage:
    """Make labels of the named groups of an expression."""
    try:
        pattern = compile_regexp(text)
    except BadRegex as fault:
        words = str(fault)
        if "duplicate" in words:
            words = f"duplicate extracted label name '{words.rpartition('<')[2].rstrip('`>')}'"
        raise LogqlError(f"invalid regexp parser: {words}") from None
    names = sorted(pattern.groupindex, key=pattern.groupindex.get)
    if not names:
        raise LogqlError("invalid regexp parser: at least one named capture must be supplied")

    def stage(line: Line) -> bool:
        match = pattern.search(line.text)
        if match:
            for name in names:
                line.extract(label_name(name), match.group(name) or "")
        return True

    return stage
