"""Worlds that many tests begin with. Each is deployed once in a process of pytest, and a test changes a copy of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from aiopslab.apps import load_applications
from aiopslab.cloud import Environment
from aiopslab.orchestrator import PreparedProblem
from aiopslab.orchestrator.stages import Stages
from simcloud.world import Copy
from tests.aiopslab.cli.posed_world import posed

SEED = 3


def settle(app: str) -> Environment:
    environment = Environment(load_applications()[app](), SEED)
    environment.settle()
    return environment


@pytest.fixture(scope="session")
def hotels() -> Iterator[Copy[Environment]]:
    """The hotels, with users on them, and all is well."""
    with Copy.of(settle, "hotel-reservation") as copy:
        yield copy


@pytest.fixture(scope="session")
def network() -> Iterator[Copy[Environment]]:
    """The social network, with users on it, and all is well."""
    with Copy.of(settle, "social-network") as copy:
        yield copy


@pytest.fixture(scope="session")
def stages() -> Iterator[Stages]:
    """Prepared problems of one seed."""
    with Stages(seed=5) as stages:
        yield stages


@pytest.fixture(scope="session")
def copy_problem() -> Iterator[Callable[[str], Copy[PreparedProblem]]]:
    """Returns the process that holds a problem, prepared as commands do it; its tests change branches of it."""
    with ExitStack() as stack:
        yield cache(lambda pid: stack.enter_context(Copy.of(posed, pid)))
