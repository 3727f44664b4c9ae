"""A second opinion on queries and updates: slow, plain, and written without looking at the engine.

It knows flat documents with numbers, strings, nulls and arrays of numbers, and the operators that make
sense on them.
"""

from __future__ import annotations

from typing import Any

Flat = dict[str, Any]
NUMBER, TEXT = "number", "text"


def kind(value: Any) -> str:
    """The type that comparisons stay within."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return NUMBER
    return "null" if value is None else TEXT if isinstance(value, str) else "array"


def candidates(document: Flat, field: str) -> list[Any]:
    """What a condition may be about: the value, and the elements if it is an array."""
    if field not in document:
        return []
    value = document[field]
    return [value, *value] if isinstance(value, list) else [value]


def holds(document: Flat, field: str, operator: str, wanted: Any) -> bool:
    """Whether one operator is satisfied."""
    there = candidates(document, field)
    if operator == "$eq":
        return (wanted is None and not there) or any(kind(x) == kind(wanted) and x == wanted for x in there)
    if operator == "$ne":
        return not holds(document, field, "$eq", wanted)
    if operator == "$in":
        return any(holds(document, field, "$eq", each) for each in wanted)
    if operator == "$nin":
        return not holds(document, field, "$in", wanted)
    if operator == "$exists":
        return (field in document) == wanted
    if operator == "$size":
        return isinstance(document.get(field), list) and len(document[field]) == wanted
    tests = {
        "$gt": lambda x: x > wanted,
        "$gte": lambda x: x >= wanted,
        "$lt": lambda x: x < wanted,
        "$lte": lambda x: x <= wanted,
    }
    return any(kind(x) == kind(wanted) and tests[operator](x) for x in there)


def matches(document: Flat, query: Flat) -> bool:
    """Whether a document satisfies a query."""
    for field, wanted in query.items():
        if field == "$and":
            good = all(matches(document, each) for each in wanted)
        elif field == "$or":
            good = any(matches(document, each) for each in wanted)
        elif field == "$nor":
            good = not any(matches(document, each) for each in wanted)
        elif isinstance(wanted, dict) and "$not" in wanted:
            good = not matches(document, {field: wanted["$not"]})
        elif isinstance(wanted, dict):
            good = all(holds(document, field, operator, value) for operator, value in wanted.items())
        else:
            good = holds(document, field, "$eq", wanted)
        if not good:
            return False
    return True
