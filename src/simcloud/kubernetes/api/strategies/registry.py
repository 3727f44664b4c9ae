"""What a kind does on a write beyond the common rules. A rule is registered by its decorator.

``@on_create("", "Pod")`` marks ``rule(obj)``, ``@on_update`` and ``@on_status_update`` mark
``rule(new, old)``. All change the new object in place and never the old one, which is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from simcloud.kubernetes.api.objects import Object, copy

CreateRule: TypeAlias = Callable[[Object], None]
UpdateRule: TypeAlias = Callable[[Object, Object], None]

CREATE: dict[tuple[str, str], CreateRule] = {}
UPDATE: dict[tuple[str, str], UpdateRule] = {}
STATUS_UPDATE: dict[tuple[str, str], UpdateRule] = {}


def on_create(group: str, *kinds: str) -> Callable[[CreateRule], CreateRule]:
    """Register what these kinds do when they are created."""

    def register(rule: CreateRule) -> CreateRule:
        CREATE.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def on_update(group: str, *kinds: str) -> Callable[[UpdateRule], UpdateRule]:
    """Register what these kinds do when they are updated."""

    def register(rule: UpdateRule) -> UpdateRule:
        UPDATE.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def on_status_update(group: str, *kinds: str) -> Callable[[UpdateRule], UpdateRule]:
    """Register what these kinds do when their status is updated."""

    def register(rule: UpdateRule) -> UpdateRule:
        STATUS_UPDATE.update({(group, kind): rule for kind in kinds})
        return rule

    return register


def take(new: Object, old: Object, *fields: str) -> None:
    """Set fields to what they were, or remove them where they were not."""
    for field in fields:
        if field in old:
            new[field] = copy(old[field])
        else:
            new.pop(field, None)


def share(new: Object, old: Object, *fields: str) -> None:
    """Set fields to what they were without copying them, for fields that no later rule changes."""
    for field in fields:
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)


def keep(new: Object, old: Object, *fields: str) -> None:
    """Set fields that the writer left out to what they were."""
    for field in fields:
        if field in old and not new.get(field):
            new[field] = copy(old[field])
