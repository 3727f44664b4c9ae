"""Validation of custom objects against the schema of their definition, with the genuine server's messages.

On an update, unchanged values are not validated again (ratcheting): a schema that became stricter accepts old values.
Patterns run on RE2, which takes linear time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.golang import BadRegex, compile_regexp, quote
from simcloud.kubernetes.api import field_errors
from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema import formats
from simcloud.kubernetes.api.schema.crd_rules import UNSAID, child, old_items, states_rules, validate_rules
from simcloud.kubernetes.api.schema.structural import OpenApi

_BLOCKING = (
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete"
    " validation"
)


def validate_custom(obj: Object, openapi: OpenApi, old: Object | None = None) -> list[FieldError]:
    """Everything in the schema that the object breaks, rules in CEL included."""
    before = UNSAID if old is None else old
    errors = [*_check(obj, openapi, "", before), *_check_lists(obj, openapi, "", before)]
    if not states_rules(openapi):
        return errors
    if any(error.reason in _BLOCKING for error in errors):
        return [*errors, field_errors.invalid("<nil>", None, _NOT_CHECKED)]
    return errors + validate_rules(obj, openapi, old)


def _check(value: Any, openapi: OpenApi, path: str, old: Any) -> Iterator[FieldError]:
    if old is not UNSAID and old == value:
        return
    yield from _check_type(value, openapi, path)
    yield from _check_combinations(value, openapi, path, old)
    if isinstance(value, str):
        yield from _check_string(value, openapi, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _check_number(value, openapi, path)
    elif isinstance(value, list):
        yield from _check_list(value, openapi, path, old)
    if value is not None and openapi.get("enum") and value not in openapi["enum"]:
        known = (
            choice if isinstance(choice, str) else field_errors.format_value(choice)
            for choice in openapi["enum"]
        )
        yield field_errors.not_supported(path, value, known)
    if isinstance(value, dict):
        yield from _check_object(value, openapi, path, old)


def _types(openapi: OpenApi) -> tuple[str, ...]:
    if openapi.get("x-kubernetes-int-or-string"):
        return "integer", "string"
    return (openapi["type"],) if openapi.get("type") else ()


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "array" if isinstance(value, list) else "object"


_FORMAT_OF = {"integer": "int64", "number": "double"}


def _check_type(value: Any, openapi: OpenApi, path: str) -> Iterator[FieldError]:
    types = _types(openapi)
    if not types:
        return
    if value is None:
        if not openapi.get("nullable"):
            yield _wrong_type(path, ",".join(types), "null")
        return
    found = _type_of(value)
    whole = found == "number" and "integer" in types and value == math.floor(value)
    fits = found in types or whole or (found == "integer" and "number" in types)
    if fits:
        return
    format = openapi.get("format", "")
    if format and found not in ("string", "array"):
        yield _wrong_type(path, format, _FORMAT_OF.get(found, ""))
    elif not (format and found in ("string", "array") and not {"integer", "number"} & set(types)):
        yield _wrong_type(path, ",".join(types), found)


def _wrong_type(path: str, wanted: str, found: str) -> FieldError:
    return field_errors.type_invalid(
        path or "<nil>", found, f"{path} in body must be of type {wanted}: {quote(found)}"
    )


def _check_combinations(value: Any, openapi: OpenApi, path: str, old: Any) -> Iterator[FieldError]:
    """anyOf, oneOf, allOf, not. The sentence stands at no path; of alternatives, the nearest one's faults follow."""
    if choices := openapi.get("anyOf"):
        results = [list(_check(value, choice, path, UNSAID)) for choice in choices]
        if all(results):
            yield _composite(f"{quote(path)} must validate at least one schema (anyOf)")
            yield from min(results, key=len)
    if choices := openapi.get("oneOf"):
        results = [list(_check(value, choice, path, UNSAID)) for choice in choices]
        valid = sum(not result for result in results)
        if valid != 1:
            found = f"Found {valid} valid alternatives" if valid else "Found none valid"
            yield _composite(f"{quote(path)} must validate one and only one schema (oneOf). {found}")
        if not valid:
            yield from min(results, key=len)
    if choices := openapi.get("allOf"):
        results = [list(_check(value, choice, path, UNSAID)) for choice in choices]
        for result in results:
            yield from result
        if any(results):
            none = ". None validated" if all(results) else ""
            yield _composite(f"{quote(path)} must validate all the schemas (allOf){none}")
    if (unwanted := openapi.get("not")) is not None and not any(
        True for _ in _check(value, unwanted, path, UNSAID)
    ):
        yield _composite(f"{quote(path)} must not validate the schema (not)")


def _composite(sentence: str) -> FieldError:
    return field_errors.invalid("<nil>", "", sentence)


def _pattern(text: str) -> Any:
    """A compiled pattern; None for one that cannot be compiled, which matches nothing."""
    try:
        return compile_regexp(text)
    except BadRegex:
        return None


def _check_string(value: str, openapi: OpenApi, path: str) -> Iterator[FieldError]:
    longest, shortest = openapi.get("maxLength"), openapi.get("minLength")
    if longest is not None and len(value) > longest:
        yield field_errors.too_long(path, longest)
    if shortest is not None and len(value) < shortest:
        yield field_errors.invalid(path, value, f"{path} in body should be at least {shortest} chars long")
    if wanted := openapi.get("pattern"):
        pattern = _pattern(wanted)
        if pattern is None or pattern.search(value) is None:
            yield field_errors.invalid(path, value, f"{path} in body should match '{wanted}'")
    format = openapi.get("format", "")
    if format and not formats.fits(value, format):
        yield field_errors.type_invalid(
            path, value, f"{path} in body must be of type {format}: {quote(value)}"
        )


def _check_number(value: float, openapi: OpenApi, path: str) -> Iterator[FieldError]:
    factor, most, least = (openapi.get(key) for key in ("multipleOf", "maximum", "minimum"))
    if factor and not _is_multiple(value, factor):
        yield field_errors.invalid(path, value, f"{path} in body should be a multiple of {_number(factor)}")
    if most is not None and (value > most or (openapi.get("exclusiveMaximum") and value == most)):
        bound = "less than" if openapi.get("exclusiveMaximum") else "less than or equal to"
        yield field_errors.invalid(path, value, f"{path} in body should be {bound} {_number(most)}")
    if least is not None and (value < least or (openapi.get("exclusiveMinimum") and value == least)):
        bound = "greater than" if openapi.get("exclusiveMinimum") else "greater than or equal to"
        yield field_errors.invalid(path, value, f"{path} in body should be {bound} {_number(least)}")


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and isinstance(factor, int):
        return value % factor == 0
    quotient = float(value) / factor
    return math.isfinite(quotient) and quotient == math.floor(quotient)


def _number(value: float) -> str:
    """A bound as Go prints it."""
    return str(int(value)) if value == math.floor(value) and abs(value) < 1e21 else str(value)


def _check_list(value: list[Any], openapi: OpenApi, path: str, old: Any) -> Iterator[FieldError]:
    items = openapi.get("items")
    if isinstance(items, Mapping):
        befores = old_items(value, openapi, old)
        for index, item in enumerate(value):
            yield from _check(item, items, f"{path}[{index}]", befores[index])
    fewest, most = openapi.get("minItems"), openapi.get("maxItems")
    if fewest is not None and len(value) < fewest:
        yield field_errors.invalid(path, len(value), f"{path} in body should have at least {fewest} items")
    if most is not None and len(value) > most:
        yield field_errors.too_many(path, len(value), most)
    if openapi.get("uniqueItems") and next(_find_duplicates(value), None) is not None:
        yield field_errors.invalid(path, "", f"{path} in body shouldn't contain duplicates")


def _check_object(value: Object, openapi: OpenApi, path: str, old: Any) -> Iterator[FieldError]:
    fewest, most = openapi.get("minProperties"), openapi.get("maxProperties")
    if fewest is not None and len(value) < fewest:
        yield field_errors.invalid(
            path, len(value), f"{path} in body should have at least {fewest} properties"
        )
        return
    if most is not None and len(value) > most:
        yield field_errors.too_many(path, len(value), most)
        return
    properties: Mapping[str, OpenApi] = openapi.get("properties") or {}
    others = openapi.get("additionalProperties")
    for key, item in value.items():
        inner = properties.get(key, others)
        before = old.get(key, UNSAID) if isinstance(old, dict) else UNSAID
        if isinstance(inner, Mapping):
            yield from _check(item, inner, child(path, key), before)
        elif inner is False:
            yield field_errors.invalid(path, key, f"{path}.{key} in body is a forbidden property")
    for key in openapi.get("required") or ():
        if key not in value:
            yield field_errors.required(child(path, key))
    if openapi.get("x-kubernetes-embedded-resource"):
        for key in ("apiVersion", "kind"):
            if not value.get(key):
                yield field_errors.required(child(path, key), "must not be empty")


def _check_lists(value: Any, openapi: OpenApi, path: str, old: Any) -> Iterator[FieldError]:
    """Items that stand twice in lists that are sets or maps."""
    if old is not UNSAID and old == value:
        return
    if isinstance(value, dict):
        properties: Mapping[str, OpenApi] = openapi.get("properties") or {}
        others = openapi.get("additionalProperties")
        for key, item in value.items():
            inner = properties.get(key, others)
            if isinstance(inner, Mapping):
                before = old.get(key, UNSAID) if isinstance(old, dict) else UNSAID
                yield from _check_lists(item, inner, child(path, key), before)
    elif isinstance(value, list):
        items = openapi.get("items")
        yield from _duplicates(value, openapi, path)
        if isinstance(items, Mapping):
            for index, (item, before) in enumerate(zip(value, old_items(value, openapi, old), strict=True)):
                yield from _check_lists(item, items, f"{path}[{index}]", before)


def _duplicates(value: list[Any], openapi: OpenApi, path: str) -> Iterator[FieldError]:
    if openapi.get("x-kubernetes-list-type") == "set":
        for index in _find_duplicates(value):
            yield field_errors.duplicate(f"{path}[{index}]", value[index])
    elif openapi.get("x-kubernetes-list-type") == "map":
        keys = openapi.get("x-kubernetes-list-map-keys") or []
        identities = [
            {key: item[key] for key in keys if key in item} if isinstance(item, dict) else item
            for item in value
        ]
        for index in _find_duplicates(identities):
            yield field_errors.duplicate(f"{path}[{index}]", identities[index])


def _find_duplicates(items: list[Any]) -> Iterator[int]:
    seen = set()
    for index, item in enumerate(items):
        shown = field_errors.format_value(item)
        if shown in seen:
            yield index
        seen.add(shown)
