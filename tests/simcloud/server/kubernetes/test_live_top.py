"""``kubectl top`` at a living cluster, by genuine kubectl."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simcloud.server.kubernetes.served import Served, cluster

pytestmark = pytest.mark.differential("kubectl")


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("living"), "--nodes", "3", "--speed", "10") as served:
        yield served


@pytest.mark.slow
def test_what_nodes_and_pods_use(living: Served) -> None:
    nodes = living.ok("top", "nodes").splitlines()
    assert nodes[0].split() == ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"]
    assert [line.split()[0] for line in nodes[1:]] == ["kind-control-plane", "kind-worker", "kind-worker2"]
    pods = living.ok("top", "pods", "-n", "kube-system", "-l", "component=etcd", "--containers")
    assert pods.splitlines()[1].split() == ["etcd-kind-control-plane", "etcd", "0m", "36Mi"]
    assert living.ok("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes/kind-worker").startswith(
        '{"kind":"NodeMetrics"'
    )
    assert "v1beta1.metrics.k8s.io" in living.ok("get", "apiservices")


def test_nothing_is_told_without_pods_of_the_metrics_server(living: Served) -> None:
    living.ok("scale", "deploy/metrics-server", "-n", "kube-system", "--replicas=0")
    living.ok(
        "wait", "--for=condition=Available=False", "apiservice/v1beta1.metrics.k8s.io", "--timeout=240s"
    )
    gone = living.kubectl("top", "pods")
    assert (gone.exit, gone.stderr.splitlines()[-1]) == (1, "error: Metrics API not available")
    listed = living.ok("get", "apiservice", "v1beta1.metrics.k8s.io")
    assert "kube-system/metrics-server" in listed
    assert "False (MissingEndpoints)" in listed
    living.ok("scale", "deploy/metrics-server", "-n", "kube-system", "--replicas=1")
    living.ok("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=240s")
    assert "kind-worker" in living.ok("top", "nodes")
