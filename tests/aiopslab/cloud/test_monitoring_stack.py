"""The monitoring stack as an engineer finds it: pods and Services, PromQL and alerts by curl, and what is missing when it breaks."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.actions import TaskActions
from aiopslab.orchestrator.actions.environment_actions import ActionFailed
from aiopslab.orchestrator.oracles import judge_repair
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"
PROMETHEUS = "http://172.18.0.2:30090"
ALERTMANAGER = "http://172.18.0.2:30093"
RAW = "/api/v1/namespaces/monitoring/services/{}/proxy{}"


def type_lines(environment: Environment, lines: tuple[str, ...]) -> list[str]:
    results = [environment.terminal().run(line, timeout_s=600) for line in lines]
    return [(result.stdout + result.stderr).decode() for result in results]


def run(hotels: Copy[Environment], *lines: str) -> list[str]:
    """Return the outputs of lines that are typed into a fresh copy of the world."""
    with hotels.branch() as copy:
        return copy.call(type_lines, lines)


def query(expression: str) -> str:
    return f"curl -s -m 5 -G {PROMETHEUS}/api/v1/query --data-urlencode 'query={expression}'"


def read_values(text: str, label: str) -> dict[str, float]:
    """Return the values of an instant query's result by one of its labels."""
    answer = json.loads(text)
    return {series["metric"].get(label, ""): float(series["value"][1]) for series in answer["data"]["result"]}


def test_every_part_runs_with_its_usual_port(hotels: Copy[Environment]) -> None:
    pods, services, exporters = run(
        hotels,
        "kubectl get pods -n monitoring --no-headers",
        "kubectl get svc -n monitoring -o jsonpath='{range .items[*]}{.metadata.name}:{.spec.ports[0].port} {end}'",
        "kubectl get ds -n monitoring -o jsonpath='{.items[*].status.numberReady}'",
    )
    assert len(pods.splitlines()) == 10
    assert all(line.split()[1:4] == ["1/1", "Running", "0"] for line in pods.splitlines())
    assert services.split() == [
        "alertmanager:9093", "consul-exporter:9107", "kube-state-metrics:8080", "memcached-exporter:9150",
        "mongodb-exporter:9216", "node-exporter:9100", "prometheus-server:9090",
    ]  # fmt: skip
    assert exporters == "4"


def test_every_target_is_up(hotels: Copy[Environment]) -> None:
    down, jobs, stores = run(hotels, query("up == 0"), query("count by (job) (up)"), query("mongodb_up"))
    assert read_values(down, "instance") == {}
    counted = read_values(jobs, "job")
    assert counted.pop("kubernetes-pods") > 8
    assert counted == {
        "alertmanager": 1, "apiserver": 1, "consul-exporter": 1, "kube-state-metrics": 1, "kubelet": 4,
        "memcached-exporter": 3, "mongodb-exporter": 6, "node-exporter": 4, "prometheus": 1,
    }  # fmt: skip
    assert read_values(stores, "service")["mongodb-geo"] == 1


def test_prometheus_answers_on_every_way_that_reaches_it(hotels: Copy[Environment]) -> None:
    healthy = "Prometheus Server is Healthy.\n"
    outputs = run(
        hotels,
        f"curl -s {PROMETHEUS}/-/healthy",
        f"kubectl get --raw {RAW.format('prometheus-server:9090', '/-/healthy')}",
        f"kubectl -n {NS} exec deploy/frontend -- curl -s prometheus-server.monitoring:9090/-/healthy",
        "kubectl -n monitoring port-forward svc/prometheus-server 9090 >/dev/null & sleep 2; curl -s localhost:9090/-/healthy; kill %1",
        "kubectl -n monitoring exec deploy/prometheus-server -- wget -qO- localhost:9090/-/healthy",
    )
    assert outputs == [healthy] * 5
    service = "curl -s -m 2 http://$(kubectl -n monitoring get svc prometheus-server -o jsonpath='{.spec.clusterIP}'):9090/-/healthy; echo $?"
    assert run(hotels, service) == ["28\n"]  # the operator's host has no route to Service addresses


def test_the_http_api_has_its_usual_parts(hotels: Copy[Environment]) -> None:
    paths = ("labels", "series?match[]=up", "rules", "alerts", "targets", "status/config", "alertmanagers")
    for text in run(hotels, *(f"curl -sg '{PROMETHEUS}/api/v1/{path}'" for path in paths)):
        assert json.loads(text)["status"] == "success"
    ranged = f"curl -s '{PROMETHEUS}/api/v1/query_range?query=up&start='$(($(date +%s)-60))'&end='$(date +%s)'&step=15'"
    metrics, series, status, silences = run(
        hotels,
        f"curl -s {PROMETHEUS}/metrics",
        ranged,
        f"curl -s {ALERTMANAGER}/api/v2/status",
        f"curl -s {ALERTMANAGER}/api/v2/silences",
    )
    assert "\nprometheus_tsdb_head_series " in metrics
    assert len(json.loads(series)["data"]["result"][0]["values"]) >= 4
    assert json.loads(status)["versionInfo"]["version"] == "0.25.0"
    assert json.loads(silences) == []


def test_the_images_have_their_tools(hotels: Copy[Environment]) -> None:
    prometheus = "kubectl exec -n monitoring deploy/prometheus-server -- promtool"
    amtool = "kubectl exec -n monitoring alertmanager-0 -- amtool"
    checked, samples, scalar, wrong, alerts, silences, config, refused = run(
        hotels,
        f"{prometheus} check config /etc/prometheus/prometheus.yml",
        f"{prometheus} query instant http://localhost:9090 'up{{job=\"kube-state-metrics\"}}'",
        f"{prometheus} query instant http://localhost:9090 1+1",
        f"{prometheus} query instant http://localhost:9090 'up{{' 2>&1",
        f"{amtool} --alertmanager.url=http://localhost:9093 alert",
        f"{amtool} --alertmanager.url=http://localhost:9093 silence query",
        f"{amtool} --alertmanager.url=http://localhost:9093 config show | head -1",
        f"{amtool} alert 2>&1",
    )
    path = "/etc/prometheus/prometheus.yml"
    assert checked.startswith(
        f"Checking {path}\n  SUCCESS: 1 rule files found\n SUCCESS: {path} is valid prometheus "
    )
    assert re.search(r"\n\nChecking /etc/prometheus/rules.yaml\n  SUCCESS: \d+ rules found\n", checked)
    assert re.fullmatch(
        r'up\{instance="[^"]+", job="kube-state-metrics"\} => 1 @\[17\d{8}(\.\d{1,3})?\]\n', samples
    )
    assert scalar.startswith("scalar: 2 @[17")
    assert 'query error: bad_data: invalid parameter "query": 1:4: parse error:' in wrong
    assert alerts.split() == ["Alertname", "Starts", "At", "Summary", "State"]
    assert silences == "ID  Matchers  Ends At  Created By  Comment  \n"
    assert config == "route:\n"
    assert "amtool: error: required flag --alertmanager.url not provided, try --help" in refused


def test_exporters_serve_text(hotels: Copy[Environment]) -> None:
    node, state, mongodb, consul = run(
        hotels,
        "curl -s 172.18.0.3:9100/metrics",
        f"kubectl get --raw {RAW.format('kube-state-metrics:8080', '/metrics')}",
        f"kubectl get --raw '{RAW.format('mongodb-exporter:9216', '/scrape')}?target=mongodb-geo.{NS}:27017'",
        f"kubectl get --raw {RAW.format('consul-exporter:9107', '/metrics')}",
    )
    assert "# TYPE node_load1 gauge\nnode_load1 " in node
    assert f'kube_deployment_spec_replicas{{deployment="frontend",namespace="{NS}"}} 1\n' in state
    assert "\nmongodb_up 1\n" in mongodb
    assert "\nconsul_up 1\n" in consul


def test_without_prometheus_there_are_no_answers_and_then_a_gap(hotels: Copy[Environment]) -> None:
    _, refused, raw, _, counted, samples = run(
        hotels,
        "kubectl -n monitoring scale deploy/prometheus-server --replicas=0; sleep 90",
        query("up") + "; echo $?",
        f"kubectl get --raw {RAW.format('prometheus-server:9090', '/-/ready')}",
        "kubectl -n monitoring scale deploy/prometheus-server --replicas=1; kubectl -n monitoring rollout status deploy/prometheus-server; sleep 5",
        query('count_over_time(up{job="prometheus"}[90s])'),
        query('count_over_time(up{job="prometheus"}[10m])'),
    )
    assert refused == "7\n"
    assert "no endpoints available for service" in raw
    assert sum(read_values(counted, "job").values()) <= 2
    assert read_values(samples, "job")["prometheus"] >= 8, "the volume keeps the samples of the first process"


def test_a_new_volume_has_no_samples(hotels: Copy[Environment]) -> None:
    _, samples = run(
        hotels,
        "kubectl -n monitoring scale deploy/prometheus-server --replicas=0; sleep 5; kubectl -n monitoring get pvc prometheus-server -o yaml >pvc.yaml; "
        "kubectl -n monitoring delete pvc prometheus-server; sed -i '/volumeName/d;/bind-/d;/bound-/d;/uid/d;/resourceVersion/d' pvc.yaml; "
        "kubectl create -f pvc.yaml; kubectl -n monitoring scale deploy/prometheus-server --replicas=1; "
        "kubectl -n monitoring rollout status deploy/prometheus-server; sleep 30",
        query('count_over_time(up{job="prometheus"}[10m])'),
    )
    assert read_values(samples, "job")["prometheus"] <= 4


@pytest.mark.parametrize(
    "breakage",
    [
        """kubectl apply -n monitoring -f - <<'E'
{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "quiet"},
 "spec": {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "kube-state-metrics"}}, "policyTypes": ["Ingress"]}}
E""",
        "ssh kind-control-plane iptables -I FORWARD -p tcp --dport 8080 -j DROP",
    ],
    ids=["network policy", "packet filter"],
)
def test_an_unreachable_target_is_down(hotels: Copy[Environment], breakage: str) -> None:
    _, up, series, why = run(
        hotels,
        f"{breakage}\nsleep 20",
        query('up{job="kube-state-metrics"}'),
        query("kube_deployment_spec_replicas"),
        f"curl -s {PROMETHEUS}/api/v1/targets | jq -r '.data.activeTargets[] | select(.labels.job == \"kube-state-metrics\").lastError'",
    )
    assert read_values(up, "job") == {"kube-state-metrics": 0}
    assert read_values(series, "deployment") == {}
    assert "context deadline exceeded" in why


def test_an_exporter_says_that_its_store_is_down(hotels: Copy[Environment]) -> None:
    _, up, store = run(
        hotels,
        f"kubectl -n {NS} scale deploy/mongodb-geo --replicas=0; sleep 40",
        query('up{service="mongodb-geo"}'),
        query('mongodb_up{service="mongodb-geo"}'),
    )
    assert read_values(up, "service") == {"mongodb-geo": 1}
    assert read_values(store, "service") == {"mongodb-geo": 0}


def test_a_broken_configuration_ends_prometheus(hotels: Copy[Environment]) -> None:
    break_it = """kubectl -n monitoring patch cm prometheus-server -p '{"data": {"prometheus.yml": "scrape_configs: ["}}'"""
    _, kept, _, pods, log = run(
        hotels,
        f"{break_it}; sleep 90",
        f"curl -s -X POST {PROMETHEUS}/-/reload; curl -s {PROMETHEUS}/-/ready",
        "kubectl -n monitoring delete pod -l app.kubernetes.io/name=prometheus; sleep 60",
        "kubectl -n monitoring get pods -l app.kubernetes.io/name=prometheus --no-headers",
        "kubectl -n monitoring logs -l app.kubernetes.io/name=prometheus",
    )
    assert kept.startswith("failed to reload config: couldn't load configuration")
    assert kept.endswith("Prometheus Server is Ready.\n")
    assert pods.split()[1] == "0/1"
    assert "Error loading config (--config.file=/etc/prometheus/prometheus.yml)" in log


def read_pages(environment: Environment) -> tuple[str, Any, str, str]:
    before = environment.read_page()
    environment.operate(f"kubectl -n {NS} scale deploy/mongodb-geo --replicas=0")
    environment.operate(f"kubectl -n {NS} delete pod -l io.kompose.service=geo")
    environment.run_for(600)
    alerts = json.loads(environment.operate(f"curl -s {ALERTMANAGER}/api/v2/alerts").stdout)
    fired = environment.read_page()
    environment.operate("kubectl -n monitoring scale deploy/prometheus-server --replicas=0")
    environment.run_for(400)
    return before, alerts, fired, environment.read_page()


def test_alertmanager_pages_until_prometheus_is_silent(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        before, alerts, fired, silent = copy.call(read_pages)
    assert before == silent == ""
    names = {alert["labels"]["alertname"] for alert in alerts}
    assert names & {"HighErrorRate", "KubePodCrashLooping", "KubeDeploymentReplicasMismatch"}
    for name in names:
        assert f"] {name}" in fired
    assert re.search("severity=(warning|critical) since=2026-01-05T09:", fired)


def read_metrics_twice(environment: Environment) -> tuple[str, str]:
    actions = TaskActions(environment)
    first = actions.get_metrics(NS)
    environment.operate("kubectl -n monitoring scale deploy/prometheus-server --replicas=0")
    environment.run_for(30)
    try:
        return first, actions.get_metrics(NS)
    except ActionFailed as error:
        return first, str(error)


def test_the_agents_metrics_come_from_prometheus(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        first, second = copy.call(read_metrics_twice)
    assert "container_cpu_usage_seconds_total.csv" in first
    assert second.startswith(f"Prometheus does not answer at {PROMETHEUS}: Connection refused.")


def judge(environment: Environment) -> str:
    fault = ScalePodZero("geo")
    fault.inject(environment)
    environment.run_for(20)
    environment.operate(f"kubectl -n {NS} scale deployment/geo --replicas=1")
    environment.operate("kubectl -n monitoring delete deploy prometheus-server")
    return str(judge_repair(environment, [fault]))


def test_deleting_prometheus_is_an_unrelated_change(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        verdict = copy.call(judge)
    assert "ok  users of" in verdict
    assert "NOT nothing else was changed: deployments/prometheus-server was removed" in verdict
