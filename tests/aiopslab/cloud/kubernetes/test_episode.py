"""Whole episodes on a cluster that is served over HTTPS and used like any other: deployed, broken, repaired, judged, removed.

The objectives are such that no verdict depends on how fast this host is.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml

from aiopslab.apps.hotelres import HotelReservation
from tests.simcloud.server.kubernetes.served import CLIENTS, CURRENT, PATIENCE_S, Served, cluster

PROBLEMS = """
from dataclasses import replace

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.network_delay import NetworkDelay
from aiopslab.generators.fault.stopped_kubelet import StoppedKubelet
from aiopslab.generators.fault.target_port_misconfig import TargetPortMisconfig
from aiopslab.orchestrator.problems.family import Family


class PatientHotel(HotelReservation):
    objectives = tuple(replace(known, success=0.0, p99_s=1e9) for known in HotelReservation.objectives)


PORT = Family("front_port", PatientHotel, (TargetPortMisconfig("frontend", 5000, 5999),))
DELAY = Family("slow_geo", PatientHotel, (NetworkDelay("geo", 0.4),))
KUBELET = Family("deaf_geo", PatientHotel, (StoppedKubelet("geo", "mask --now"),))
"""
NS = "test-hotel-reservation"
REPAIR = "sed 's/targetPort: 5999/targetPort: 5000/'"
OWN = "app.kubernetes.io/managed-by=aiopslab"
SHORT = [f"--cluster-option={option}" for option in ("baseline_s=15", "soak_s=5", "timeout_s=20")]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with cluster(tmp_path_factory.mktemp("cluster"), "--nodes", "4", "--speed", "6") as found:
        yield found


def start(served: Served, folder: Path, *args: str) -> subprocess.Popen[str]:
    """Start ``aiopslab``, with problems of this test."""
    path = folder / "problems.py"
    path.write_text(PROBLEMS)
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", *args]
    return subprocess.Popen(
        [*command, "--kubeconfig", str(served.kubeconfig)],
        env={**os.environ, "AIOPSLAB_KUBECTL": str(CLIENTS / f"kubectl-{CURRENT}"), "TMPDIR": str(folder)},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(served: Served, folder: Path, *args: str, typed: str = "") -> tuple[int, str, str]:
    process = start(served, folder, *args)
    out, err = process.communicate(typed, timeout=PATIENCE_S)
    return process.returncode, out, err


def work(
    served: Served, folder: Path, actions: list[str], *options: str, problem: str = "front_port-mitigation-1"
) -> dict[str, Any]:
    """Let a scripted agent work on a problem; return the document that the command prints."""
    script = folder / "actions.txt"
    script.write_text("\n".join(actions))
    code, out, err = run(
        served, folder, "run", problem, "--load", "problems.py", "--agent", f"scripted:{script}",
        "--cloud", "kubernetes", "--json", *SHORT, *options,
    )  # fmt: skip
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def list_own(served: Served) -> str:
    return served.ok(
        "get",
        "namespaces,persistentvolumes,storageclasses,clusterroles,clusterrolebindings",
        "-l",
        OWN,
        "-o",
        "name",
    )


def test_a_repair_is_judged_and_everything_is_removed(served: Served, tmp_path: Path) -> None:
    before = served.ok("get", "ns,pv,sc,clusterroles,clusterrolebindings", "-o", "name")
    actions = [
        'exec_shell("kubectl auth whoami -o jsonpath={.status.userInfo.username}")',
        f'exec_shell("kubectl -n {NS} get endpointslices -l kubernetes.io/service-name=frontend -o yaml")',
        f'get_metrics("{NS}", 5)',
        f'get_traces("{NS}", 5)',
        'exec_shell("env; kubectl get secrets,configmaps -A -o yaml > /tmp/all; grep -c kind: /tmp/all; cat /tmp/all")',
        f'exec_shell("kubectl -n {NS} get service frontend -o yaml | {REPAIR} | kubectl replace -f -")',
        f'get_logs("{NS}", "frontend")',
        "submit()",
    ]
    found = work(served, tmp_path, actions)
    assert (found["ending"], found["results"]["success"]) == ("submitted", True), found["results"]
    record = json.loads(Path(tmp_path / found["record"]).read_text())
    steps = record["steps"]
    assert steps[0]["observation"] == "system:serviceaccount:operations:operator"
    assert "port: 5999" in steps[1]["observation"]
    assert f"/root/metrics/{NS}-" in steps[2]["observation"]
    assert f"/root/traces/{NS}-" in steps[3]["observation"]
    assert "PWD=/root\n" in steps[4]["observation"]
    assert "container hotel-reserv-frontend: running" in steps[6]["observation"]
    assert "Reading config" in steps[6]["observation"]
    token = yaml.safe_load(served.kubeconfig.read_text())["users"][0]["user"]["token"]
    assert not any(token in step["observation"] for step in steps)
    assert steps[0]["health"]["failed"] > 0
    assert served.ok("get", "ns,pv,sc,clusterroles,clusterrolebindings", "-o", "name") == before


@pytest.mark.slow
def test_a_policy_limits_the_agent_an_installed_prometheus_shows_metrics_and_the_cause_remains(
    served: Served, tmp_path: Path
) -> None:
    actions = [
        f'exec_shell("kubectl -n {NS} delete service frontend; kubectl -n {NS} get pods")',
        'exec_shell("kubectl -n monitoring get deployments")',
        f'get_metrics("{NS}", 5)',
        "submit()",
    ]
    options = ("--policy", "read-only", "--cluster-option=prometheus=install")
    found = work(served, tmp_path, actions, *options)
    record = json.loads(Path(tmp_path / found["record"]).read_text())
    observation, workloads, files = (step["observation"] for step in record["steps"][:3])
    assert 'User "system:serviceaccount:operations:operator" cannot delete resource "services"' in observation
    assert "mongodb-geo" in observation
    assert "prometheus-server    1/1" in workloads
    assert "kube_pod_status_phase.csv" in files
    assert "http_server_requests_total.csv" in files  # only Prometheus has the metrics of programs
    assert found["results"]["success"] is False
    assert any("the root cause is gone: frontend" in line for line in found["results"]["findings"])
    assert list_own(served) == ""


@pytest.mark.slow
def test_telemetry_servers_that_do_not_start_make_an_episode_void(served: Served, tmp_path: Path) -> None:
    code, _, err = run(
        served, tmp_path, "run", "front_port-detection-1", "--load", "problems.py", "--agent", "noop", "--cloud", "kubernetes",
        "--cluster-option=prometheus=install", "--cluster-option=loki=install", "--cluster-option=ready_s=90",
        "--cluster-option=image=docker.io/grafana/promtail:2.9.8=docker.io/library/busybox:0.0.1",
    )  # fmt: skip
    assert code == 1
    assert "was not ready within 90 s, so the episode is void: " in err
    assert "loki (0 of 1 pods are ready, " in err
    assert "docker.io/grafana/loki:2.9.8" in err  # the served cluster's registry does not have it
    assert "promtail (0 of 4 pods are ready, " in err
    assert "docker.io/library/busybox:0.0.1" in err
    assert "prometheus-server (" not in err
    assert list_own(served) == ""


@pytest.mark.slow
def test_a_person_works_on_a_cluster(served: Served, tmp_path: Path) -> None:
    lines = [
        f"kubectl -n {NS} get service frontend -o yaml | {REPAIR} | kubectl replace -f -",
        "hint",
        "submit",
    ]
    code, out, err = run(
        served, tmp_path, "play", "front_port-mitigation-1", "--load", "problems.py", "--cloud", "kubernetes", *SHORT,
        typed="\n".join(lines),
    )  # fmt: skip
    assert code == 0, err
    assert "service/frontend replaced" in out
    assert "Hint 1 of" in out
    [record] = [json.loads(path.read_text()) for path in tmp_path.glob("results/*.json")]
    assert (record["agent"], record["ending"], record["results"]["success"]) == ("human", "submitted", True)
    assert list_own(served) == ""


@pytest.mark.slow
def test_an_application_that_runs_already_stays(served: Served, tmp_path: Path) -> None:
    code, _, err = run(
        served, tmp_path, "run", "front_port-mitigation-1", "--load", "problems.py", "--agent", "noop",
        "--cloud", "kubernetes", "--cluster-option=attach=yes",
    )  # fmt: skip
    assert code == 1
    assert f"The cluster has no namespace {NS} with the application" in err
    manifests = tmp_path / "hotel.yaml"
    manifests.write_text(yaml.safe_dump_all(HotelReservation().manifests()))
    served.ok("apply", "-f", str(manifests))
    try:
        found = work(served, tmp_path, ["submit()"], "--cluster-option=attach=yes")
        assert found["results"]["success"] is False
        port = served.ok("-n", NS, "get", "service", "frontend", "-o", "jsonpath={.spec.ports[0].targetPort}")
        assert port == "5000"
        assert "geo" in served.ok("-n", NS, "get", "deployments", "-o", "name")
        assert list_own(served) == ""
    finally:
        served.ok("delete", "-f", str(manifests))


@pytest.mark.slow
def test_a_session_is_served_on_a_cluster(served: Served, tmp_path: Path) -> None:
    process = start(
        served, tmp_path, "serve", "--port", "0", "--load", "problems.py", "--cloud", "kubernetes", *SHORT
    )
    assert process.stdout is not None
    address, _, token = process.stdout.readline().strip().partition("?token=")

    def ask(path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with urlopen(
            Request(address + path, json.dumps(body).encode(), headers), timeout=PATIENCE_S
        ) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    try:
        with pytest.raises(HTTPError) as refused:
            ask("api/sessions", {"problem": "disk_woreout-detection-1"})
        assert "not available on this cluster: it needs hardware" in refused.value.read().decode()
        session = ask("api/sessions", {"problem": "front_port-mitigation-1"})
        line = f"kubectl -n {NS} get service frontend -o yaml | {REPAIR} | kubectl replace -f -"
        step = ask(
            f"api/sessions/{session['id']}/actions", {"name": "exec_shell", "arguments": {"command": line}}
        )
        assert "service/frontend replaced" in step["observation"]
        step = ask(f"api/sessions/{session['id']}/actions", {"action": "submit()"})
        assert (step["ended"], step["results"]["success"]) == (True, True)
        assert list_own(served) == ""
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err


@pytest.mark.slow
def test_a_fault_of_a_network_is_repaired_on_the_node(served: Served, tmp_path: Path) -> None:
    find = f"kubectl -n {NS} get pods -l io.kompose.service=geo -o jsonpath="
    enter = "nsenter -t $(crictl inspectp $(crictl pods --name ^geo- -q) | jq .info.pid) -n tc qdisc"
    actions = [
        f"""exec_shell("{find}'{{.items[0].spec.nodeName}}' > node")""",
        f"""exec_shell("ssh root@$(cat node) '{enter} show dev eth0'")""",
        'exec_shell("ssh nowhere hostname")',
        f"""exec_shell("ssh -o BatchMode=yes $(cat node) '{enter} del dev eth0 root'")""",
        "submit()",
    ]
    found = work(
        served, tmp_path, actions, "--cluster-option=privileged=yes", problem="slow_geo-mitigation-1"
    )
    record = json.loads(Path(tmp_path / found["record"]).read_text())
    observations = [step["observation"] for step in record["steps"]]
    assert "qdisc netem" in observations[1]
    assert "delay 400ms" in observations[1]
    assert "Could not resolve hostname nowhere" in observations[2]
    assert found["results"]["success"] is True, (observations, found["results"])
    assert list_own(served) == ""


@pytest.mark.slow
@pytest.mark.parametrize("repair", ["hostname", "systemctl unmask kubelet; systemctl enable --now kubelet"])
def test_a_kubelet_is_repaired_by_the_agent_or_when_the_session_is_over(
    served: Served, tmp_path: Path, repair: str
) -> None:
    find = f"kubectl -n {NS} get pods -l io.kompose.service=geo -o jsonpath='{{.items[0].spec.nodeName}}'"
    actions = [
        f"""exec_shell("{find} > node; ssh $(cat node) 'systemctl is-active kubelet; hostname'")""",
        f"""exec_shell("ssh $(cat node) '{repair}'")""",
        f'exec_shell("kubectl -n {NS} rollout status deployment/geo --timeout=60s")',
        "submit()",
    ]
    found = work(
        served, tmp_path, actions, "--cluster-option=privileged=yes", problem="deaf_geo-mitigation-1"
    )
    record = json.loads(Path(tmp_path / found["record"]).read_text())
    observations = [step["observation"] for step in record["steps"]]
    assert observations[0].startswith("inactive\nkind-worker"), observations
    assert found["results"]["success"] is (repair != "hostname"), (observations, found["results"])
    served.until(lambda text: "NotReady" not in text, "get", "nodes")
    assert list_own(served) == ""


@pytest.mark.slow
def test_what_a_killed_run_leaves_is_cleaned_up(served: Served, tmp_path: Path) -> None:
    process = start(
        served, tmp_path, "run", "front_port-detection-1", "--load", "problems.py", "--agent", "noop",
        "--cloud", "kubernetes", *SHORT,
    )  # fmt: skip
    served.until(lambda text: "geo" in text, "get", "deployments", "-A", "-o", "name")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert f"namespace/{NS}" in list_own(served)
    code, _, err = run(served, tmp_path, "run", "front_port-detection-1", "--load", "problems.py", "--agent", "noop", "--cloud", "kubernetes")  # fmt: skip
    assert code == 1
    assert "aiopslab cleanup" in err
    code, out, err = run(served, tmp_path, "cleanup")
    assert code == 0, err
    assert f"namespaces/{NS} was removed." in out
    assert list_own(served) == ""


@pytest.mark.slow
def test_an_interrupted_run_cleans_up_by_itself(served: Served, tmp_path: Path) -> None:
    process = start(
        served, tmp_path, "run", "front_port-detection-1", "--load", "problems.py", "--agent", "noop",
        "--cloud", "kubernetes", *SHORT,
    )  # fmt: skip
    served.until(lambda text: "geo" in text, "get", "deployments", "-A", "-o", "name")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert list_own(served) == ""


@pytest.mark.slow
def test_an_unhealthy_baseline_makes_an_episode_void(served: Served, tmp_path: Path) -> None:
    code, _, err = run(
        served, tmp_path, "run", "front_port-detection-1", "--load", "problems.py", "--agent", "noop",
        "--cloud", "kubernetes", *SHORT, "--cluster-option=front_door=http://127.0.0.1:1",
    )  # fmt: skip
    assert code == 1
    assert "so the episode is void" in err
    assert not list(tmp_path.glob("results/*.json"))
    assert list_own(served) == ""


@pytest.mark.slow
def test_a_benchmark_runs_one_episode_after_the_other(served: Served, tmp_path: Path) -> None:
    code, _, err = run(
        served, tmp_path, "bench", "front_port-detection-1", "front_port-localization-1", "disk_woreout-detection-1",
        "--load", "problems.py", "--agent", "yes", "--cloud", "kubernetes", "--out", "runs", "--json", *SHORT,
    )  # fmt: skip
    assert code == 0, err
    assert (
        "1 of 3 problems are not available on this cluster and are left out: disk_woreout-detection-1 (needs hardware)."
        in err
    )
    records = [json.loads(path.read_text()) for path in tmp_path.glob("runs/sessions/*.json")]
    assert {record["problem_id"]: record["results"]["success"] for record in records} == {
        "front_port-detection-1": True,
        "front_port-localization-1": False,
    }
    assert list_own(served) == ""
    code, _, err = run(served, tmp_path, "bench", "--resume", "--out", "runs")
    assert code == 2
    assert "has cloud kubernetes, not embedded" in err


@pytest.mark.slow
def test_an_interrupted_benchmark_cleans_up(served: Served, tmp_path: Path) -> None:
    process = start(
        served, tmp_path, "bench", "front_port-detection-1", "--load", "problems.py", "--agent", "noop",
        "--cloud", "kubernetes", "--out", "runs", *SHORT,
    )  # fmt: skip
    served.until(lambda text: "geo" in text, "get", "deployments", "-A", "-o", "name")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert "removing the application from the cluster" in err
    assert list_own(served) == ""


def test_a_problem_that_needs_more_is_refused_at_once(served: Served, tmp_path: Path) -> None:
    code, _, err = run(
        served, tmp_path, "run", "disk_woreout-detection-1", "--agent", "noop", "--cloud", "kubernetes"
    )
    assert code == 2
    assert "disk_woreout-detection-1 is not available on this cluster: it needs hardware." in err


@pytest.mark.slow
def test_both_clouds_show_much_the_same_of_a_problem(tmp_path: Path) -> None:
    problem = "misconfig_app_hotel_res-mitigation-1"
    # This cluster runs in real time, so that a busy host adds less to the latencies by which a repair is judged.
    with cluster(tmp_path, "--nodes", "4", "--speed", "1") as served:
        code, out, err = run(served, tmp_path, "fidelity", problem, "--json", *SHORT)
        assert code == 0, err
        aspects = {each["aspect"]: each for each in json.loads(out)["problems"][problem]["aspects"]}
        assert aspects["verdicts"]["agreement"] == 1.0, json.dumps(aspects["verdicts"])
        assert aspects["spans"]["agreement"] > 0.8, aspects["spans"]
        assert list_own(served) == ""
