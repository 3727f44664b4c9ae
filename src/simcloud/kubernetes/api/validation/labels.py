"""Labels, annotations and label selectors: how they must look and what a selector matches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, required, too_long
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.validation.common import IMMUTABLE, Errors, items, make_errors, same, text
from simcloud.kubernetes.api.validation.names import (
    LABEL_LIMIT,
    SUBDOMAIN_LIMIT,
    label_value,
    qualified_name,
    size,
)

ANNOTATIONS_LIMIT_BYTES = 256 * 1024
KEY_LIMIT = SUBDOMAIN_LIMIT + 1 + LABEL_LIMIT
_LISTING = ("In", "NotIn")
_EXISTING = ("Exists", "DoesNotExist")


def label_name_errors(path: str, key: str) -> Errors:
    """A label's key."""
    return make_errors(path, key, qualified_name(key))


def label_errors(path: str, given: Mapping[str, str] | None) -> Errors:
    """A set of labels."""
    if not given or all(
        len(key) <= KEY_LIMIT and len(value) <= LABEL_LIMIT and _is_label(key, value)
        for key, value in given.items()
    ):
        return []
    errors: Errors = []
    for key, value in sorted(given.items()):
        errors += label_name_errors(path, key)
        errors += make_errors(path, value, label_value(value))
    return errors


@lru_cache(maxsize=4096)
def _is_label(key: str, value: str) -> bool:
    """Whether a label breaks no rule. The same ones are in many objects, and in every version of each."""
    return not qualified_name(key) and not label_value(value)


def annotation_errors(path: str, given: Mapping[str, str] | None) -> Errors:
    """A set of annotations: keys in any case, 256 KiB in all."""
    if not given:
        return []
    errors: Errors = []
    if not all(len(key) <= KEY_LIMIT and _is_label(key.lower(), "") for key in given):
        for key in sorted(given):
            errors += make_errors(path, key, qualified_name(key.lower()))
    if sum(map(size, given)) + sum(map(size, given.values())) > ANNOTATIONS_LIMIT_BYTES:
        errors.append(too_long(path, ANNOTATIONS_LIMIT_BYTES))
    return errors


def selector_errors(path: str, given: Mapping[str, Any] | None, any_value: bool = False) -> Errors:
    """A label selector. ``any_value`` lets values pass that an old object already had."""
    if given is None:
        return []
    errors = label_errors(f"{path}.matchLabels", given.get("matchLabels"))
    for index, requirement in enumerate(items(given, "matchExpressions")):
        errors += _requirement(f"{path}.matchExpressions[{index}]", requirement, any_value)
    return errors


def _requirement(path: str, requirement: Mapping[str, Any], any_value: bool) -> Errors:
    operator, values = text(requirement, "operator"), items(requirement, "values")
    errors: Errors = []
    if operator in _LISTING:
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in _EXISTING:
        if values:
            message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", message))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    errors += label_name_errors(f"{path}.key", text(requirement, "key"))
    for index, value in enumerate([] if any_value else values):
        errors += make_errors(f"{path}.values[{index}]", value, label_value(value))
    return errors


def is_empty(given: Mapping[str, Any] | None) -> bool:
    """Whether a selector has no requirements."""
    return not given or not (given.get("matchLabels") or given.get("matchExpressions"))


def is_sound(given: Mapping[str, Any] | None) -> bool:
    """Whether the server can turn a selector into a test."""
    return not selector_errors("", given)


def selects(given: Mapping[str, Any] | None, of: Mapping[str, str] | None) -> bool:
    """Whether a sound selector matches labels. No selector matches nothing, an empty one everything."""
    return from_label_selector(dict(given) if given is not None else None).matches(of or {})


def by_key(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A map as Go prints it: by key."""
    return None if given is None else dict(sorted(given.items()))


def format_selector(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A selector as Go prints it: its fields in their order, its labels by key."""
    if given is None:
        return None
    formatted: dict[str, Any] = {}
    if given.get("matchLabels"):
        formatted["matchLabels"] = by_key(given["matchLabels"])
    if given.get("matchExpressions"):
        formatted["matchExpressions"] = [
            {key: requirement[key] for key in ("key", "operator", "values") if requirement.get(key)}
            for requirement in given["matchExpressions"]
        ]
    return formatted


def same_selector(path: str, new: Mapping[str, Any] | None, old: Mapping[str, Any] | None) -> Errors:
    """A selector that must stay as it was."""
    return [] if same(new, old) else [invalid(path, format_selector(new), IMMUTABLE)]
