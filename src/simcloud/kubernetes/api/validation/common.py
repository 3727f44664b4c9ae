"""Small rules that many kinds share, and short ways to read an object as Go would: absent is zero.

Errors are collected in lists. Objects that reach a rule have the right JSON types, so the readers do
not check them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)

Errors: TypeAlias = list[FieldError]
TextRule: TypeAlias = Callable[[str], list[str]]

IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"
NOT_ZERO = "must be greater than zero"
INT32_MAX = 2**31 - 1


def text(value: Mapping[str, Any], key: str) -> str:
    """A text field; empty where absent."""
    found: str = value.get(key) or ""
    return found


def number(value: Mapping[str, Any], key: str) -> int:
    """A number field; zero where absent."""
    found: int = value.get(key) or 0
    return found


def items(value: Mapping[str, Any], key: str) -> list[Any]:
    """A list field; empty where absent."""
    found: list[Any] = value.get(key) or []
    return found


def mapping(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A map or object field; empty where absent."""
    found: dict[str, Any] = value.get(key) or {}
    return found


def pairs(value: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    """A map field's entries by key: Go's order is random, ours is not."""
    return iter(sorted(mapping(value, key).items()))


def amount(value: Any) -> Fraction:
    """A quantity's value; zero for what is none."""
    try:
        return quantity.parse(value)
    except ValueError:
        return Fraction(0)


def amount_text(value: Any) -> str:
    """A quantity as Kubernetes prints it."""
    try:
        return quantity.canonical(value)
    except ValueError:
        return str(value)


def make_errors(path: str, value: Any, sentences: Iterable[str]) -> Errors:
    """Return one error for each message."""
    return [invalid(path, value, sentence) for sentence in sentences]


def check_required(path: str, value: str, rule: TextRule) -> Errors:
    """Check a required text against a rule."""
    return make_errors(path, value, rule(value)) if value else [required(path)]


def non_negative(path: str, value: int) -> Errors:
    """A number of zero or more."""
    return [] if value >= 0 else [invalid(path, value, NOT_NEGATIVE)]


def positive(path: str, value: int) -> Errors:
    """A number above zero."""
    return [] if value > 0 else [invalid(path, value, NOT_ZERO)]


def non_negative_fields(path: str, value: Mapping[str, Any], *keys: str) -> Errors:
    """Numbers of zero or more, where given."""
    return [
        error
        for key in keys
        if value.get(key) is not None
        for error in non_negative(f"{path}.{key}", value[key])
    ]


def one_of(path: str, value: str, supported: Iterable[str]) -> Errors:
    """A value out of a list."""
    choices = tuple(supported)
    return [] if value in choices else [not_supported(path, value, choices)]


def check_required_choice(path: str, value: str, supported: Iterable[str]) -> Errors:
    """Check a required value against the supported values."""
    return one_of(path, value, supported) if value else [required(path)]


def same(new: Any, old: Any) -> bool:
    """Whether two values mean the same: nothing and empty are one."""
    if isinstance(new, dict) and isinstance(old, dict):
        keys = new.keys() | old.keys()
        return all(same(new.get(key), old.get(key)) for key in keys)
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(same(*pair) for pair in zip(new, old, strict=True))
    if new is None or old is None:
        return _is_nothing(new) and _is_nothing(old)
    return bool(new == old)


def _is_nothing(value: Any) -> bool:
    return value is None or value in ([], {})


def immutable(path: str, new: Any, old: Any) -> Errors:
    """A field that must stay as it was."""
    return [] if same(new, old) else [invalid(path, new, IMMUTABLE)]


def check_amount_not_negative(path: str, text: str) -> Errors:
    """An amount that is not below zero."""
    return [invalid(path, amount_text(text), NOT_NEGATIVE)] if amount(text) < 0 else []


def check_amount_positive(path: str, text: str) -> Errors:
    """An amount above zero."""
    return [] if amount(text) > 0 else [invalid(path, amount_text(text), NOT_ZERO)]
