"""Reads and writes YAML as yq does: keys keep their order, lists are indented, times are plain text.

Reading gives plain values; comments and the quoting style are lost, which the genuine tool keeps.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

MOST_BYTES: Final = 8 << 20
MOST_VALUES: Final = 500_000
DEEPEST: Final = 200
TIMES: Final = "tag:yaml.org,2002:timestamp"
TEXTS: Final = "tag:yaml.org,2002:str"


class BadYaml(Exception):
    """The text is invalid YAML, or exceeds the limits."""


class _Loader(yaml.SafeLoader):
    """Loads times as strings."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != TIMES]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Dumper(yaml.SafeDumper):
    """Indents lists under a key, folds no lines, and writes no aliases."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    node = dumper.represent_str(text)
    if "\n" in text:
        node.style = "|"
    elif dumper.resolve(yaml.ScalarNode, text, (True, False)) != TEXTS:  # type: ignore[no-untyped-call]  # the stubs leave it out
        node.style = '"'
    return node


_Dumper.add_representer(str, _string)


def documents(data: bytes) -> list[Any]:
    """Parse the documents of a text to jq's values; an empty text is one null document."""
    if len(data) > MOST_BYTES:
        raise BadYaml("more than 8 MiB of YAML")
    try:
        reader = _Reader()
        found = [reader.value(document, 0) for document in yaml.load_all(data, _Loader)]
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise BadYaml(f"yaml: {_place(error)}") from None
    return found or [None]


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return f"line {mark.line + 1}: {problem}" if mark is not None else problem


class _Reader:
    """Converts YAML values to jq's. Shared values are copied, so the copies are counted."""

    def __init__(self) -> None:
        self._values = 0

    def value(self, value: Any, depth: int) -> Any:
        """One value with all in it."""
        self._values += 1
        if depth > DEEPEST or self._values > MOST_VALUES:
            raise ValueError("document contains excessive aliasing")
        if isinstance(value, dict):
            return {_key(key): self.value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | set | tuple):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return value
        if isinstance(value, int | float):
            return float(value)
        return str(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _scalar(key)


def to_yaml(value: Any, indent: int) -> str:
    """A value as YAML; a scalar stands by itself, unquoted."""
    if not isinstance(value, dict | list):
        return f"{_scalar(value)}\n"
    return yaml.dump(
        plain(value), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30, indent=indent
    )


def plain(value: Any) -> Any:
    """A value of jq's with whole numbers as such."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and value == value and abs(value) < 1e16 and value == int(value):
        return int(value)
    return value


def _scalar(value: Any) -> str:
    match plain(value):
        case None:
            return "null"
        case bool(truth):
            return "true" if truth else "false"
        case other:
            return str(other)
