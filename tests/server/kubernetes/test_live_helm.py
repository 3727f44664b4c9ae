"""A genuine helm that waits: a release's pods come up, break, are rolled back and go."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.server.kubernetes.served import Served, cluster
from tests.server.kubernetes.test_helm import CHART, Release

pytestmark = pytest.mark.differential("kubectl")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    folder = tmp_path_factory.mktemp("helm")
    for name, text in CHART.items():
        path = folder / "chart" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with cluster(folder, "--nodes", "2", "--speed", "10") as served:
        yield Release(served, folder, "shop")


def images(served: Served) -> str:
    path = "jsonpath={.items[*].spec.containers[0].image}"
    return served.ok("get", "pods", "-n", "shop", "--field-selector=status.phase=Running", "-o", path)


def chart(release: Release) -> str:
    return str(release.folder / "chart")


def test_a_release_is_there_when_its_pods_are(release: Release) -> None:
    told = release.ok("install", "shop", chart(release), "--create-namespace", "--wait", "--timeout=240s")
    assert "STATUS: deployed" in told
    assert release.get("deployment")["status"]["readyReplicas"] == 1  # type: ignore[index]
    assert images(release.served) == "nginx:1.19"
    shown = release.ok("status", "shop", "--show-resources")
    assert "shop   1/1     1            1" in shown


def test_an_upgrade_waits_for_the_rollout(release: Release) -> None:
    release.ok("upgrade", "shop", chart(release), "--set", "replicas=2,image=nginx:latest", "--wait")
    assert release.get("deployment")["status"]["updatedReplicas"] == 2  # type: ignore[index]
    assert "nginx:latest" in images(release.served)


def test_an_upgrade_that_never_becomes_ready_fails_and_is_rolled_back(release: Release) -> None:
    failed = release.helm(
        "upgrade", "shop", chart(release), "--set", "image=nginx:nosuch", "--wait", "--timeout=3s"
    )
    assert failed.exit == 1
    assert failed.stderr.startswith("Error: UPGRADE FAILED: ")
    release.served.until(lambda told: "ImagePull" in told, "get", "pods", "-n", "shop")
    assert release.ok("rollback", "shop", "2", "--wait") == "Rollback was a success! Happy Helming!\n"
    history = json.loads(release.ok("history", "shop", "-o", "json"))
    assert [one["status"] for one in history] == ["superseded", "superseded", "failed", "deployed"]
    table = release.ok("list").splitlines()
    assert table[1].split()[:3] == ["shop", "shop", "4"]


def test_an_uninstalled_release_leaves_nothing(release: Release) -> None:
    assert release.ok("uninstall", "shop", "--wait") == 'release "shop" uninstalled\n'
    assert release.ok("list").splitlines()[1:] == []
    release.served.ok("wait", "--for=delete", "pods", "-l", "app=shop", "-n", "shop", "--timeout=240s")
    assert release.served.kubectl("get", "all", "-n", "shop").stdout == ""
