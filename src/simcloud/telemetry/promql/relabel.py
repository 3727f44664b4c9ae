"""Functions that change labels."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.golang import BadRegex
from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.metrics.matchers import compile_anchored
from simcloud.telemetry.promql.errors import QueryError
from simcloud.telemetry.promql.values import Sample, Vector

LABEL_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_REFERENCE: Final = re.compile(r"\$(?:\$|([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\})", re.ASCII)


def label_replace(vector: Vector, target: str, replacement: str, source: str, pattern: str) -> Vector:
    """Set a label from parts of another one, where that one matches."""
    try:
        regex = compile_anchored(pattern)
    except BadRegex:
        raise QueryError(f"invalid regular expression in label_replace(): {pattern}") from None
    if not LABEL_NAME.fullmatch(target):
        raise QueryError(f"invalid destination label name in label_replace(): {target}")
    out: Vector = []
    for labels, value in vector:
        match = regex.search(dict(labels).get(source, ""))
        if match:
            labels = _with(labels, target, _expand(match, replacement))
        out.append(Sample(labels, value))
    return out


def label_join(vector: Vector, target: str, separator: str, *sources: str) -> Vector:
    """Set a label to other labels' values, joined."""
    for source in sources:
        if not LABEL_NAME.fullmatch(source):
            raise QueryError(f"invalid source label name in label_join(): {source}")
    if not LABEL_NAME.fullmatch(target):
        raise QueryError(f"invalid destination label name in label_join(): {target}")
    out: Vector = []
    for labels, value in vector:
        known = dict(labels)
        joined = separator.join(known.get(source, "") for source in sources)
        out.append(Sample(_with(labels, target, joined), value))
    return out


def _with(labels: Labels, name: str, value: str) -> Labels:
    pairs = {key: text for key, text in labels if key != name}
    if value:
        pairs[name] = value
    return tuple(sorted(pairs.items()))


def _expand(match: Any, template: str) -> str:
    """Return a replacement with ``$1``, ``${1}`` and ``$name`` filled in, as Go does it."""
    names = match.re.groupindex

    def part(reference: re.Match[str]) -> str:
        key = reference[1] or reference[2]
        if key is None:
            return "$"
        if key.isdigit():
            return (match.group(int(key)) or "") if int(key) <= match.re.groups else ""
        return (match.group(key) or "") if key in names else ""

    return _REFERENCE.sub(part, template)
