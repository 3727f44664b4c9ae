from __future__ import annotations

import pytest

from aiopslab.cluster.api.store import RevisionLog
from tests.cluster.api.frozen import freeze
from tests.cluster.scheduler.world import World


@pytest.fixture(autouse=True)
def frozen_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(freeze))


@pytest.fixture
def world() -> World:
    return World()
