"""Request bodies in YAML: the subset that JSON can represent, as the genuine server reads it.

Merge keys (``<<``) are ordinary keys, and timestamps remain text.
"""

from __future__ import annotations

from typing import Any

import yaml

from simcloud.golang import quote
from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.schema.bodies import MAX_DEPTH, TOO_DEEP

_TAG = "tag:yaml.org,2002:"
_SPARE_NODES = 100_000
_DEEPENING = (b"[", b"{", b"-", b":", b"?")
"""No collection begins without one of these."""


def parse_yaml(body: bytes) -> tuple[Any, list[str]]:
    """The first document of a YAML body, and what it says twice."""
    try:
        _check_depth(body)
        loader = yaml.CSafeLoader(body)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise BadRequest(_format_error(error)) from None
    except (UnicodeError, ValueError) as error:
        raise BadRequest(f"yaml: {error}") from None
    reader = _Reader(_SPARE_NODES + len(body))
    value = reader.value(node, 0)
    if not reader.duplicates:
        return value, []
    return value, ["yaml: unmarshal errors:\n" + "\n".join(reader.duplicates)]


def _check_depth(body: bytes) -> None:
    """The composer recurses in C and would end the process; the parser's events come one after the other."""
    if sum(body.count(sign) for sign in _DEEPENING) <= MAX_DEPTH:
        return
    depth = 0
    for event in yaml.parse(body, yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise BadRequest(TOO_DEEP)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _format_error(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    if mark is None:
        return f"yaml: {problem}"
    line = mark.line + 1 if isinstance(error, yaml.scanner.ScannerError) else mark.line
    return f"yaml: line {line}: {problem}" if line else f"yaml: {problem}"


class _Reader:
    """Turns nodes into values; a budget of nodes stops documents that unfold aliases without end."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.duplicates: list[str] = []
        self.scalars = yaml.constructor.SafeConstructor()

    def value(self, node: Any, depth: int) -> Any:
        self.budget -= 1
        if self.budget < 0:
            raise BadRequest("yaml: document contains excessive aliasing")
        if depth > MAX_DEPTH:
            raise BadRequest(TOO_DEEP)
        if node is None:
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        return self.scalar(node)

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key_node, item in node.value:
            key = self.key(key_node)
            if key in value:
                self.duplicates.append(
                    f"  line {key_node.start_mark.line + 1}: key {quote(key)} already set in map"
                )
            value[key] = self.value(item, depth + 1)
        return value

    def key(self, node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise BadRequest("yaml: invalid map key")
        key = self.scalar(node)
        if isinstance(key, bool):
            return "true" if key else "false"
        return "null" if key is None else str(key)

    def scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag.removeprefix(_TAG) not in ("null", "bool", "int", "float"):
            return node.value
        try:
            value = self.scalars.construct_object(node)
        except (ValueError, yaml.YAMLError):
            return node.value
        if isinstance(value, float) and (value != value or abs(value) == float("inf")):
            raise BadRequest(f"json: unsupported value: {node.value}")
        return value
