from __future__ import annotations

import pytest

from simcloud.kubernetes.api.access.users import AUTHENTICATED_GROUP, NODES_GROUP, User
from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.cluster import Cluster
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.frozen import freeze
from tests.simcloud.kubernetes.bare import without_loops


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
    namespaces = cluster.api.catalogue.find("namespaces")
    cluster.api.create(namespaces, "", {"metadata": {"name": "demo"}})
    return cluster


def node_user(name: str) -> User:
    """The kubelet of a node as a user."""
    return User(f"system:node:{name}", groups=(NODES_GROUP, AUTHENTICATED_GROUP))
