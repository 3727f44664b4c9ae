"""A genuine helm that waits: a release's pods come up, break, are rolled back and go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simcloud.server.kubernetes.served import Served, cluster
from tests.simcloud.server.kubernetes.test_helm import CHART, Release

pytestmark = pytest.mark.live("helm", "kubectl")


@pytest.fixture
def release(tmp_path: Path) -> Iterator[Release]:
    for name, text in CHART.items():
        path = tmp_path / "chart" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with cluster(tmp_path, "--nodes", "2", "--speed", "10") as served:
        yield Release(served, tmp_path, "shop")


def images(served: Served) -> str:
    path = "jsonpath={.items[*].spec.containers[0].image}"
    return served.ok("get", "pods", "-n", "shop", "--field-selector=status.phase=Running", "-o", path)


def chart(release: Release) -> str:
    return str(release.folder / "chart")


def test_the_life_of_a_release(release: Release) -> None:
    _is_there_when_its_pods_are(release)
    _is_upgraded_when_its_rollout_is(release)
    _fails_when_it_never_becomes_ready_and_is_rolled_back(release)
    _leaves_nothing(release)


def _is_there_when_its_pods_are(release: Release) -> None:
    output = release.ok("install", "shop", chart(release), "--create-namespace", "--wait", "--timeout=240s")
    assert "STATUS: deployed" in output
    assert release.get("deployment")["status"]["readyReplicas"] == 1
    assert images(release.served) == "nginx:1.19"
    shown = release.ok("status", "shop", "--show-resources")
    assert "shop   1/1     1            1" in shown


def _is_upgraded_when_its_rollout_is(release: Release) -> None:
    release.ok("upgrade", "shop", chart(release), "--set", "replicas=2,image=nginx:latest", "--wait")
    assert release.get("deployment")["status"]["updatedReplicas"] == 2
    assert "nginx:latest" in images(release.served)


def _fails_when_it_never_becomes_ready_and_is_rolled_back(release: Release) -> None:
    failed = release.helm(
        "upgrade", "shop", chart(release), "--set", "image=nginx:nosuch", "--wait", "--timeout=3s"
    )
    assert failed.exit == 1
    assert failed.stderr.startswith("Error: UPGRADE FAILED: ")
    release.served.until(lambda output: "ImagePull" in output, "get", "pods", "-n", "shop")
    assert release.ok("rollback", "shop", "2", "--wait") == "Rollback was a success! Happy Helming!\n"
    history = json.loads(release.ok("history", "shop", "-o", "json"))
    assert [one["status"] for one in history] == ["superseded", "superseded", "failed", "deployed"]
    table = release.ok("list").splitlines()
    assert table[1].split()[:3] == ["shop", "shop", "4"]


def _leaves_nothing(release: Release) -> None:
    assert release.ok("uninstall", "shop", "--wait") == 'release "shop" uninstalled\n'
    assert release.ok("list").splitlines()[1:] == []
    release.served.ok("wait", "--for=delete", "pods", "-l", "app=shop", "-n", "shop", "--timeout=240s")
    assert release.served.kubectl("get", "all", "-n", "shop").stdout == ""
