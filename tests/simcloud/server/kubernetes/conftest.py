from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest

from tests.simcloud.server.kubernetes.served import NEW, Served, cluster


@pytest.fixture(scope="session")
def served_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("cluster"), "--api-only") as served:
        yield served


@pytest.fixture(scope="module", params=NEW)
def served(request: pytest.FixtureRequest, served_cluster: Served) -> Served:
    """The cluster, by each of the new clients in turn."""
    return replace(served_cluster, version=request.param)


_NUMBERS = count(1)


@pytest.fixture
def space(served: Served) -> str:
    """A namespace of this test's own."""
    name = f"test-{next(_NUMBERS)}"
    served.ok("create", "namespace", name)
    # Pods need the account; where its controller runs, it may have been faster.
    served.kubectl("create", "serviceaccount", "default", "-n", name)
    return name
