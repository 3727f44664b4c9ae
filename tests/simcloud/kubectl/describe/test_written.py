"""Objects with every field that a description shows, described by both kubectls: equal to the byte."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.kubectl.describe.registry import DESCRIBERS
from simcloud.kubernetes.cluster import Cluster
from tests.simcloud.kubectl.describe.comparing import RESOURCES, difference
from tests.simcloud.kubectl.describe.worlds import written
from tests.simcloud.kubectl.genuine import standing
from tests.simcloud.server.kubernetes.served import Served

pytestmark = pytest.mark.differential("kubectl")


@pytest.fixture(scope="module")
def world() -> Cluster:
    return written()


@pytest.fixture(scope="module")
def served(world: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with standing(world.api, tmp_path_factory.mktemp("written")) as served:
        yield served


@pytest.mark.parametrize("resource", [*RESOURCES, "widgets.example.com"])
def test_all_of_a_kind(world: Cluster, served: Served, resource: str) -> None:
    assert difference(world.api, served, resource) == ""


def test_every_kind_with_a_description_of_its_own_is_compared(world: Cluster) -> None:
    there = {(one.group, one.kind) for one in world.api.catalogue if world.api.list(one, None)["items"]}
    assert set(DESCRIBERS) <= there
