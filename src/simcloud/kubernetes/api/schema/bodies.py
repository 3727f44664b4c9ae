"""Request bodies in JSON and YAML, decoded to plain data.

Any defect of a body raises ``BadRequest`` with Go's message. Bodies that are nested deeper than ``MAX_DEPTH`` are
refused with the message of Go's own, larger limit, so that code may process objects recursively.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

from simcloud.golang import quote
from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.schema.go_json import find_syntax_error

MAX_DEPTH = 200
MAX_DIGITS = 308
MAX_DUPLICATES = 100
TOO_DEEP = "exceeded max depth"
_NESTING = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_DIGITS_ONLY = bytes(
    ord("0") if chr(byte).isascii() and chr(byte).isdigit() else ord(" ") for byte in range(256)
)
_MANY_DIGITS = b"0" * MAX_DIGITS
_NUMBER = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(?P<number>[0-9]+)', re.DOTALL)
_ESCAPED_COLON = re.compile(rb"\\u003a", re.IGNORECASE)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_json(body: bytes) -> tuple[Any, list[str]]:
    """A JSON body, and what it says twice: ``duplicate field "spec.replicas"``."""
    _check_depth(body)
    _check_numbers(body)
    try:
        value = msgspec.json.decode(body)
        repeats = _repeats_keys(body, value)
    except (msgspec.DecodeError, UnicodeError):
        value = _tolerant(body)
        repeats = True
    return value, _duplicates(body) if repeats else []


def _check_numbers(body: bytes) -> None:
    """Refuse numbers that no type can hold before they cost time."""
    if _MANY_DIGITS not in body.translate(_DIGITS_ONLY):
        return
    for match in _NUMBER.finditer(body):
        if match["number"] and len(match["number"]) > MAX_DIGITS:
            raise BadRequest(
                f"json: cannot unmarshal number {match['number'].decode()} into Go value of type float64"
            )


def _check_depth(body: bytes) -> None:
    if body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for match in _NESTING.finditer(body):
        char = match.group()
        if char in (b"{", b"["):
            depth += 1
            if depth > MAX_DEPTH:
                raise BadRequest(TOO_DEEP)
        elif char in (b"}", b"]"):
            depth -= 1


def _repeats_keys(body: bytes, value: Any) -> bool:
    """Whether a key may stand twice: every key brings a colon, and one that was overwritten took its colon along."""
    if _ESCAPED_COLON.search(body):
        return True
    return body.count(b":") != msgspec.json.encode(value).count(b":")


def _tolerant(body: bytes) -> Any:
    """What Go accepts and the fast decoder does not: text that is not UTF-8, halves of surrogate pairs."""
    if (sentence := find_syntax_error(body)) is not None:
        raise BadRequest(sentence)
    return _replace_surrogates(json.loads(body.decode(errors="replace"), parse_float=_float))


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise BadRequest(f"json: cannot unmarshal number {text} into Go value of type float64")
    return value


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    return value


class _Pairs(list[tuple[str, Any]]):
    """An object with every key it was written with, in order."""


def _duplicates(body: bytes) -> list[str]:
    found: dict[str, None] = {}
    pairs = json.loads(body.decode(errors="replace"), object_pairs_hook=_Pairs)
    _find_duplicates(pairs, "", found)
    return list(found)[:MAX_DUPLICATES]


def _find_duplicates(value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(value, _Pairs):
        seen = set()
        for key, item in value:
            inner = f"{path}.{key}" if path else key
            if key in seen:
                found[f"duplicate field {quote(inner)}"] = None
            seen.add(key)
            _find_duplicates(item, inner, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _find_duplicates(item, f"{path}[{index}]", found)
