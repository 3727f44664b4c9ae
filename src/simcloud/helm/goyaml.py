"""YAML as helm's library reads and writes it: booleans of YAML 1.1, numbers as floats, keys as text."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import yaml

from simcloud.golang import float_text
from simcloud.kubectl import PrintError
from simcloud.kubectl.printing import any_yaml

DEEPEST: Final = 100


class YamlError(Exception):
    """Text that is no YAML, in the library's words."""


class _Loader(yaml.CSafeLoader):
    pass


_BOOL: Final = re.compile(
    r"^(?:[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"
)
_INT: Final = re.compile(r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$")
_FLOAT: Final = re.compile(
    r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"
)
_NULL: Final = re.compile(r"^(?:~|null|Null|NULL|)$")

_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _firsts in (
    ("bool", _BOOL, list("yYnNtTfFoO")),
    ("int", _INT, list("-+0123456789")),
    ("float", _FLOAT, list("-+0123456789.")),
    ("null", _NULL, ["~", "n", "N", ""]),
    ("merge", re.compile(r"^<<$"), ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, _firsts)


def _bool(loader: Any, node: yaml.ScalarNode) -> bool:
    return node.value.lower() in ("y", "yes", "true", "on")


def _number(loader: Any, node: yaml.ScalarNode) -> Any:
    text = node.value.replace("_", "")
    digits = text.lstrip("+-")
    try:
        if digits.isdigit() and digits.startswith("0") and len(digits) > 1:
            value = int(digits, 8)
        else:
            value = int(digits, 0)
    except ValueError:
        return node.value
    value = -value if text.startswith("-") else value
    return value if -(2**63) <= value < 2**64 else float(value)


def _float(loader: Any, node: yaml.ScalarNode) -> Any:
    text = node.value.lower().replace("_", "").lstrip("+")
    try:
        return float({".inf": "inf", "-.inf": "-inf", ".nan": "nan"}.get(text, text))
    except ValueError:
        return node.value


_Loader.add_constructor("tag:yaml.org,2002:bool", _bool)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)


def read_yaml(text: str | bytes, *, exact: bool = False) -> Any:
    """The value of a YAML text; whole numbers are floats as Go's JSON has them, unless ``exact``. YamlError."""
    try:
        found = yaml.load(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text, _Loader)
    except yaml.YAMLError as error:
        raise YamlError(f"yaml: {_complaint(error)}") from None
    except (ValueError, RecursionError, TypeError) as error:
        raise YamlError(f"yaml: {error}") from None
    return _convert(found, exact, 0)


def as_float(value: Any) -> Any:
    """A value whose whole numbers are floats."""
    return _convert(value, False, 0)


def _convert(value: Any, exact: bool, depth: int) -> Any:
    if depth > DEEPEST:
        raise YamlError("yaml: document contains excessive aliasing")
    if isinstance(value, dict):
        return {_key(name): _convert(held, exact, depth + 1) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_convert(held, exact, depth + 1) for held in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if exact else float(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise YamlError("json: unsupported value: " + float_text(value))
        return value
    return str(value)


def _key(name: Any) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    if isinstance(name, float):
        return float_text(name)
    return "null" if name is None else str(name)


def _complaint(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    line = 0
    if mark is not None and mark.line:
        line = mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif context is not None and context.line:
        line = context.line
    return f"line {line}: {problem}" if line else str(problem)


def write_yaml(value: Any) -> str:
    """A value as YAML."""
    try:
        return any_yaml(value)
    except PrintError:
        return ""
