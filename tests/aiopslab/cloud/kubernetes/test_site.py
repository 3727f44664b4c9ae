"""A site's copy of a cluster's objects, its clock, and how it leaves the cluster, without nodes that could run anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.kubernetes import ClusterFailed, KubernetesOptions, KubernetesSite
from aiopslab.cloud.kubernetes.operator_shell import KUBECTL
from simcloud.kubernetes.api import Key, times
from tests.simcloud.server.kubernetes.served import CLIENTS, CURRENT, Served, cluster

SPEED = 5.0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(
        tmp_path_factory.mktemp("cluster"), "--api-only", "--nodes", "1", "--speed", f"{SPEED}"
    ) as found:
        found.ok("create", "namespace", "shop")
        found.ok("-n", "shop", "create", "configmap", "prices", "--from-literal=tea=3")
        found.ok("-n", "shop", "create", "configmap", "opening", "--from-literal=hour=9")
        yield found


@pytest.fixture(scope="module", autouse=True)
def kubectl() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KUBECTL, str(CLIENTS / f"kubectl-{CURRENT}"))
        yield


@pytest.fixture(scope="module")
def site(served: Served, kubectl: None) -> Iterator[KubernetesSite]:
    opened = KubernetesSite(HotelReservation(), KubernetesOptions(served.kubeconfig))
    yield opened
    opened.close()


def test_a_change_is_seen_at_once(served: Served, site: KubernetesSite) -> None:
    served.ok("-n", "shop", "create", "configmap", "new", "--from-literal=a=b")
    key = Key("", "configmaps", "shop", "new")
    assert site.read_declared()[key]["data"] == {"a": "b"}
    served.ok("-n", "shop", "delete", "configmap", "new")
    assert site.find("configmaps", "new", "shop") is None
    assert key not in site.read_declared()


def test_a_watch_shows_what_came_and_went(served: Served, site: KubernetesSite) -> None:
    began_s = site.now
    served.ok("-n", "shop", "create", "serviceaccount", "guest")
    served.ok("-n", "shop", "delete", "serviceaccount", "guest")
    changes: list[str] = []
    while changes != ["ADDED", "DELETED"]:
        site.run_for(1.0)
        history = site.cluster.api.log.history(lambda key: key.name == "guest", since_s=began_s)
        changes = [write.change for write in history]
        assert site.now < began_s + 1000 * SPEED, changes


def test_time_is_the_clusters_own(served: Served, site: KubernetesSite) -> None:
    began_s, began = site.now, site.cluster.api.now_s
    site.run_for(20.0)
    assert site.now >= began_s + 20.0
    served.ok("-n", "shop", "create", "configmap", "later")
    found = site.find("configmaps", "later", "shop")
    assert found is not None
    # The cluster's clock has passed as much time, but for what its host was too busy for.
    assert times.parse(found["metadata"]["creationTimestamp"]) > began + 10.0


def test_the_cluster_is_left_as_it_was_found(served: Served) -> None:
    site = KubernetesSite(HotelReservation(), KubernetesOptions(served.kubeconfig))
    try:
        site.run('kubectl -n shop patch configmap prices -p \'{"data": {"tea": "400"}}\'')
        site.run("kubectl -n shop delete configmap opening")
        site.run("kubectl create clusterrole everything --verb='*' --resource='*.*'")
        site.run("kubectl cordon $(kubectl get nodes -o name | head -n 1)")
    finally:
        site.close()
    assert served.ok("-n", "shop", "get", "configmap", "prices", "-o", "jsonpath={.data.tea}") == "3"
    assert served.ok("-n", "shop", "get", "configmap", "opening", "-o", "jsonpath={.data.hour}") == "9"
    assert "not found" in served.kubectl("get", "clusterrole", "everything").stderr
    assert "SchedulingDisabled" not in served.ok("get", "nodes")


def test_a_namespace_that_exists_is_not_taken(served: Served) -> None:

    class Shop(HotelReservation):
        namespace = "shop"

    with pytest.raises(ClusterFailed, match="has a namespace shop already"):
        KubernetesSite(Shop(), KubernetesOptions(served.kubeconfig))


def test_a_cluster_that_others_use_is_refused(served: Served) -> None:
    served.ok("-n", "shop", "create", "serviceaccount", "default")  # no controller does
    served.ok("-n", "shop", "run", "till", "--image=busybox")
    try:
        with pytest.raises(ClusterFailed, match=r"Pods run in shop,.* add --cluster-option dedicated=yes"):
            KubernetesSite(HotelReservation(), KubernetesOptions(served.kubeconfig))
        KubernetesSite(HotelReservation(), KubernetesOptions(served.kubeconfig, dedicated=True)).close()
    finally:
        served.ok("-n", "shop", "delete", "pod", "till", "--wait=false")


def test_a_run_whose_name_reads_like_a_number_labels_what_it_creates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aiopslab.cloud.kubernetes.site.secrets.token_hex", lambda size: "12345e67")
    with cluster(tmp_path, "--nodes", "1", "--speed", f"{SPEED}") as served:
        site = KubernetesSite(HotelReservation(), KubernetesOptions(served.kubeconfig, ready_s=30.0))
        with pytest.raises(ClusterFailed, match="was not ready"):
            site.open()
        label = r"jsonpath={.metadata.labels.aiopslab\.io/run}"
        assert served.ok("get", "namespace", site.namespace, "-o", label) == "12345e67"
        site.close()
        assert "not found" in served.kubectl("get", "namespace", site.namespace).stderr


def test_a_cluster_that_is_gone_is_named(tmp_path: Path, served: Served) -> None:
    text = served.kubeconfig.read_text()
    (server,) = (line.partition("server: ")[2] for line in text.splitlines() if "server: " in line)
    path = tmp_path / "kubeconfig"
    path.write_text(text.replace(server, "https://127.0.0.1:1"))
    with pytest.raises(ClusterFailed, match="cannot be reached"):
        KubernetesSite(HotelReservation(), KubernetesOptions(path))
