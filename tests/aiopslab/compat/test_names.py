"""Every name of the public AIOpsLab release that the page lists is there, and is used on a cloud."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.service import current
from aiopslab.service.apps.hotelres import HotelReservation
from aiopslab.service.kubectl import KubeCtl
from tests.aiopslab.compat.names import NAMES, Name, load

USES = list(dict.fromkeys(name.use for name in NAMES))


@pytest.fixture(scope="module")
def cloud() -> Iterator[None]:
    before = current._LATEST[:]
    current._LATEST[:] = []
    app = HotelReservation()
    app.deploy()
    assert app.cloud is current.find_cloud()
    yield
    current._LATEST[:] = before


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.module)
def test_a_name_is_there(name: Name) -> None:
    assert load(name)
    source = inspect.getsource(name.use)
    generated = ".problems." in name.module and not name.module.endswith("registry")
    assert generated or name.module == "aiopslab.paths" or all(each in source for each in name.names)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_names_are_used(use: object, cloud: None, tmp_path: Path) -> None:
    use(tmp_path)  # type: ignore[operator]


def test_a_client_without_a_cloud_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "_LATEST", [])
    with pytest.raises(
        current.NoCloud, match=r"KubeCtl has no cloud to act on.*Orchestrator\(\)\.init_problem"
    ):
        KubeCtl().list_namespaces()


def test_an_agent_s_command_reads_no_file_of_this_host(cloud: None, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leak}\n")
    assert "does not exist" in KubeCtl().exec_command(f"kubectl apply -f {secret}")
    with current.at_cloud(current.find_cloud()):
        assert "created" in KubeCtl().exec_command(f"kubectl apply -f {secret}")
