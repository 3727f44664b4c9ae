"""The actions that one session offers, and the one door through which they are performed.

Whatever goes wrong inside an action comes out as a bounded sentence: no traceback, no name of ours, nothing of the host.
Only a defect of the simulated world is no observation; it ends the run.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from aiopslab.orchestrator.actions.arguments import quoted
from aiopslab.orchestrator.actions.base import listed
from aiopslab.orchestrator.actions.bounds import MOST_BYTES, MOST_LINES, bounded
from aiopslab.orchestrator.actions.registry import Action, actions_of, nearest
from aiopslab.utils.status import AIOpsLabError, InvalidActionError
from simcloud.sim import SimulationError

SUBMIT: Final = "submit"
"""What every session has besides: it ends it, and is no matter of this set."""

_logger = logging.getLogger(__name__)


class ActionSet:
    """Some of an object's actions. ``offered`` are their names, in the order in which they are told."""

    def __init__(self, actions: object, offered: Sequence[str]) -> None:
        known = actions_of(actions)
        for name in offered:
            if name not in known:
                near = nearest(name, list(known))
                meant = f" Did you mean {near[0]!r}?" if near else ""
                raise ValueError(
                    f"{type(actions).__name__} has no action {name!r}.{meant} "
                    f"An action is a method with a docstring. There are: {listed(list(known))}."
                )
        self.actions: dict[str, Action] = {name: known[name] for name in offered}

    @property
    def docs(self) -> dict[str, str]:
        """What an agent is told of each action."""
        return {name: one.documentation for name, one in self.actions.items()}

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON schema of each action's arguments."""
        return {name: one.schema for name, one in self.actions.items()}

    def perform(self, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> str:
        """Do it, and return what is to be seen; ``InvalidActionError`` when it is no action or is called wrongly."""
        found = self.actions.get(name)
        if found is None:
            known = [*self.actions, SUBMIT]
            near = nearest(name, known)
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            raise InvalidActionError(
                f"There is no action {quoted(name)}.{meant} There are: {', '.join(known)}."
            )
        given = found.arguments(args, kwargs or {})
        try:
            with _undisturbed():
                told = found.function(**given)
        except (InvalidActionError, SimulationError):
            raise
        except AIOpsLabError as error:
            told = error.message
        except Exception:
            _logger.exception("the action %s failed", name)
            told = f"{name} failed inside; that is no fault of your call. Try it otherwise, or use another action."
        return bounded(_readable(told), "ask for less at once", MOST_BYTES, MOST_LINES)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No garbage collection meanwhile: a world's heap is large, and when one comes must not depend on what is read."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _readable(told: object) -> str:
    """What an action returned, as text that any record can hold."""
    text = told if isinstance(told, str) else str(told)
    return text.replace("\0", "").encode("utf-8", "replace").decode()
