"""A living cluster, scraped and watched by the default rules."""

from __future__ import annotations

import pytest

from aiopslab.machine.emit import MemoryEmitter
from aiopslab.observer.collectors.emitted import read_emitted
from aiopslab.sim.determinism import check_determinism
from tests.observer.collectors.watched import CRASH, Watched, watched_life


@pytest.fixture(scope="module")
def calm() -> Watched:
    lab = Watched()
    lab.deploy("web", "nginx:1.19", 3)
    lab.world.run_for(400)
    return lab


def test_everything_answers(calm: Watched) -> None:
    assert set(calm.ask("count by (job) (up == 1)")) == {
        (("job", job),) for job in ("kube-state-metrics", "kubelet", "node-exporter", "services")
    }
    assert calm.ask("up == 0") == {}


def test_objects_are_numbers(calm: Watched) -> None:
    assert calm.number('kube_deployment_spec_replicas{deployment="web"}') == 3
    assert calm.number('kube_deployment_status_replicas_available{deployment="web"}') == 3
    assert calm.number('sum(kube_pod_status_phase{namespace="default",phase="Running"})') == 3
    assert calm.number('sum(kube_node_status_condition{condition="Ready",status="true"})') == 2
    owners = calm.ask('count by (owner_kind) (kube_pod_owner{namespace="default"})')
    assert owners == {(("owner_kind", "ReplicaSet"),): 3.0}


def test_machines_and_containers_are_measured(calm: Watched) -> None:
    machine = calm.world.machines["kind-worker"]
    total = calm.number('node_memory_MemTotal_bytes{node="kind-worker"}')
    assert total == machine.memory_bytes
    assert (
        calm.number('count(container_memory_working_set_bytes{namespace="default",container="main"} > 0)')
        == 3
    )
    spent = calm.number('sum without (mode, cpu) (rate(node_cpu_seconds_total{node="kind-worker"}[1m]))')
    assert spent == pytest.approx(machine.cpu.cores)


def test_a_calm_cluster_has_no_alerts(calm: Watched) -> None:
    assert calm.rules.alerts == []


def test_a_crashing_pod_alerts_and_its_end_resolves() -> None:
    lab = Watched()
    lab.deploy("bad", "busybox:1.36", 1, CRASH)
    lab.world.run_for(30)
    assert lab.firing() == set()
    lab.world.run_for(700)
    assert {"KubePodCrashLooping", "KubeDeploymentReplicasMismatch"} <= lab.firing()
    crash = next(a for a in lab.rules.alerts if dict(a.labels)["alertname"] == "KubePodCrashLooping")
    assert "of pod default/bad-" in crash.annotations["description"]
    told = lab.monitoring.api.answer("alerts", {})["data"]["alerts"]
    assert {alert["labels"]["alertname"] for alert in told if alert["state"] == "firing"} == lab.firing()
    assert lab.number('ALERTS{alertname="KubeDeploymentReplicasMismatch",alertstate="firing"}') == 1
    lab.client.delete(lab.get("deployments.apps", "bad"))
    lab.world.run_for(400)
    assert lab.firing() == set()
    assert lab.ask('kube_pod_info{namespace="default"}') == {}


def test_a_lost_machine_does_not_answer() -> None:
    lab = Watched()
    lab.world.run_for(20)
    lab.world.machines["kind-worker"].lose()
    lab.world.run_for(16)
    down = {(dict(labels)["job"], dict(labels)["node"]) for labels in lab.ask("up == 0")}
    assert down == {("kubelet", "kind-worker"), ("node-exporter", "kind-worker")}
    assert lab.ask('node_load1{node="kind-worker"}') == {}
    lab.world.run_for(300)
    assert {"TargetDown", "KubeNodeNotReady"} <= lab.firing()
    targets = lab.monitoring.api.answer("targets", {})["data"]["activeTargets"]
    health = {(t["labels"]["job"], t["health"]) for t in targets if t["labels"].get("node") == "kind-worker"}
    assert health == {("kubelet", "down"), ("node-exporter", "down")}


def test_failing_and_slow_services_alert() -> None:
    lab = Watched()
    of = (("service", "cart"),)
    requests = lab.world.emitter.counter("rpc_server_requests_total", of)
    errors = lab.world.emitter.counter("rpc_server_errors_total", of)
    latency = lab.world.emitter.histogram("rpc_server_duration_seconds", of)
    seen = []
    for failed, seconds in [(0, 0.01)] * 20 + [(20, 3.0)] * 20 + [(0, 0.01)] * 20:
        requests.add(100)
        errors.add(failed)
        latency.observe(seconds)
        lab.world.run_for(15)
        seen.append(lab.firing())
    assert seen[19] == set()
    assert seen[39] == {"HighErrorRate", "HighLatency"}
    assert seen[59] == set()


def test_a_full_disk_alerts() -> None:
    lab = Watched()
    disk = lab.world.machines["kind-worker"].disk
    lab.world.run_for(20)
    disk.used_bytes += disk.free_bytes * 95 // 100
    lab.world.run_for(200)
    full = [a for a in lab.rules.alerts if dict(a.labels)["alertname"] == "NodeFilesystemAlmostOutOfSpace"]
    assert [(a.state, dict(a.labels)["node"]) for a in full] == [("firing", "kind-worker")]
    assert "% of its space left" in full[0].annotations["description"]


def test_one_seed_one_telemetry() -> None:
    report = check_determinism(watched_life, seed=5)
    assert report.observations > 700


def test_what_software_emits_is_read_as_a_client_library_exposes_it() -> None:
    emitter = MemoryEmitter()
    emitter.counter("calls_total", (("service", "cart"),)).add(3)
    histogram = emitter.histogram("wait_seconds", ())
    for value in (0.001, 0.02, 99.0):
        histogram.observe(value)
    told = {(reading.name, reading.labels): reading.value for reading in read_emitted(emitter)}
    assert told["calls_total", (("service", "cart"),)] == 3
    assert told["wait_seconds_bucket", (("le", "0.001"),)] == 1
    assert told["wait_seconds_bucket", (("le", "0.025"),)] == 2
    assert told["wait_seconds_bucket", (("le", "+Inf"),)] == told["wait_seconds_count", ()] == 3
    assert told["wait_seconds_sum", ()] == pytest.approx(99.021)
