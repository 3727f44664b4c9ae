"""The JSONPath of printer columns: fields, indexes, slices, ``*`` and simple filters.

``.status.conditions[?(@.type=="Ready")].status`` is the usual one. Recursive descent (``..``), unions
and ``range`` are not read, nor does a definition that passes validation hold them in a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

Step: TypeAlias = Callable[[Any], Iterator[Any]]
Path: TypeAlias = tuple[Step, ...]

_STEP = re.compile(
    r"""\.(?P<every>\*)
    |\.(?P<field>(?:\\.|[^\s.\[\]{}\\*?()|,"'])+)
    |\[\s*(?P<all>\*)\s*\]
    |\[\s*'(?P<single>[^']*)'\s*\]
    |\[\s*"(?P<double>[^"]*)"\s*\]
    |\[\s*(?P<index>-?\d{1,9})\s*\]
    |\[\s*(?P<start>-?\d{0,9}):(?P<end>-?\d{0,9})(?::(?P<step>-?\d{0,9}))?\s*\]
    |\[\?\(\s*@(?P<left>[^=!<>)]*?)\s*(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<right>[^)]*?)\s*)?\)\]""",
    re.VERBOSE | re.ASCII,
)
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


@lru_cache(maxsize=1024)
def parse_path(text: str) -> Path | None:
    """The steps of a path, None if it cannot be read."""
    steps: list[Step] = []
    position = 1 if text.startswith("$") else 0
    while position < len(text):
        match = _STEP.match(text, position)
        step = _step(match) if match else None
        if match is None or step is None:
            return None
        steps.append(step)
        position = match.end()
    return tuple(steps)


def find(value: Any, path: Path) -> list[Any]:
    """Every value at a path, none where it breaks off."""
    found = [value]
    for step in path:
        found = [after for before in found for after in step(before)]
    return found


def _step(match: re.Match[str]) -> Step | None:
    groups = match.groupdict()
    if groups["every"] or groups["all"]:
        return _every
    if groups["field"] is not None:
        return _field(re.sub(r"\\(.)", r"\1", groups["field"]))
    for quoted in ("single", "double"):
        if groups[quoted] is not None:
            return _field(groups[quoted])
    if groups["index"] is not None:
        return _index(int(groups["index"]))
    if groups["left"] is not None:
        return _filter(groups["left"], groups["operator"], groups["right"])
    bounds = [int(groups[name]) if groups[name] else None for name in ("start", "end", "step")]
    return None if bounds[2] is not None and bounds[2] <= 0 else _slice(*bounds)


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _field(key: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and key in value:
            yield value[key]

    return step


def _index(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _slice(start: int | None, end: int | None, stride: int | None) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from value[start:end:stride]

    return step


def _filter(left: str, operator: str | None, right: str | None) -> Step | None:
    path = parse_path(left) if left else ()
    if path is None:
        return None
    if operator is None:
        return lambda value: (item for item in _every(value) if find(item, path))
    try:
        literal = _literal(right or "")
    except ValueError:
        return None

    def step(value: Any) -> Iterator[Any]:
        for item in _every(value):
            found = find(item, path)
            if found and type(found[0]) is type(literal) and _COMPARE[operator](found[0], literal):
                yield item

    return step


def _literal(text: str) -> Any:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1]
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        raise ValueError(text) from None
