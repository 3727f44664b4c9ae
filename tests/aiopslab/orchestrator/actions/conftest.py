"""The hotels when they are ill, for all tests of actions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.cloud.environment import Environment
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import HOTEL, broken


@pytest.fixture(scope="package")
def ill(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    """The rate service is refused by its database and restarts again and again; geo has been scaled away."""
    drop = """mongo admin -u admin -p admin --quiet --eval 'db.dropUser("admin")'"""
    with hotels.branch(
        broken,
        f"kubectl -n {HOTEL} exec deploy/mongodb-rate -- {drop}",
        f"kubectl -n {HOTEL} rollout restart deploy/rate",
        f"kubectl -n {HOTEL} scale deploy/geo --replicas=0",
    ) as copy:
        yield copy
