"""A living cluster, scraped and watched by the default rules."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.images import standard_registry
from simcloud.machine.emit import Metrics
from simcloud.machine.image import Image
from simcloud.machine.process import Context
from simcloud.sim.determinism import check_determinism
from simcloud.telemetry.collectors.exposition import Exposition
from tests.simcloud.telemetry.collectors.watched import CRASH, Watched, watched_life


@pytest.fixture(scope="module")
def calm() -> Watched:
    lab = Watched()
    lab.deploy("web", "nginx:1.19", 3)
    lab.world.run_for(400)
    return lab


def test_everything_answers(calm: Watched) -> None:
    assert set(calm.ask("count by (job) (up == 1)")) == {
        (("job", job),)
        for job in ("apiserver", "kube-state-metrics", "kubelet", "kubernetes-pods", "node-exporter")
    }
    assert calm.ask("up == 0") == {}


def test_objects_are_numbers(calm: Watched) -> None:
    assert calm.number('kube_deployment_spec_replicas{deployment="web"}') == 3
    assert calm.number('kube_deployment_status_replicas_available{deployment="web"}') == 3
    assert calm.number('sum(kube_pod_status_phase{namespace="default",phase="Running"})') == 3
    assert calm.number('sum(kube_node_status_condition{condition="Ready",status="true"})') == 2
    assert calm.number('kube_node_role{role="control-plane"}') == 1
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


def test_a_kubelet_tells_what_it_runs(calm: Watched) -> None:
    running = calm.world.machines["kind-worker"]
    pods = [pod for pod in calm.client.list("pods", None) if pod["spec"]["nodeName"] == running.name]
    assert calm.number('kubelet_running_pods{node="kind-worker"}') == len(pods)
    states = calm.ask('kubelet_running_containers{node="kind-worker",container_state="running"}')
    assert list(states.values()) == [len(pods)]


def test_the_api_server_counts_writes_by_their_outcome(calm: Watched) -> None:
    made = calm.number('sum(apiserver_request_total{verb="POST",resource="deployments",code="201"})')
    with pytest.raises(ApiError):
        calm.deploy("web", "nginx:1.19", 1)
    calm.world.run_for(16)
    of = 'verb="POST",resource="deployments"'
    assert calm.number(f'sum(apiserver_request_total{{{of},code="409"}})') == 1
    assert calm.number(f'sum(apiserver_request_total{{{of},code="201"}})') == made


def test_the_name_service_counts_questions(calm: Watched) -> None:
    coredns = next(iter(calm.world.emitter.exposed))
    assert ("container", "coredns") in coredns.labels
    pod = dict(coredns.labels)["pod"]
    assert calm.number(f'coredns_build_info{{pod="{pod}"}}') == 1
    assert calm.ask(f'coredns_dns_requests_total{{pod="{pod}",namespace="kube-system"}}')


def test_a_claimed_volume_is_measured() -> None:
    lab = Watched()
    amount = {"storage": "1Gi"}
    lab.create("PersistentVolume", "disk", spec=DISK | {"capacity": amount})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": amount}, "volumeName": "disk"}
    lab.create("PersistentVolumeClaim", "data", spec=claim | {"storageClassName": ""})
    main = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "9999"]}
    mount = {"name": "data", "mountPath": "/data"}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    lab.create("Pod", "user", spec={"containers": [main | {"volumeMounts": [mount]}], "volumes": [volume]})
    lab.world.run_for(60)
    assert lab.number('kube_persistentvolume_status_phase{persistentvolume="disk",phase="Bound"}') == 1
    of = 'namespace="default",persistentvolumeclaim="data"'
    free = lab.number(f"kubelet_volume_stats_available_bytes{{{of}}}")
    assert 0 < free <= lab.number(f"kubelet_volume_stats_capacity_bytes{{{of}}}")


def test_rarer_kinds_are_numbers_too() -> None:
    lab = Watched()
    lab.deploy("web", "nginx:1.19", 2)
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    lab.create("PodDisruptionBudget", "web", "policy/v1", spec=budget)
    sleep = {"name": "main", "image": "busybox:1.36", "command": ["sleep", "5"]}
    once = {"spec": {"restartPolicy": "Never", "containers": [sleep]}}
    lab.create(
        "CronJob",
        "tick",
        "batch/v1",
        spec={"schedule": "* * * * *", "jobTemplate": {"spec": {"template": once}}},
    )
    failing = {"name": "first", "image": "busybox:1.36", "command": CRASH}
    lab.create("Pod", "stuck", spec={"initContainers": [failing], "containers": [sleep]})
    lab.world.run_for(130)
    allowed = 'kube_poddisruptionbudget_status_pod_disruptions_allowed{poddisruptionbudget="web"}'
    assert lab.number(allowed) == 1
    assert lab.number('time() - kube_cronjob_status_last_schedule_time{cronjob="tick"}') < 70
    assert lab.number('kube_pod_init_container_status_restarts_total{container="first"}') >= 3


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
    found_values = lab.monitoring.api.answer("alerts", {})["data"]["alerts"]
    assert {
        alert["labels"]["alertname"] for alert in found_values if alert["state"] == "firing"
    } == lab.firing()
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
    metrics = Metrics((("namespace", "shop"), ("pod", "cart-1")), "10.244.1.9")
    lab.world.emitter.expose(metrics)
    requests = metrics.counter("grpc_server_requests_total", of)
    errors = metrics.counter("grpc_server_errors_total", of)
    latency = metrics.histogram("grpc_server_duration_seconds", of)
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


DISK = {
    "accessModes": ["ReadWriteOnce"],
    "csi": {"driver": "disks.example.com", "volumeHandle": "disk"},
}
COUNTING_IMAGE = "counting:1"


async def counting(ctx: Context) -> int:
    """A program with a metric; it ends on request."""
    calls = ctx.metrics.counter("calls_total", (("method", "get"),))
    while not ctx.files.exists("/tmp/stop"):
        calls.add()
        await ctx.sleep(1.0)
    return 1


def test_a_programs_metrics_bear_its_pods_labels_and_end_with_it() -> None:
    registry = standard_registry()
    registry.add(COUNTING_IMAGE, Image("counting", {"counting": counting}))
    lab = Watched(registry=registry)
    lab.deploy("count", COUNTING_IMAGE, 1, ["counting"])
    lab.world.run_for(60)
    ((labels, value),) = lab.ask("calls_total").items()
    pod = lab.client.list("pods", "default")[0]
    found_values = dict(labels)
    assert found_values["pod"] == pod["metadata"]["name"]
    assert found_values["node"] == pod["spec"]["nodeName"]
    assert (found_values["job"], found_values["namespace"], found_values["container"]) == (
        "kubernetes-pods",
        "default",
        "main",
    )
    assert found_values["instance"] == pod["status"]["podIP"]
    assert value > 20
    lab.client.delete(lab.get("deployments.apps", "count"))
    lab.world.run_for(60)
    assert lab.ask("calls_total") == {}
    assert all(("namespace", "kube-system") in metrics.labels for metrics in lab.world.emitter.exposed)


def test_a_full_disk_alerts() -> None:
    lab = Watched()
    disk = lab.world.machines["kind-worker"].disk
    lab.world.run_for(20)
    disk.used_bytes += disk.free_bytes * 95 // 100
    lab.world.run_for(200)
    full = [a for a in lab.rules.alerts if dict(a.labels)["alertname"] == "NodeFilesystemAlmostOutOfSpace"]
    assert [(a.state, dict(a.labels)["node"]) for a in full] == [("firing", "kind-worker")]
    assert "% of its space left" in full[0].annotations["description"]


@pytest.mark.slow
def test_one_seed_one_telemetry() -> None:
    report = check_determinism(watched_life, seed=5)
    assert report.observations > 1000


def test_what_software_emits_is_read_as_a_client_library_exposes_it() -> None:
    metrics = Metrics()
    metrics.counter("calls_total", (("service", "cart"),)).add(3)
    histogram = metrics.histogram("wait_seconds")
    for value in (0.001, 0.02, 99.0):
        histogram.observe(value)
    found_values = {(reading.name, reading.labels): reading.value for reading in Exposition(metrics).read()}
    assert found_values["calls_total", (("service", "cart"),)] == 3
    assert found_values["wait_seconds_bucket", (("le", "0.001"),)] == 1
    assert found_values["wait_seconds_bucket", (("le", "0.025"),)] == 2
    assert (
        found_values["wait_seconds_bucket", (("le", "+Inf"),)] == found_values["wait_seconds_count", ()] == 3
    )
    assert found_values["wait_seconds_sum", ()] == pytest.approx(99.021)
