"""Paths inside volumes: relative, and never out of them."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.validation.common import Errors


def no_backsteps(path: str, value: str) -> Errors:
    """A path with no ``..`` in it."""
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def descending(path: str, value: str) -> Errors:
    """A relative path with no ``..`` in it."""
    errors = [invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return errors + no_backsteps(path, value)


def check_unreserved_path(path: str, value: str) -> Errors:
    """A relative path that does not start with ``..``, which volumes keep for themselves."""
    errors = descending(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(invalid(path, value, "must not start with '..'"))
    return errors
