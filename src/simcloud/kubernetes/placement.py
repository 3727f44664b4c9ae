"""Conditions for a pod on a node: tolerations of its taints, and terms of node affinity."""

from __future__ import annotations

from collections.abc import Mapping

from simcloud.kubernetes.api.objects import Object


def tolerates(toleration: Object, taint: Object) -> bool:
    """Whether a toleration fits a taint."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    key = toleration.get("key") or ""
    operator = toleration.get("operator") or "Equal"
    if not key:
        return operator == "Exists"
    if key != taint["key"]:
        return False
    return operator == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")


def meets_term(term: Object, name: str, labels: Mapping[str, str]) -> bool:
    """Whether a node of this name and these labels meets all of a term; an empty term is met by none."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(_holds(expression, labels.get(expression["key"])) for expression in expressions) and all(
        _holds(field, name) for field in fields
    )


def _holds(expression: Object, value: str | None) -> bool:
    values: list[str] = expression.get("values") or []
    match expression["operator"]:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    try:
        number, limit = int(value or ""), int(values[0])
    except ValueError:
        return False
    return number > limit if expression["operator"] == "Gt" else number < limit
