"""Every breakage on its named target and on a drawn one: its signs are seen, and the usual repair heals.

All of an application begin from one prepared world, each in a copy of its own. ``AIOPSLAB_DRAW=n`` draws other targets,
``AIOPSLAB_DRAW=all`` takes every one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from aiopslab.cloud.environment import Environment
from simcloud.world.copies import Copy
from tests.incidents.breakage import play
from tests.incidents.catalogue import APPS, catalogue, known

DRAW = os.environ.get("AIOPSLAB_DRAW", "1")
LEAST = {"hotels": 80, "social": 55}


def prepared(app: str, seed: int) -> Environment:
    """An application with users on it, and all is well."""
    fresh = known(app).app
    fresh.past = None  # type: ignore[misc]  # every workload has one pod, so that a breakage hits all of it
    environment = Environment(fresh, seed)
    environment.settle()
    return environment


def break_and_heal(environment: Environment, app: str, name: str, target: str) -> str:
    """In a copy: play a breakage."""
    return play(environment, known(app), catalogue(app)[name], target)


def plays() -> Iterator[object]:
    """Which breakage is played on which target."""
    for app in APPS:
        for name, one in catalogue(app).items():
            drawn = one.targets[1:] if DRAW == "all" else one.drawn(int(DRAW))
            for target in (one.targets[0], *drawn):
                yield pytest.param(app, name, target, id=f"{app}-{name}-{target}")


@pytest.fixture(scope="module")
def baseline() -> Iterator[Callable[[str], Copy[Environment]]]:
    """The prepared world of an application, made when it is first asked for."""
    with ExitStack() as stack:
        yield cache(lambda app: stack.enter_context(Copy.of(prepared, app, 5)))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("app", "name", "target"), list(plays()))
def test_it_is_seen_and_heals(
    baseline: Callable[[str], Copy[Environment]], app: str, name: str, target: str
) -> None:
    with baseline(app).branch() as copy:
        copy.call(break_and_heal, app, name, target)


@pytest.mark.parametrize("app", APPS)
def test_the_catalogue_is_large_enough(app: str) -> None:
    assert len(catalogue(app)) >= LEAST[app]
