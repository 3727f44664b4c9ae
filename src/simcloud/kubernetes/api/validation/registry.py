"""Which rules hold for which kind. A rule is a function registered by its decorator.

``@validates("apps", "Deployment")`` marks ``rule(new, old) -> list[FieldError]``: ``old`` is None for a
creation. Metadata is checked for every kind by ``metadata.py`` and need not be checked again.
``@validates_status`` marks the rule of a kind's status subresource, ``@warns`` what a write is warned of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.objects import Object

Rule: TypeAlias = Callable[[Object, Object | None], list[FieldError]]
StatusRule: TypeAlias = Callable[[Object, Object], list[FieldError]]
Warner: TypeAlias = Callable[[Object, Object | None], list[str]]

RULES: dict[tuple[str, str], Rule] = {}
STATUS_RULES: dict[tuple[str, str], StatusRule] = {}
WARNINGS: dict[tuple[str, str], Warner] = {}


def validates(group: str, *kinds: str) -> Callable[[Rule], Rule]:
    """Register the rule of these kinds."""

    def register(rule: Rule) -> Rule:
        RULES.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def validates_status(group: str, *kinds: str) -> Callable[[StatusRule], StatusRule]:
    """Register the rule of these kinds' status."""

    def register(rule: StatusRule) -> StatusRule:
        STATUS_RULES.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def warns(group: str, *kinds: str) -> Callable[[Warner], Warner]:
    """Register what a write of these kinds is warned of."""

    def register(warning: Warner) -> Warner:
        WARNINGS.update({(group, kind): warning for kind in kinds})
        return warning

    return register
