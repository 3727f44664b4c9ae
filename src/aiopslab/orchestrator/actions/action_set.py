"""The actions that one session offers, and their execution.

Any error inside an action becomes a short message: no traceback, no internal names, no details of the host. Only an error
of the simulation itself is not an observation: it ends the run.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from aiopslab.orchestrator.action_names import SUBMIT
from aiopslab.orchestrator.actions.arguments import quote
from aiopslab.orchestrator.actions.environment_actions import join_names
from aiopslab.orchestrator.actions.observations import MAX_BYTES, MAX_LINES, limit_text
from aiopslab.orchestrator.actions.registry import Action, find_actions, find_similar
from aiopslab.utils import AIOpsLabError, InvalidActionError, pause_garbage_collection
from simcloud.sim import SimulationError

_logger = logging.getLogger(__name__)


class ActionSet:
    """A selection of an object's actions. ``offered`` are their names, in the order of the documentation."""

    def __init__(self, actions: object, offered: Sequence[str]) -> None:
        known = find_actions(actions)
        for name in offered:
            if name not in known:
                similar = find_similar(name, list(known))
                suggestion = f" Did you mean {similar[0]!r}?" if similar else ""
                raise ValueError(
                    f"{type(actions).__name__} has no action {name!r}.{suggestion} "
                    f"An action is a method with a docstring. Its actions: {join_names(list(known))}."
                )
        self.actions: dict[str, Action] = {name: known[name] for name in offered}

    @classmethod
    def of_author(cls, owner: object) -> ActionSet:
        """Return all actions of an author's object, which has its own documentation of ``submit`` or none."""
        return cls(owner, [name for name in find_actions(owner) if name != SUBMIT])

    @classmethod
    def of_actions(cls, actions: Mapping[str, Action]) -> ActionSet:
        """Return a set of these actions, in this order."""
        made = cls(object(), ())
        made.actions = dict(actions)
        return made

    @property
    def docs(self) -> dict[str, str]:
        """The documentation of each action."""
        return {name: action.documentation for name, action in self.actions.items()}

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON schema of each action's arguments."""
        return {name: action.schema for name, action in self.actions.items()}

    def perform(self, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> str:
        """Perform an action and return its observation; raises ``InvalidActionError`` for an unknown name or wrong arguments."""
        found = self.actions.get(name)
        if found is None:
            known = [*self.actions, SUBMIT]
            similar = find_similar(name, known)
            suggestion = f" Did you mean {' or '.join(similar)}?" if similar else ""
            raise InvalidActionError(
                f"There is no action {quote(name)}.{suggestion} Available actions: {', '.join(known)}."
            )
        arguments = found.bind_arguments(args, kwargs or {})
        try:
            with pause_garbage_collection():
                result = found.function(**arguments)
        except (InvalidActionError, SimulationError):
            raise
        except AIOpsLabError as error:
            result = error.message
        except Exception:
            _logger.exception("the action %s failed", name)
            result = f"Internal error in {name}; your call was valid. Vary the call, or use another action."
        return limit_text(_to_text(result), "request less at once", MAX_BYTES, MAX_LINES)


def _to_text(result: object) -> str:
    """Return an action's result as text that any record can hold."""
    text = result if isinstance(result, str) else str(result)
    return text.replace("\0", "").encode("utf-8", "replace").decode()
