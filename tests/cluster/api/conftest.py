from __future__ import annotations

import pytest

from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.store import RevisionLog
from aiopslab.cluster.cluster import Cluster
from aiopslab.sim import Kernel
from tests.cluster.api.frozen import freeze
from tests.cluster.bare import without_loops


@pytest.fixture(autouse=True)
def frozen_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored cannot be changed: a flow that forgets to copy fails here."""
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(freeze))


@pytest.fixture
def api() -> Api:
    """The API of a fresh cluster, with what every cluster has and a namespace ``demo``."""
    return demo_cluster(Kernel(1)).api


def demo_cluster(kernel: Kernel) -> Cluster:
    cluster = Cluster(kernel)
    without_loops(cluster.api)
    namespaces = cluster.api.catalogue.named("namespaces")
    cluster.api.create(namespaces, "", {"metadata": {"name": "demo"}})
    return cluster
