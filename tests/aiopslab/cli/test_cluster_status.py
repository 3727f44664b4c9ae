"""The view of a served cluster, with telemetry and without, as a person and as a program reads it."""

from __future__ import annotations

import io
import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from aiopslab.cli.cluster_status import read_status, show_status
from aiopslab.cli.cluster_view import draw
from simcloud.machine.emit import Span
from simcloud.server.telemetry.apis import apis_of
from tests.simcloud.server.kubernetes.served import PATIENCE_S
from tests.simcloud.server.kubernetes.threaded import serving
from tests.simcloud.telemetry.collectors.watched import CRASH, Watched


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster with a pod that crashes and an application whose calls were recorded, served standing still."""
    lab = Watched()
    lab.deploy("web", "nginx:1.19", 2)
    lab.deploy("bad", "busybox:1.36", 1, CRASH)
    lab.world.run_for(700)
    now = lab.world.kernel.now
    for number in range(1, 301):
        start, failed = now - number, "deadline exceeded" if number % 10 == 0 else None
        lab.world.emitter.span(
            Span(number, 10 * number + 1, 10 * number, "geo", "Nearby", start, 0.004, failed)
        )
        lab.world.emitter.span(Span(number, 10 * number, 0, "frontend", "/hotels", start, 0.01, failed))
    home = tmp_path_factory.mktemp("served")
    with serving(lab.cluster.api, home / "kubeconfig", 0.001, apis_of(lab.monitoring)) as config:
        yield config


def address(kubeconfig: Path) -> tuple[str, str]:
    told = yaml.safe_load(kubeconfig.read_text())
    (extension,) = told["clusters"][0]["cluster"]["extensions"]
    return extension["extension"]["server"], told["users"][0]["user"]["token"]


def ask(kubeconfig: Path, path: str, authorized: bool = True) -> tuple[int, Any]:
    url, token = address(kubeconfig)
    headers = {"Authorization": f"Bearer {token}"} if authorized else {}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url + path, headers=headers), timeout=PATIENCE_S
        ) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def shown(kubeconfig: Path) -> str:
    out = io.StringIO()
    draw(read_status(kubeconfig), Console(file=out, width=140))
    return out.getvalue()


def test_nodes_workloads_and_alerts_are_told(kubeconfig: Path) -> None:
    status = read_status(kubeconfig)
    assert [(node["name"], node["ready"], node["roles"]) for node in status["nodes"]] == [
        ("kind-control-plane", True, ["control-plane"]),
        ("kind-worker", True, []),
    ]
    assert all(0 < node["memory_share"] < 1 for node in status["nodes"])
    workloads = {one["name"]: one for one in status["workloads"]}
    assert (workloads["web"]["ready"], workloads["web"]["desired"], workloads["web"]["restarts"]) == (2, 2, 0)
    assert (workloads["bad"]["ready"], workloads["bad"]["desired"]) == (0, 1)
    assert workloads["bad"]["restarts"] >= 5
    assert workloads["kube-proxy"]["kind"] == "DaemonSet"
    assert "KubePodCrashLooping" in {alert["labels"]["alertname"] for alert in status["alerts"]}


def test_the_map_has_rates_errors_and_latencies(kubeconfig: Path) -> None:
    calls = read_status(kubeconfig)["calls"]
    (edge,) = calls["calls"]
    assert (edge["parent"], edge["child"]) == ("frontend", "geo")
    assert edge["rate"] == pytest.approx(1.0, abs=0.02)
    assert edge["error_share"] == pytest.approx(0.1, abs=0.01)
    assert (edge["p50_s"], edge["p99_s"]) == (0.004, 0.004)


def test_people_see_a_picture(kubeconfig: Path) -> None:
    told = shown(kubeconfig)
    assert "KubePodCrashLooping" in told
    assert "frontend" in told.partition("Calls between services")[2]
    assert "└─ geo" in told
    assert "4.0 ms" in told


def test_programs_get_json(kubeconfig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_status(kubeconfig, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["nodes"] == 2


def test_without_traces_a_sentence_says_so(kubeconfig: Path) -> None:
    status = read_status(kubeconfig) | {"calls": {"lookback_s": 300, "services": [], "calls": []}}
    out = io.StringIO()
    draw(status, Console(file=out, width=140))
    assert "there were no traces in the last 5 minutes" in out.getvalue()


def test_without_telemetry_a_sentence_says_so(tmp_path: Path) -> None:
    lab = Watched()
    with serving(lab.cluster.api, tmp_path / "kubeconfig", 0.001) as config:
        status = read_status(config)
        assert (status["alerts"], status["calls"]) == (None, None)
        assert "started without telemetry" in shown(config)


def test_jaeger_loki_and_prometheus_answer_at_one_address(kubeconfig: Path) -> None:
    assert ask(kubeconfig, "/api/services")[1]["data"] == ["frontend", "geo"]
    traces = ask(kubeconfig, "/api/traces?service=geo&limit=5&lookback=1h")[1]["data"]
    assert [len(trace["spans"]) for trace in traces] == [2] * 5
    query = urllib.parse.urlencode({"query": '{namespace="kube-system"}', "limit": "3"})
    status, lines = ask(kubeconfig, f"/loki/api/v1/query_range?{query}")
    assert (status, lines["data"]["resultType"]) == (200, "streams")
    assert lines["data"]["result"]
    assert ask(kubeconfig, "/api/v1/query?query=up")[1]["status"] == "success"


@pytest.mark.parametrize("path", ["/", "/topology", "/api/services", "/loki/api/v1/labels", "/api/v1/labels"])
def test_nobody_is_answered_without_the_token(kubeconfig: Path, path: str) -> None:
    assert ask(kubeconfig, path, authorized=False) == (401, "Unauthorized\n")


@pytest.mark.live("prometheus")
def test_promtool_takes_the_token_as_a_password(kubeconfig: Path) -> None:
    url, token = address(kubeconfig)
    now = ask(kubeconfig, "/api/v1/query?query=time()")[1]["data"]["result"][1]
    argv = [
        "promtool",
        "query",
        "instant",
        f"--time={now}",
        url.replace("://", f"://me:{token}@"),
        "count(up)",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stdout.startswith("{} => ")
