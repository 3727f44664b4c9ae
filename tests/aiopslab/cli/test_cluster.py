from __future__ import annotations

import json
import re
import time
from functools import partial
from pathlib import Path

import httpx2
import pytest

from tests.aiopslab.cli.command_line import call_aiopslab
from tests.simcloud.server.kubernetes.served import PATIENCE_S, cluster

PROBLEM = "misconfig_app_hotel_res-mitigation-1"
NOWHERE = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9") | {
    "no_proxy": "",
    "NO_PROXY": "",
}
"""The environment of somebody behind a proxy, which does not lead to this machine."""
aiopslab = partial(call_aiopslab, **NOWHERE)


def fully_told(log: Path) -> str:
    """What the server says of itself, which it may still be printing when its kubeconfig is there."""
    deadline = time.monotonic() + PATIENCE_S
    while "Ctrl-C" not in (told := log.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return told


def test_a_cluster_comes_up_tells_how_to_use_it_and_answers(tmp_path: Path) -> None:
    with cluster(tmp_path, "--nodes", "2", "--speed", "10") as served:
        told = fully_told(tmp_path / "server.log")
        assert "Kubernetes v1.36.4 with 2 nodes at https://127.0.0.1:" in told
        assert f"export KUBECONFIG={served.kubeconfig}" in told
        assert served.kubeconfig.stat().st_mode & 0o777 == 0o600
        asked = aiopslab("cluster", "status", "--kubeconfig", str(served.kubeconfig), "--json")
        assert json.loads(asked.stdout)["counts"]["nodes"] == 2
        shown = aiopslab("cluster", "status", "--kubeconfig", str(served.kubeconfig))
        assert "kind-worker" in shown.stdout
        assert "Telemetry at http://127.0.0.1:" in told
    gone = aiopslab("cluster", "status", "--kubeconfig", str(served.kubeconfig))
    assert (gone.returncode, "Is `aiopslab cluster up` still running?" in gone.stderr) == (1, True)


def test_an_application_with_users_on_it_and_a_door_for_real_clients(tmp_path: Path) -> None:
    with cluster(tmp_path, "--app", "hotel-reservation", "--speed", "2") as served:
        told = fully_told(tmp_path / "server.log")
        found = re.search(r"hotel-reservation at (http://127\.0\.0\.1:\d+),", told)
        assert found is not None, told
        stay = "inDate=2015-04-09&outDate=2015-04-10&lat=38.0235&lon=-122.095"
        with httpx2.Client(base_url=found[1], timeout=PATIENCE_S) as client:
            hotels = client.get(f"/hotels?{stay}")
            assert (hotels.status_code, hotels.json()["type"]) == (200, "FeatureCollection")
            assert client.get("/hotels").status_code == 400
        running = served.kubectl("get", "pods", "-n", "test-hotel-reservation", "--no-headers").stdout
        assert running.count(" Running ") == 20
        calls = json.loads(
            aiopslab("cluster", "status", "--kubeconfig", str(served.kubeconfig), "--json").stdout
        )["calls"]
        assert ("search", "geo") in [(call["parent"], call["child"]) for call in calls["calls"]]


@pytest.mark.slow(keep=1)
def test_genuine_kubectl_repairs_a_problem_and_submits(tmp_path: Path) -> None:
    options = ("--problem", PROBLEM, "--policy", "operator", "--results", str(tmp_path / "results"))
    with cluster(tmp_path, *options, "--speed", "5", ends=True) as served:
        told = fully_told(tmp_path / "server.log")
        assert "Your task: something is wrong with the application; repair it" in told
        assert f"with --kubeconfig {served.kubeconfig}: aiopslab submit, when the fault is repaired" in told
        assert "misconfig" not in told
        shown = aiopslab("cluster", "status", "--kubeconfig", str(served.kubeconfig))
        assert "Your task: something is wrong with the application; repair it" in shown.stdout
        assert "operator" in served.ok("auth", "whoami")
        assert served.kubectl("auth", "can-i", "create", "clusterrolebindings").stdout == "no\n"
        second = aiopslab("cluster", "up", "--kubeconfig", str(served.kubeconfig))
        assert (second.returncode, "belongs to another" in second.stderr) == (2, True)
        served.ok("-n", "test-hotel-reservation", "rollout", "undo", "deployment/geo")
        served.ok("-n", "test-hotel-reservation", "rollout", "status", "deployment/geo")
        done = aiopslab("submit", "--kubeconfig", str(served.kubeconfig), "--json")
        assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    record = json.loads(Path(verdict["record"]).read_text())
    assert (verdict["ending"], verdict["results"]["success"]) == ("submitted", True), verdict["results"]
    assert (record["agent"], record["problem_id"], record["results"]["success"]) == ("human", PROBLEM, True)
    assert record["settings"]["faults"][0]["name"] == "misconfig_app"
    late = aiopslab("submit", "--kubeconfig", str(served.kubeconfig))
    assert (late.returncode, "Is `aiopslab cluster up` still running?" in late.stderr) == (1, True)
    assert "success" in (tmp_path / "server.log").read_text()


def test_a_kubeconfig_of_others_is_not_replaced(tmp_path: Path) -> None:
    own = tmp_path / "config"
    own.write_text("apiVersion: v1\nkind: Config\nclusters: [{name: production}]\n")
    done = aiopslab("cluster", "up", "--kubeconfig", str(own))
    assert (done.returncode, "Choose another file with --kubeconfig" in done.stderr) == (2, True)
    assert "production" in own.read_text()


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with cluster(tmp_path, "--nodes", "1", "--no-telemetry") as served:
        assert "Telemetry" not in fully_told(tmp_path / "server.log")
        port = served.kubeconfig.read_text().partition("https://127.0.0.1:")[2].split()[0]
        second = aiopslab("cluster", "up", "--port", port, "--kubeconfig", str(tmp_path / "other"))
    assert second.returncode == 2
    assert "cannot be used" in second.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("cluster", "up", "--speed", "0"), "must be above 0"),
        (("cluster", "up", "--app", "shop"), "Choose one of: hotel-reservation"),
        (("cluster", "up", "--app", "shop", "--api-only"), "leave out --api-only"),
        (("shell", "--app", "shop"), "Choose one of: hotel-reservation"),
        (("cluster", "up", "--nodes", "0"), "Invalid value for '--nodes'"),
        (("cluster", "up", "--problem", PROBLEM, "--app", "shop"), "leave out --app"),
        (("cluster", "up", "--problem", "misconfig_app_hotel-mitigation-1"), PROBLEM),
        (("submit", "Yes", "--kubeconfig", "/nowhere"), "Start a cluster with `aiopslab cluster up`"),
        (("cluster", "status", "--kubeconfig", "/nowhere"), "Start a cluster with `aiopslab cluster up`"),
    ],
)
def test_a_wrong_call_says_what_to_do(arguments: tuple[str, ...], told: str) -> None:
    done = aiopslab(*arguments)
    assert done.returncode in (1, 2)
    assert told in done.stderr
