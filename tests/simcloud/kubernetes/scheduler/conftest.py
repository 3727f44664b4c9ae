from __future__ import annotations

import pytest

from simcloud.kubernetes.api.store import RevisionLog
from tests.simcloud.kubernetes.api.frozen import freeze
from tests.simcloud.kubernetes.scheduler.world import World


@pytest.fixture(autouse=True)
def frozen_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(freeze))


@pytest.fixture
def world() -> World:
    return World()
