"""YAML as kubectl's library reads it: which plain scalars are numbers and booleans, and its error messages.

Only the first document of a text is read; callers split a file at its ``---`` lines. A duplicate key counts once,
with its last value.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from simcloud.golang import quote

MAX_DEPTH: Final = 200
SPARE_NODES: Final = 100_000
_MERGE: Final = "<<"
_TAG: Final = "tag:yaml.org,2002:"
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)")
_ODD: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FIRST: Final = frozenset("+-.0123456789")
_LARGEST: Final = 2**64
_MOST_DIGITS: Final = 64


class BadYaml(Exception):
    """A text that is no YAML, in Go's words."""


class _Loader(yaml.CSafeLoader):
    """Leaves every plain scalar a text."""


_Loader.yaml_implicit_resolvers = {}


def read_yaml(text: bytes) -> Any:
    """The value of the first document; None if there is none. Raises ``BadYaml``."""
    try:
        _check_depth(text)
        loader = _Loader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise BadYaml(format_yaml_error(error, text)) from None
    except (UnicodeError, ValueError) as error:
        raise BadYaml(f"yaml: {error}") from None
    return None if node is None else _Reader(SPARE_NODES + len(text)).value(node, 0)


def _check_depth(text: bytes) -> None:
    """Refuse what would make recursive readers fall; the parser's events come one after the other."""
    if sum(text.count(sign) for sign in (b"[", b"{", b"-", b":", b"?")) <= MAX_DEPTH:
        return
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise BadYaml("yaml: exceeded max depth")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentEndEvent):
            return


def format_yaml_error(error: yaml.YAMLError, text: bytes) -> str:
    """Format an error as Go's library does: lines count from 1 in scanning and from 0 in parsing."""
    if isinstance(error, yaml.reader.ReaderError):
        return f"yaml: {error.reason}"
    problem = getattr(error, "problem", None) or "unknown problem parsing YAML content"
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if isinstance(error, yaml.composer.ComposerError):
        return f"yaml: unknown anchor '{_anchor(text, mark)}' referenced"
    line = 0
    if mark is not None and mark.line:
        line = mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif context is not None:
        line = context.line
    return f"yaml: line {line}: {problem}" if line else f"yaml: {problem}"


def _anchor(text: bytes, mark: Any) -> str:
    """The name of an alias that nothing was anchored to."""
    lines = text.decode(errors="replace").splitlines()
    found = re.match(r"\*([\w-]+)", lines[mark.line][mark.column :]) if mark is not None else None
    return found[1] if found else ""


class _Reader:
    """Turns nodes into values; a budget of nodes stops documents that unfold aliases without end."""

    def __init__(self, budget: int) -> None:
        self._budget = budget

    def value(self, node: Any, depth: int) -> Any:
        self._budget -= 1
        if self._budget < 0:
            raise BadYaml("yaml: document contains excessive aliasing")
        if depth > MAX_DEPTH:
            raise BadYaml("yaml: exceeded max depth")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        return _scalar(node)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key_node, item in node.value:
            if key_node.value == _MERGE and not key_node.style:
                value = {**self._merge(item, depth), **value}
            else:
                value[self._key(key_node, depth)] = self.value(item, depth + 1)
        return value

    def _key(self, node: Any, depth: int) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise BadYaml(f"yaml: invalid map key: {_syntax(self.value(node, depth + 1))}")
        key = _scalar(node)
        if isinstance(key, bool):
            return "true" if key else "false"
        return "null" if key is None else str(key)

    def _merge(self, node: Any, depth: int) -> dict[str, Any]:
        found = self.value(node, depth + 1)
        parts = found if isinstance(found, list) else [found]
        merged: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, dict):
                raise BadYaml("yaml: map merge requires map or sequence of maps as the value")
            merged = {**part, **merged}
        return merged


def _syntax(value: Any) -> str:
    """A value as Go's own syntax writes it: what stands where a key was expected, as in ``{{ .Values.x }}``."""
    if isinstance(value, dict):
        inner = ", ".join(f"{quote(key)}:{_syntax(item)}" for key, item in value.items())
        return f"map[interface {{}}]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return quote(value) if isinstance(value, str) else str(value).lower()


def _scalar(node: yaml.ScalarNode) -> Any:
    text: str = node.value
    tag = node.tag.removeprefix(_TAG) if node.tag else ""
    if node.style or tag not in ("", "str", "!"):
        return _convert_tagged(text, tag) if tag in ("int", "float", "bool", "null") else text
    return _plain(text)


def _convert_tagged(text: str, tag: str) -> Any:
    value = _plain(text)
    return text if isinstance(value, str) or (value is None and tag != "null") else value


def _plain(text: str) -> Any:
    """What a word without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST:
        return text
    digits = text.replace("_", "")
    if _WHOLE.fullmatch(digits) and len(digits) < _MOST_DIGITS:
        number = _integer(digits)
        return number if -_LARGEST // 2 <= number < _LARGEST else float(number)
    if _FLOAT.fullmatch(digits) and len(digits) < _MOST_DIGITS:
        value = float(digits)
        return int(value) if value.is_integer() and abs(value) < _LARGEST / 2 else value
    if _ODD.fullmatch(text):
        raise BadYaml(f"json: unsupported value: {text.lstrip('.+').replace('.', '')}")
    return text


def _integer(digits: str) -> int:
    bare = digits.lstrip("+-")
    base = 8 if re.fullmatch(r"0[0-7]+", bare) else 0
    return int(bare, base) * (-1 if digits.startswith("-") else 1)
