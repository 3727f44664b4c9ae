"""Metrics, alerts, traces and lost log lines that actions show come from servers that run already, at a URL or behind a Service."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_validate import validate

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.kubernetes import ClusterClient, KubernetesOptions, KubernetesSite, telemetry_servers
from aiopslab.cloud.kubernetes.kubeconfig import Access
from aiopslab.cloud.kubernetes.loki import LokiReader
from aiopslab.cloud.kubernetes.operator_shell import KUBECTL
from aiopslab.cloud.kubernetes.telemetry import LogFollower
from aiopslab.cloud.kubernetes.telemetry_servers import (
    INSTALL,
    INSTALLED,
    RemotePrometheus,
    TelemetryFailed,
    TelemetryServer,
    list_server_objects,
)
from aiopslab.orchestrator.actions.task_actions import TaskActions
from simcloud.kubernetes.api import times
from simcloud.telemetry.metrics import Matcher
from tests.simcloud.server.kubernetes.served import CLIENTS, CURRENT, PATIENCE_S, Served, cluster

NS = HotelReservation.namespace
CONFIG = """
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs: [{job_name: self, static_configs: [{targets: ["PLACE"], labels: {namespace: shop}}]}]
"""
RULES = """
groups: [{name: a, rules: [{alert: Reachable, expr: up == 1, labels: {severity: info}, annotations: {summary: It is up.}}]}]
"""
PROMETHEUS = "service:monitoring/prometheus-server:9090"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("cluster"), "--app", "hotel-reservation", "--speed", "3") as found:
        yield found


@pytest.fixture(scope="module")
def url(served: Served) -> str:
    """The address of the cluster's telemetry, with credentials."""
    config = yaml.safe_load(served.kubeconfig.read_text())
    [extension] = config["clusters"][0]["cluster"]["extensions"]
    address: str = extension["extension"]["server"]
    return address.replace("://", f"://any:{config['users'][0]['user']['token']}@")


@pytest.fixture(scope="module")
def site(served: Served, url: str) -> Iterator[KubernetesSite]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KUBECTL, str(CLIENTS / f"kubectl-{CURRENT}"))
        options = KubernetesOptions(
            served.kubeconfig, attach=True, dedicated=True, prometheus=PROMETHEUS, jaeger=url, loki=url
        )
        opened = KubernetesSite(HotelReservation(), options)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def actions(site: KubernetesSite) -> TaskActions:
    return TaskActions(site)


def ask(site: KubernetesSite, address: str) -> RemotePrometheus:
    server = TelemetryServer(site.client, "Prometheus", address)
    return RemotePrometheus(server, lambda: site.cluster.api.now_s)


def test_a_url_and_a_service_lead_to_the_same_prometheus(site: KubernetesSite, url: str) -> None:
    site.sync()
    query = {"query": ["count by (job) (up)"]}
    found = ask(site, PROMETHEUS).query(query)["result"]
    assert {"kubelet", "kube-state-metrics", "kubernetes-pods"} <= {row["metric"]["job"] for row in found}
    other = ask(site, url).query(query)["result"]
    assert [row["metric"] for row in other] == [row["metric"] for row in found]


def test_actions_show_what_the_prometheus_has(site: KubernetesSite, actions: TaskActions) -> None:
    site.sync()
    # The harness itself reads no metrics of programs.
    table = actions.query_metrics(f'sum by (pod) (http_server_requests_total{{namespace="{NS}"}})', 2)
    assert "frontend-" in table, table
    listed = actions.get_metrics(NS, 3)
    assert "container_cpu_usage_seconds_total.csv (" in listed
    assert "node_load1.csv (" in listed
    folder = listed.partition(" are in ")[2].partition(" on your host")[0]
    rows = actions.read_metrics(f"{folder}/container_cpu_usage_seconds_total.csv")
    assert "hotel-reserv-geo" in rows


def test_alerts_are_those_of_the_prometheus(
    served: Served, site: KubernetesSite, actions: TaskActions
) -> None:
    site.monitoring.rules.groups = []  # the harness's own rules say nothing
    node = served.ok("get", "nodes", "-o", "jsonpath={.items[-1].metadata.name}")
    served.ok("cordon", node)
    began_s, shown = site.now, ""
    while "KubeNodeUnschedulable" not in shown:
        site.run_for(5.0)
        shown = actions.get_alerts()
        assert site.now < began_s + 1000.0, shown
    served.ok("uncordon", node)


def test_a_query_that_is_refused_is_explained(actions: TaskActions) -> None:
    with pytest.raises(TelemetryFailed, match=r"^Prometheus error: bad_data: .*parse error"):
        actions.query_metrics("sum by")


def test_traces_come_from_the_jaeger_at_a_url(actions: TaskActions) -> None:
    assert f"/root/traces/{NS}-" in actions.get_traces(NS, 2)
    assert "frontend" in actions.get_topology(NS)


def test_lines_of_a_pod_that_nobody_saw_come_from_loki(
    served: Served, site: KubernetesSite, actions: TaskActions
) -> None:
    site.sync()
    for number in range(2):
        served.ok(
            "-n",
            NS,
            "run",
            f"short-{number}",
            "--image=busybox",
            "--restart=Never",
            "--",
            "echo",
            "seen by nobody",
        )
        served.until(
            lambda text: text == "Succeeded",
            "-n",
            NS,
            "get",
            "pod",
            f"short-{number}",
            "-o",
            "jsonpath={.status.phase}",
        )
        served.ok("-n", NS, "delete", "pod", f"short-{number}")
    began_s, found = site.now, ""
    while "short-1" not in found:  # the cluster's time may fall behind on a busy host
        site.run_for(5.0)
        found = actions.search_logs(NS, "seen by nobody")
        assert site.now < began_s + 100.0, found
    for _ in range(2):
        found = actions.search_logs(NS, "seen by nobody")
        assert "[pod short-0, container short-0: 1 lines]" in found
        assert "[pod short-1, container short-1: 1 lines]" in found
    where = [Matcher("namespace", "=", NS)]
    for stream in site.monitoring.logs.select(where):
        lines = list(zip(stream.times_ns, stream.texts, strict=True))
        assert len(set(lines)) == len(lines), stream.labels  # nothing came by both ways


def test_a_loki_that_is_down_is_missing_lines(site: KubernetesSite, actions: TaskActions) -> None:
    loki = TelemetryServer(site.client, "Loki", "http://127.0.0.1:1")
    follower = LogFollower(site.client, site.world.emitter, lambda handle: None)
    why = LokiReader(loki, site.world.emitter, follower, (NS,)).read(site.clock.now_s)
    assert why.startswith("Loki does not answer at http://127.0.0.1:1: connect: ")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "refresh_logs", lambda: why)
        shown = actions.get_logs(NS, "frontend")
    assert "container hotel-reserv-frontend: running" in shown
    assert f"are missing: {why}" in shown


class TurningLoki(TelemetryServer):
    """A Loki that returns the labels of a series in another order each time, as the genuine one does."""

    labels = (("namespace", NS), ("pod", "gone-1"), ("container", "gone"), ("stream", "stdout"))

    def get(self, path: str, query: Any) -> Any:
        if path.endswith("/series"):
            first, *others = self.labels
            self.labels = (*others, first)
            return {"status": "success", "data": [dict(self.labels)]}
        written_ns = query["end"] - 60 * 10**9
        values = [[str(written_ns), "last words"]] if query["start"] <= written_ns else []
        return {"status": "success", "data": {"result": [{"stream": dict(self.labels), "values": values}]}}


def test_lines_are_copied_once_whatever_the_order_of_labels(site: KubernetesSite) -> None:
    follower = LogFollower(site.client, site.world.emitter, lambda handle: None)
    loki = TurningLoki(site.client, "Loki", "http://127.0.0.1:1")
    reader = LokiReader(loki, site.world.emitter, follower, (NS,))
    now_s = site.clock.now_s
    for _ in range(3):
        assert reader.read(now_s) == ""
    [stream] = site.monitoring.logs.select([Matcher("pod", "=", "gone-1")])
    assert list(stream.texts) == ["last words"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://me:secret@127.0.0.1:1/base", "does not answer at http://127.0.0.1:1/base: connect: "),
        (
            "service:monitoring/nothing:9090",
            'at service:monitoring/nothing:9090: services "nothing" not found',
        ),
        ("service:kube-system/kube-dns:9153", "does not answer"),
    ],
)
def test_a_server_that_does_not_answer_is_one_sentence(
    site: KubernetesSite, address: str, message: str
) -> None:
    with pytest.raises(TelemetryFailed) as failed:
        ask(site, address).alerts({})
    assert message in failed.value.message
    assert "secret" not in failed.value.message


def test_a_silent_server_costs_a_limited_time(site: KubernetesSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry_servers, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TelemetryFailed, match=r"no response within 0\.2 s"):
            ask(site, place).query({"query": ["up"]})


def test_servers_that_are_installed_share_a_namespace_and_are_accepted(
    served: Served, tmp_path: Path
) -> None:
    objects = list_server_objects(INSTALLED)
    assert [obj["metadata"]["name"] for obj in objects if obj["kind"] == "Namespace"] == ["monitoring"]
    for obj in objects:
        validate(obj, "1.36", strict=True)
    manifests = tmp_path / "servers.yaml"
    manifests.write_text(yaml.safe_dump_all(objects))
    accepted = served.ok("apply", "--dry-run=server", "-f", str(manifests)).splitlines()
    assert "daemonset.apps/promtail created (server dry run)" in accepted
    assert len(accepted) == len(objects)


@pytest.mark.parametrize("name", INSTALLED)
def test_the_address_of_an_installed_server_is_a_service_of_its_manifests(
    site: KubernetesSite, name: str
) -> None:
    services = [
        f"service:{obj['metadata']['namespace']}/{obj['metadata']['name']}:{port['port']}"
        for obj in list_server_objects([name])
        if obj["kind"] == "Service"
        for port in obj["spec"]["ports"]
    ]
    assert TelemetryServer(site.client, name, INSTALL).place in services


@pytest.fixture
def genuine(tmp_path: Path) -> Iterator[str]:
    """The address of a genuine Prometheus that watches itself."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "prometheus.yml").write_text(CONFIG.replace("PLACE", place))
    (tmp_path / "rules.yml").write_text(RULES)
    options = (f"--web.listen-address={place}", f"--storage.tsdb.path={tmp_path}/data")
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={tmp_path}/prometheus.yml", *options], stdout=log, stderr=log
        )
    yield f"http://{place}"
    process.terminate()
    process.wait(PATIENCE_S)


@pytest.mark.live("prometheus")
def test_a_genuine_prometheus_is_understood(genuine: str) -> None:
    client = ClusterClient(Access("http://127.0.0.1:1", "", None, {}, ""))
    remote = RemotePrometheus(TelemetryServer(client, "Prometheus", genuine), time.time)
    deadline_s = time.monotonic() + PATIENCE_S
    alerts: list[dict[str, Any]] = []
    try:
        while not alerts and time.monotonic() < deadline_s:
            time.sleep(0.5)
            try:
                alerts = remote.alerts({})["alerts"]
            except TelemetryFailed as error:  # it is starting
                assert "does not answer" in error.message
        [alert] = alerts
        assert (alert["state"], alert["labels"]["alertname"]) == ("firing", "Reachable")
        assert alert["annotations"] == {"summary": "It is up."}
        assert abs(times.parse(alert["activeAt"]) - time.time()) < PATIENCE_S
        [row] = remote.query({"query": ["up"]})["result"]
        assert (row["metric"]["job"], row["value"][1]) == ("self", "1")
        store = remote.read(['{namespace="shop"}', '{__name__=~"up|go_.*"}'], 300)
        [series] = store.select([Matcher("__name__", "=", "up"), Matcher("namespace", "=", "shop")])
        assert set(series.values) == {1.0}
        with pytest.raises(TelemetryFailed, match=r"^Prometheus error: bad_data: .*parse error"):
            remote.query({"query": ["sum by"]})
    finally:
        client.close()
