"""The applications' manifests under genuine kubectl: the served API takes every one, and one that is wrong it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

import pytest

from aiopslab.apps.base import Application
from aiopslab.apps.hotelres import HotelReservation
from tests.simcloud.server.kubernetes.served import NEW, Served, cluster

pytestmark = pytest.mark.differential("kubectl")

APPS: tuple[Application, ...] = (HotelReservation(),)
DRY_RUN = ("apply", "--dry-run=server", "--validate=strict")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("apps"), "--nodes", "1") as up:
        for app in APPS:  # a dry run makes no namespace for what follows in it
            up.ok("create", "namespace", app.namespace)
        yield up


@pytest.fixture(params=NEW)
def operator(request: pytest.FixtureRequest, served: Served) -> Served:
    return replace(served, version=request.param)


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.name)
def test_every_manifest_passes_a_dry_run(operator: Served, app: Application) -> None:
    folder = files(type(app).__module__.rpartition(".")[0]) / "manifests"
    done = operator.kubectl(*DRY_RUN, "-f", str(folder))
    lines = done.stdout.splitlines()
    assert done.exit == 0, done.stderr
    assert len(lines) == len(app.manifests())
    assert all(line.endswith(" created (server dry run)") for line in lines[1:])


def test_a_wrong_field_is_refused(operator: Served) -> None:
    text = APPS[0].manifest_files["geo.yaml"].replace("replicas: 1", "replica: 1")
    done = operator.kubectl(*DRY_RUN, "-f", "-", stdin=text)
    assert done.exit == 1
    assert 'unknown field "spec.replica"' in done.stderr
