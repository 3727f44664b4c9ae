from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.server.kubernetes.cluster_server import ClusterServer
from tests.simcloud.server.kubernetes.served import NEW, Served
from tests.simcloud.server.kubernetes.streams.world import PodRuntime, make_world, serving


@dataclass(frozen=True)
class World:
    """A served cluster with pods that run, from both sides of the glass."""

    api: Api
    runtime: PodRuntime
    server: ClusterServer
    folder: Path


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("streams")
    api, runtime = make_world()
    with serving(folder, api) as server:
        yield World(api, runtime, server, folder)


@pytest.fixture(params=NEW)
def client(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Served:
    """Each of the new kubectls in turn."""
    return Served(world.folder / "kubeconfig", tmp_path, request.param)
