"""Marks of actions, and the actions of a task, by the names of the public AIOpsLab release."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import getdoc
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def action(method: F) -> F:
    """Mark a method as an action."""
    setattr(method, "is_action", True)  # noqa: B010 (functions have no such attribute for type checkers)
    return method


def read(method: F) -> F:
    """Mark a method as an action that only reads."""
    setattr(method, "action_type", "read")  # noqa: B010
    return action(method)


def write(method: F) -> F:
    """Mark a method as an action that changes something."""
    setattr(method, "action_type", "write")  # noqa: B010
    return action(method)


def get_actions(task: str, subtype: str | None = None) -> dict[str, str]:
    """Return the documentation of each action of a task, such as "detection"; of one subtype ("read", "write") if given."""
    kind = getattr(import_module(f"aiopslab.orchestrator.actions.{task}"), f"{task.title()}Actions")
    members = {name: getattr(kind, name) for name in dir(kind)}
    return {
        name: getdoc(member) or ""
        for name, member in members.items()
        if getattr(member, "is_action", False) and subtype in (None, getattr(member, "action_type", None))
    }
