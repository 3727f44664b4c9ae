"""Which defaults hold for which kind, and the few verbs that defaulting is written in.

``@defaults("apps", "Deployment")`` marks ``rule(obj)``, which fills in place what the user left out.
A rule may count on the right JSON types but not on the presence of anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from simcloud.kubernetes.api.objects import Object

Rule: TypeAlias = Callable[[Object], None]

DEFAULTS: dict[tuple[str, str], Rule] = {}
STATUS_DEFAULTS: dict[tuple[str, str], Rule] = {}
"""What of a kind's rule concerns its status alone."""


def defaults(group: str, *kinds: str) -> Callable[[Rule], Rule]:
    """Register the defaults of these kinds."""

    def register(rule: Rule) -> Rule:
        DEFAULTS.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def status_defaults(group: str, kind: str) -> Callable[[Rule], Rule]:
    """Register the defaults of a kind's status. The kind's own rule must call them."""

    def register(rule: Rule) -> Rule:
        STATUS_DEFAULTS[group, kind] = rule
        return rule

    return register


def fill(target: Object, **values: Any) -> None:
    """Set each field that is not there yet."""
    for name, value in values.items():
        target.setdefault(name, value)


def part(target: Object, name: str) -> Object:
    """A part of an object, made empty where it is missing."""
    found: Object = target.setdefault(name, {})
    return found


def each(target: Object, name: str) -> Iterator[Object]:
    """The items of a list of parts; nothing where the list is missing or printed as null."""
    yield from target.get(name) or ()
