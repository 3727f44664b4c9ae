"""Evaluation of the CEL rules in a custom kind's schema (``x-kubernetes-validations``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.kubernetes.api import cel, field_errors
from simcloud.kubernetes.api.cel.functions import FUNCTIONS
from simcloud.kubernetes.api.cel.values import CostExceeded, Maybe
from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema.structural import OpenApi

STEPS_PER_RULE = 100_000
STEPS_IN_ALL = 1_000_000

UNSAID: Any = object()
"""There is no old value to compare with."""


def validate_rules(obj: Object, openapi: OpenApi, old: Object | None = None) -> list[FieldError]:
    """Every rule that the object breaks. Transition rules (those that speak of ``oldSelf``) need an old object."""
    return list(_Judge().node(obj, openapi, "", UNSAID if old is None else old))


def states_rules(openapi: OpenApi) -> bool:
    """Whether a schema states any rule."""
    if openapi.get("x-kubernetes-validations"):
        return True
    inner = [
        *(openapi.get("properties") or {}).values(),
        openapi.get("items"),
        openapi.get("additionalProperties"),
    ]
    return any(states_rules(schema) for schema in inner if isinstance(schema, Mapping))


class _Judge:
    """Walks an object along its schema; all rules together have one budget of steps."""

    def __init__(self) -> None:
        self.left = STEPS_IN_ALL

    def node(self, value: Any, openapi: OpenApi, path: str, old: Any) -> Iterator[FieldError]:
        if value is None:
            return
        for rule in openapi.get("x-kubernetes-validations") or ():
            if self.left >= 0:
                yield from self.rule(rule, value, openapi, path, old)
        if isinstance(value, dict):
            properties: Mapping[str, OpenApi] = openapi.get("properties") or {}
            others = openapi.get("additionalProperties")
            for key, item in value.items():
                inner = properties.get(key, others)
                if isinstance(inner, Mapping):
                    before = old.get(key, UNSAID) if isinstance(old, dict) else UNSAID
                    yield from self.node(item, inner, child(path, key), before)
        elif isinstance(value, list) and isinstance(items := openapi.get("items"), Mapping):
            for index, (item, before) in enumerate(zip(value, old_items(value, openapi, old), strict=True)):
                yield from self.node(item, items, f"{path}[{index}]", before)

    def rule(
        self, rule: Mapping[str, Any], value: Any, openapi: OpenApi, path: str, old: Any
    ) -> Iterator[FieldError]:
        kind = openapi.get("type", "")
        description = (rule.get("message") or rule.get("rule", "")).strip()
        variables = {"self": as_cel(value, openapi)}
        try:
            program = cel.compile_expression(rule.get("rule", ""))
            uses_old = "oldSelf" in program.names
            optional = bool(rule.get("optionalOldSelf"))
            if uses_old and old is UNSAID and not optional:
                return
            if optional:
                variables["oldSelf"] = Maybe() if old is UNSAID else Maybe((as_cel(old, openapi),))
            elif old is not UNSAID:
                variables["oldSelf"] = as_cel(old, openapi)
            holds = self.evaluate(program, variables)
        except cel.CelSyntaxError as fault:
            yield field_errors.invalid(path or "<nil>", kind, f"rule compile error: {fault}")
            return
        except CostExceeded as fault:
            self.left = -1
            why = f"'{fault}': no further validation rules will be run due to call cost exceeds limit for rule: {description}"
            yield field_errors.invalid(path or "<nil>", kind, why)
            return
        except cel.CelError as fault:
            yield field_errors.invalid(path or "<nil>", kind, _failure(str(fault), description))
            return
        unchanged = old is not UNSAID and old == value and not uses_old
        if holds is not True and not unchanged:
            detail = (
                self.message(rule, variables)
                or rule.get("message", "").strip()
                or f"failed rule: {description}"
            )
            where = f"{path}{rule.get('fieldPath', '')}".removeprefix(".") or "<nil>"
            yield _for_reason(rule.get("reason", ""), where, kind, detail)

    def evaluate(self, program: cel.Program, variables: Mapping[str, Any]) -> Any:
        budget = min(self.left, STEPS_PER_RULE)
        result, left = program.evaluate_counted(variables, budget)
        self.left -= budget - left
        return result

    def message(self, rule: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
        """What the rule's own expression says of the failure; empty if it says nothing usable."""
        if not (text := rule.get("messageExpression")):
            return ""
        try:
            said = self.evaluate(cel.compile_expression(text), variables)
        except cel.CelError:
            return ""
        usable = isinstance(said, str) and "\n" not in said.strip()
        return said.strip() if usable else ""


def _failure(fault: str, description: str) -> str:
    if fault.startswith("no such overload"):
        return f"'{fault}': call arguments did not match a supported operator, function or macro signature for rule: {description}"
    return f"{fault} evaluating rule: {description}"


def _for_reason(reason: str, path: str, kind: str, detail: str) -> FieldError:
    if reason == "FieldValueForbidden":
        return field_errors.forbidden(path, detail)
    if reason == "FieldValueRequired":
        return field_errors.required(path, detail)
    if reason == "FieldValueDuplicate":
        return field_errors.duplicate(path, kind)
    return field_errors.invalid(path, kind, detail)


_FORMATS = {"date-time": "timestamp", "date": "timestamp", "duration": "duration", "byte": "bytes"}


def as_cel(value: Any, openapi: OpenApi) -> Any:
    """A value as rules see it: text of some formats is a time, a duration or bytes."""
    if isinstance(value, dict):
        properties: Mapping[str, OpenApi] = openapi.get("properties") or {}
        others = openapi.get("additionalProperties")
        return {key: as_cel(item, _as_schema(properties.get(key, others))) for key, item in value.items()}
    if isinstance(value, list):
        items = _as_schema(openapi.get("items"))
        return [as_cel(item, items) for item in value]
    if isinstance(value, str) and openapi.get("format") in _FORMATS:
        try:
            return FUNCTIONS[_FORMATS[openapi["format"]]](value)
        except cel.CelError:
            return value
    if isinstance(value, int) and openapi.get("type") == "number" and not isinstance(value, bool):
        return float(value)
    return value


def _as_schema(openapi: Any) -> OpenApi:
    return openapi if isinstance(openapi, Mapping) else {}


def child(path: str, key: str) -> str:
    """The path of a field."""
    return f"{path}.{key}" if path else key


def old_items(value: list[Any], openapi: OpenApi, old: Any) -> list[Any]:
    """Return the old value of each item, or ``UNSAID``; only items of a ``map`` list can be matched."""
    keys = openapi.get("x-kubernetes-list-map-keys")
    if openapi.get("x-kubernetes-list-type") != "map" or not keys or not isinstance(old, list):
        return [UNSAID] * len(value)
    by_key = {_key_of(item, keys): item for item in old if isinstance(item, dict)}
    return [by_key.get(_key_of(item, keys), UNSAID) if isinstance(item, dict) else UNSAID for item in value]


def _key_of(item: Mapping[str, Any], keys: list[str]) -> str:
    return field_errors.format_value({key: item.get(key) for key in keys})
