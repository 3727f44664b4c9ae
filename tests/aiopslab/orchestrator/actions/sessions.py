"""Sessions in copies of a prepared world that go in by the door."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.actions import ActionSet, TaskActions
from aiopslab.orchestrator.actions.registry import find_actions
from aiopslab.utils.status import InvalidActionError
from simcloud.world.copies import Copy
from simcloud.world.policies import POLICIES

HOTEL = "test-hotel-reservation"
SOCIAL = "test-social-network"
Call = tuple[Any, ...]
"""The name of an action and its arguments; a dict at the end are those by name."""


def session(environment: Environment, policy: str = "admin") -> ActionSet:
    """All actions there are."""
    actions = TaskActions(environment, POLICIES[policy])
    return ActionSet(actions, list(find_actions(actions)))


def perform(actions: ActionSet, call: Call) -> str:
    """One call; a wrong one is told with a mark before it."""
    name, *args = call
    kwargs = args.pop() if args and isinstance(args[-1], dict) else {}
    try:
        return actions.perform(name, args, kwargs)
    except InvalidActionError as error:
        return f"INVALID: {error}"


def told(environment: Environment, calls: Sequence[Call], policy: str = "admin") -> list[str]:
    """The observations of a session; ``{}`` in an argument stands for the path that was told last."""
    actions = session(environment, policy)
    out: list[str] = []
    path = ""
    for name, *args in calls:
        seen = perform(
            actions, (name, *(one.replace("{}", path) if isinstance(one, str) else one for one in args))
        )
        found = re.search(r"/root/(?:metrics|traces)/[\w./-]*\w", seen)
        path = found[0] if found else path
        out.append(seen)
    return out


def broken(environment: Environment, *lines: str) -> None:
    """Type what breaks it, and let the trouble spread."""
    for line in lines:
        environment.operate(line)
    environment.run_for(60)


def spent(environment: Environment, call: Call, policy: str = "admin") -> tuple[str, float]:
    """An observation, and the virtual seconds it took."""
    actions = session(environment, policy)
    before = environment.now
    seen = perform(actions, call)
    return seen, environment.now - before


def say(copy: Copy[Environment], *calls: Call, policy: str = "admin") -> list[str]:
    """The observations of a session in a copy of its own."""
    with copy.branch() as episode:
        return episode.call(told, calls, policy)
