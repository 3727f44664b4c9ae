"""One prepared world, well and ill, for all tests of actions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.cloud.environment import Environment
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import HOTEL, broken, hotel, social


@pytest.fixture(scope="package")
def well() -> Iterator[Copy[Environment]]:
    with Copy.of(hotel, 3) as copy:
        yield copy


@pytest.fixture(scope="package")
def network() -> Iterator[Copy[Environment]]:
    with Copy.of(social, 3) as copy:
        yield copy


@pytest.fixture(scope="package")
def ill(well: Copy[Environment]) -> Iterator[Copy[Environment]]:
    """The rate service is refused by its database and restarts again and again; geo has been scaled away."""
    drop = """mongo admin -u admin -p admin --quiet --eval 'db.dropUser("admin")'"""
    with well.branch(
        broken,
        f"kubectl -n {HOTEL} exec deploy/mongodb-rate -- {drop}",
        f"kubectl -n {HOTEL} rollout restart deploy/rate",
        f"kubectl -n {HOTEL} scale deploy/geo --replicas=0",
    ) as copy:
        yield copy
