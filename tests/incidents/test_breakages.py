"""Every breakage on its named target and on a drawn one: its signs are seen, and the usual repair heals.

All begin from one prepared world, each in a copy of its own. ``AIOPSLAB_DRAW=n`` draws other targets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from aiopslab.cloud.copies import Copy
from aiopslab.cloud.environment import Environment
from aiopslab.service.apps.hotelres import HotelReservation
from tests.incidents.breakage import Breakage, play

DRAW = int(os.environ.get("AIOPSLAB_DRAW", "1"))
MODULES = sorted(path.stem for path in (Path(__file__).parent / "cases").glob("[a-z]*.py"))


def catalogue() -> dict[str, Breakage]:
    """All breakages, by name."""
    found: dict[str, Breakage] = {}
    for module in MODULES:
        for one in import_module(f"tests.incidents.cases.{module}").BREAKAGES:
            assert one.name not in found, f"two breakages are called '{one.name}'"
            found[one.name] = one
    return found


def prepared(seed: int) -> Environment:
    """The hotels, with users on them, and all is well."""
    environment = Environment(HotelReservation(), seed)
    environment.settle()
    return environment


def break_and_heal(environment: Environment, name: str, target: str) -> str:
    """In a copy: play a breakage."""
    return play(environment, catalogue()[name], target)


@pytest.fixture(scope="module")
def baseline() -> Iterator[Copy[Environment]]:
    with Copy.of(prepared, 5) as copy:
        yield copy


@pytest.mark.parametrize("name", catalogue())
def test_on_the_named_target(baseline: Copy[Environment], name: str) -> None:
    with baseline.branch() as copy:
        copy.call(break_and_heal, name, catalogue()[name].targets[0])


@pytest.mark.parametrize("name", [name for name, one in catalogue().items() if len(one.targets) > 1])
def test_on_a_drawn_target(baseline: Copy[Environment], name: str) -> None:
    with baseline.branch() as copy:
        copy.call(break_and_heal, name, catalogue()[name].drawn(DRAW))


def test_the_catalogue_is_large_enough() -> None:
    assert len(catalogue()) >= 25
