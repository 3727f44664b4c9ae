"""Validation errors of fields, with Kubernetes' messages.

Create them with the functions below: ``invalid("spec.replicas", -1, "must be greater than or equal to 0")``. A path
is plain text: ``spec.containers[0].name``, ``data[key]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct


class FieldError(Struct, frozen=True):
    """The path of a field, the reason, and the message after the path."""

    path: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"

    def cause(self) -> dict[str, Any]:
        """Return this error as an entry of a Status' causes."""
        return {"reason": self.reason, "message": self.message, "field": self.path}


def format_value(value: Any) -> str:
    """Format a value as Kubernetes does in an error: text quoted, objects as JSON."""
    if value is None:
        return "null"
    return msgspec.json.encode(value).decode()


def _with(detail: str) -> str:
    return f": {detail}" if detail else ""


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """The value violates a rule; ``detail`` is the rule."""
    return FieldError(path, "FieldValueInvalid", f"Invalid value: {format_value(value)}{_with(detail)}")


def type_invalid(path: str, value: Any, detail: str) -> FieldError:
    """The value is of the wrong type."""
    return FieldError(path, "FieldValueTypeInvalid", f"Invalid value: {format_value(value)}{_with(detail)}")


def required(path: str, detail: str = "") -> FieldError:
    """A value is missing."""
    return FieldError(path, "FieldValueRequired", f"Required value{_with(detail)}")


def duplicate(path: str, value: Any) -> FieldError:
    """The value occurs twice."""
    return FieldError(path, "FieldValueDuplicate", f"Duplicate value: {format_value(value)}")


def not_found(path: str, value: Any) -> FieldError:
    """The value names something that does not exist."""
    return FieldError(path, "FieldValueNotFound", f"Not found: {format_value(value)}")


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    """The value is not one of the supported ones."""
    known = ", ".join(format_value(value) for value in supported)
    detail = f": supported values: {known}" if known else ""
    return FieldError(path, "FieldValueNotSupported", f"Unsupported value: {format_value(value)}{detail}")


def forbidden(path: str, detail: str) -> FieldError:
    """The field may not be set, or not be changed."""
    return FieldError(path, "FieldValueForbidden", f"Forbidden: {detail}")


def too_long(path: str, limit_bytes: int) -> FieldError:
    """The text is longer than allowed."""
    return FieldError(path, "FieldValueTooLong", f"Too long: may not be more than {limit_bytes} bytes")


def too_many(path: str, count: int, limit: int) -> FieldError:
    """The list is longer than allowed."""
    return FieldError(
        path,
        "FieldValueTooMany",
        f"Too many: {count}: must have at most {limit} {'item' if limit == 1 else 'items'}",
    )


def internal(path: str, why: str) -> FieldError:
    """The rule could not be checked."""
    return FieldError(path, "InternalError", f"Internal error: {why}")
