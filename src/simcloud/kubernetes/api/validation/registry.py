"""Which rules hold for which kind. A rule is a function registered by its decorator.

``@validates("apps", "Deployment")`` marks ``rule(new, old) -> list[FieldError]``: ``old`` is None for a
creation. Metadata is checked for every kind by ``metadata.py`` and need not be checked again.
``@warns`` marks what a write is warned of. A status is written by controllers and kubelets and has no rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from simcloud.kubernetes.api.field_errors import FieldError
from simcloud.kubernetes.api.objects import Object

Rule: TypeAlias = Callable[[Object, Object | None], list[FieldError]]
Warner: TypeAlias = Callable[[Object, Object | None], list[str]]

RULES: dict[tuple[str, str], Rule] = {}
WARNINGS: dict[tuple[str, str], Warner] = {}


def validates(group: str, *kinds: str) -> Callable[[Rule], Rule]:
    """Register the rule of these kinds."""

    def register(rule: Rule) -> Rule:
        RULES.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def warns(group: str, *kinds: str) -> Callable[[Warner], Warner]:
    """Register what a write of these kinds is warned of."""

    def register(warning: Warner) -> Warner:
        WARNINGS.update({(group, kind): warning for kind in kinds})
        return warning

    return register
