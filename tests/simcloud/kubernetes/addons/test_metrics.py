"""The metrics server in a living cluster: what is used is told, by whom it can be told, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simcloud.kubernetes.addons.metrics.readings import Readings, read
from simcloud.kubernetes.api.errors import ServiceUnavailable
from simcloud.kubernetes.api.objects import Object, at
from tests.simcloud.kubernetes.test_cluster import Lab

BUSY = "while true; do sleep 0.05; done"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    yield Lab(nodes=2)


def metrics(lab: Lab, plural: str, namespace: str | None = None) -> dict[str, Object]:
    api = lab.cluster.api
    resource = api.catalogue.at("metrics.k8s.io", "v1beta1", plural)
    assert resource is not None
    return {one["metadata"]["name"]: one for one in api.list(resource, namespace)["items"]}


def available(lab: Lab) -> Object:
    found = lab.client.get("apiservices.apiregistration.k8s.io", "", "v1beta1.metrics.k8s.io")
    assert found is not None
    condition: Object = found["status"]["conditions"][0]
    return {key: condition[key] for key in ("status", "reason", "message")}


def scale(lab: Lab, replicas: int) -> None:
    current = lab.client.get("deployments.apps", "kube-system", "metrics-server")
    assert current is not None
    lab.client.edit(current, lambda one: one["spec"].update(replicas=replicas))


def test_nodes_and_pods_are_measured(lab: Lab) -> None:
    assert available(lab) == {"status": "True", "reason": "Passed", "message": "all checks passed"}
    nodes = metrics(lab, "nodes")
    assert list(nodes) == ["kind-control-plane", "kind-worker"]
    assert nodes["kind-worker"]["usage"]["memory"].endswith("Ki") or nodes["kind-worker"]["usage"][
        "memory"
    ].endswith("Mi")
    etcd = metrics(lab, "pods", "kube-system")["etcd-kind-control-plane"]
    assert [container["name"] for container in etcd["containers"]] == ["etcd"]
    assert 35 * 1024 < int(etcd["containers"][0]["usage"]["memory"].removesuffix("Ki")) < 55 * 1024
    assert 14.5 < float(etcd["window"].removesuffix("s")) < 15.5
    assert etcd["metadata"]["labels"]["component"] == "etcd"


def test_no_pods_of_the_metrics_server_no_metrics(lab: Lab) -> None:
    scale(lab, 0)
    lab.world.run_for(5)
    assert available(lab)["reason"] == "MissingEndpoints"
    assert available(lab)["message"] == (
        'endpointslices for service/metrics-server in "kube-system" have no addresses with port name "https"'
    )
    with pytest.raises(ServiceUnavailable, match="the server is currently unable to handle the request"):
        metrics(lab, "pods")
    assert list(lab.cluster.api.catalogue.stale) == [("metrics.k8s.io", "v1beta1")]
    scale(lab, 1)
    lab.world.run_for(45)
    assert available(lab)["status"] == "True"
    assert metrics(lab, "nodes")


def test_a_kubelet_tells_only_those_who_may_ask(lab: Lab) -> None:
    role = lab.client.get("clusterroles.rbac.authorization.k8s.io", "", "system:metrics-server")
    assert role is not None
    rules = role["rules"]
    lab.client.edit(role, lambda one: one.update(rules=rules[1:]))
    lab.world.run_for(70)
    assert available(lab)["reason"] == "MissingEndpoints"
    pod = next(one for one in lab.pods("kube-system") if one["metadata"]["name"].startswith("metrics-server"))
    kubelet = lab.cluster.kubelets[pod["spec"]["nodeName"]]
    record = kubelet.node.runtime.pods[pod["metadata"]["uid"]].containers[0]
    assert record.container is not None
    text = kubelet.node.machine.host.files.read(record.container.log.path).decode()
    assert (
        '"Failed to scrape node" err="request failed, status: \\"403 Forbidden\\"" node="kind-worker"' in text
    )
    lab.client.edit(role, lambda one: one.update(rules=rules))
    lab.world.run_for(70)
    assert set(metrics(lab, "nodes")) == {"kind-control-plane", "kind-worker"}


def autoscaler() -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "busy"}
    wanted = {"type": "Utilization", "averageUtilization": 50}
    return {
        "scaleTargetRef": target,
        "minReplicas": 1,
        "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": wanted}}],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 30}},
    }


def test_an_autoscaler_follows_real_use(lab: Lab) -> None:
    lab.deploy("busy", "busybox:1.36", 1, ["sh", "-c", BUSY])
    lab.set("busy", lambda one: _container(one).update(resources={"requests": {"cpu": "5m"}}))
    lab.create("HorizontalPodAutoscaler", "busy", "autoscaling/v2", spec=autoscaler())
    lab.world.run_for(120)
    deployment = lab.client.get("deployments.apps", "default", "busy")
    assert at(deployment, "spec", "replicas") == 3
    lab.set("busy", lambda one: _container(one).update(command=["sleep", "36000"]))
    lab.world.run_for(240)
    deployment = lab.client.get("deployments.apps", "default", "busy")
    assert at(deployment, "spec", "replicas") == 1
    told = [
        one["message"] for one in lab.client.list("events", "default") if one["reason"] == "SuccessfulRescale"
    ]
    assert "New size: 3; reason: cpu resource utilization (percentage of request) above target" in told
    assert "New size: 1; reason: All metrics below target" in told


def test_an_autoscaler_says_when_it_has_no_metrics(lab: Lab) -> None:
    scale(lab, 0)
    lab.world.run_for(35)
    found = lab.client.get("horizontalpodautoscalers.autoscaling", "default", "busy")
    conditions = {one["type"]: one for one in at(found, "status", "conditions")}
    assert conditions["ScalingActive"]["reason"] == "FailedGetResourceMetric"
    assert conditions["ScalingActive"]["message"] == (
        "the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for "
        "resource cpu: unable to fetch metrics from resource metrics API: the server is currently unable to handle "
        "the request (get pods.metrics.k8s.io)"
    )


def _container(deployment: Object) -> Object:
    found: Object = deployment["spec"]["template"]["spec"]["containers"][0]
    return found


def text(cpu_s: float, time_ms: int) -> str:
    of = '{container="a",namespace="n",pod="p"}'
    return (
        f"container_cpu_usage_seconds_total{of} {cpu_s} {time_ms}\n"
        f"container_memory_working_set_bytes{of} 4096 {time_ms}\n"
        f"container_start_time_seconds{of} 1.0\n"
        f"node_cpu_usage_seconds_total {cpu_s} {time_ms}\n"
        f"node_memory_working_set_bytes 1048576 {time_ms}\n"
    )


def test_use_is_the_difference_of_two_readings() -> None:
    readings = Readings()
    readings.take({"one": read(text(10.0, 100_000))})
    assert not readings.ready
    assert readings.of_pod(("n", "p")) is None
    readings.take({"one": read(text(13.0, 115_000))})
    found = readings.of_pod(("n", "p"))
    assert found is not None
    assert (found["timestamp"], found["window"]) == ("1970-01-01T00:01:55Z", "15s")
    assert found["containers"] == [{"name": "a", "usage": {"cpu": "200000000n", "memory": "4Ki"}}]
    node = readings.of_node("one")
    assert node is not None
    assert node["usage"] == {"cpu": "200000000n", "memory": "1Mi"}
    readings.take({})
    assert readings.of_node("one") is None


def test_a_restarted_container_is_measured_anew() -> None:
    readings = Readings()
    readings.take({"one": read(text(10.0, 100_000))})
    readings.take({"one": read(text(0.5, 115_000).replace(" 1.0\n", " 110.0\n"))})
    assert readings.of_pod(("n", "p")) is None
