"""All actions in one class. Problems select actions by name; users extend the class with their own.

An action is a method with a docstring; ``@action`` marks and checks it. A subclass may add actions with or without the
mark, and with or without ``self``: the papers write them as plain functions.

The classes are found, not listed: every class of this folder that has a method marked ``@action``.
"""

from __future__ import annotations

from aiopslab.orchestrator.actions.environment_actions import ActionsBase
from aiopslab.orchestrator.actions.registry import MARK
from aiopslab.utils import import_folder


def _find_classes() -> list[type[ActionsBase]]:
    """Import the modules of this folder; return their classes with actions, in reverse order of their modules' names.

    ``find_actions`` lists the actions of the last base class first.
    """
    modules = import_folder("aiopslab.orchestrator.actions")
    return [
        member
        for module in reversed(modules)
        for member in vars(module).values()
        if isinstance(member, type)
        and member.__module__ == module.__name__
        and issubclass(member, ActionsBase)
        and any(hasattr(method, MARK) for method in vars(member).values())
    ]


class TaskActions(*_find_classes()):  # type: ignore[misc]  # type checkers accept any action
    """All actions of an agent in an environment. One instance per session, with a terminal of its own."""
