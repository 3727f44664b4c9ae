"""A cluster in which things run, crash, wait and end, described by both kubectls: equal to the byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.kubernetes.cluster import Cluster
from tests.simcloud.kubectl.describe.comparing import RESOURCES, difference
from tests.simcloud.kubectl.describe.worlds import living
from tests.simcloud.kubectl.genuine import standing
from tests.simcloud.server.kubernetes.served import Served

pytestmark = pytest.mark.differential("kubectl")


@pytest.fixture(scope="module")
def world() -> Cluster:
    return living()


@pytest.fixture(scope="module")
def served(world: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with standing(world.api, tmp_path_factory.mktemp("living")) as served:
        yield served


@pytest.mark.parametrize("resource", [one for one in RESOURCES if not one.startswith("events")])
def test_all_of_a_kind(world: Cluster, served: Served, resource: str) -> None:
    assert difference(world.api, served, resource) == ""
