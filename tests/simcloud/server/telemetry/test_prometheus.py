"""The HTTP application with genuine promtool at its door, and with what clients do wrong."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator

import pytest
import uvicorn

from simcloud.server.telemetry.app import FORM_BYTES, TelemetryApp
from simcloud.telemetry import PrometheusPaths
from simcloud.telemetry.prometheus_api import PrometheusApi
from tests.simcloud.server.kubernetes.in_process import Still
from tests.simcloud.telemetry.promql.samples import END_MS, START_MS, store_with_samples

PATIENCE_S = 300.0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    yield from serve(None)


@pytest.fixture(scope="module")
def guarded_url() -> Iterator[str]:
    yield from serve("secret")


def serve(token: str | None) -> Iterator[str]:
    store = store_with_samples()
    store.describe("up", "gauge", "Whether it answers.")
    app = TelemetryApp([PrometheusPaths(PrometheusApi(store, lambda: END_MS))], Still(), token)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + PATIENCE_S
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(PATIENCE_S)


def ask(address: str, form: dict[str, str] | bytes | None = None, **headers: str) -> tuple[int, str]:
    body = urllib.parse.urlencode(form).encode() if isinstance(form, dict) else form
    request = urllib.request.Request(address, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def promtool(*arguments: str) -> str:
    return subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    ).stdout


@pytest.mark.live("prometheus")
def test_promtool_asks_for_one_time(url: str) -> None:
    output = promtool("query", "instant", f"--time={END_MS // 1000}", url, 'up{job="node"}')
    assert output == f'up{{instance="n1", job="node"}} => 1 @[{END_MS / 1000:.0f}]\n'


@pytest.mark.live("prometheus")
def test_promtool_asks_for_a_range(url: str) -> None:
    start = START_MS // 1000
    output = promtool(
        "query", "range", f"--start={start}", f"--end={start + 30}", "--step=15s", url, "sum(build_info)"
    )
    assert output == f"{{}} =>\n3 @[{start}]\n3 @[{start + 15}]\n3 @[{start + 30}]\n"


@pytest.mark.live("prometheus")
def test_promtool_asks_for_labels_and_series(url: str) -> None:
    span = (f"--start={START_MS // 1000}", f"--end={END_MS // 1000}")
    assert promtool("query", "labels", *span, url, "room") == "attic\ncellar\nhall\nkitchen\noven\n"
    output = promtool("query", "series", "--match=build_info", *span, url)
    assert (
        output.splitlines()[0] == '{__name__="build_info", instance="10.0.0.0:80", team="t0", version="v0"}'
    )


def test_a_question_may_come_as_a_form(url: str) -> None:
    asked = {"query": "vector(7)", "time": "5"}
    by_form = ask(f"{url}/api/v1/query", asked)
    assert by_form == ask(f"{url}/api/v1/query?{urllib.parse.urlencode(asked)}")
    assert json.loads(by_form[1]) == {
        "status": "success",
        "data": {"resultType": "vector", "result": [{"metric": {}, "value": [5, "7"]}]},
    }


def test_refusals_have_their_status(url: str) -> None:
    assert ask(f"{url}/api/v1/query?query=up%2B")[0] == 400
    assert ask(f"{url}/api/v1/query?query=up%2Bon(job)up")[0] == 422
    assert ask(f"{url}/api/v1/nothing") == (404, "404 page not found\n")
    assert ask(f"{url}/graph")[0] == 404
    assert ask(f"{url}/api/v1/metadata", {"metric": "up"})[0] == 405
    assert ask(f"{url}/api/v1/query", b"query=" + b"x" * FORM_BYTES)[0] == 413


def test_metadata_and_readiness(url: str) -> None:
    output = json.loads(ask(f"{url}/api/v1/metadata")[1])
    assert output["data"] == {"up": [{"type": "gauge", "help": "Whether it answers.", "unit": ""}]}
    assert ask(f"{url}/-/ready") == (200, "Prometheus Server is Ready.\n")
    assert json.loads(ask(f"{url}/api/v1/status/buildinfo")[1])["data"]["version"] == "2.42.0"


def test_only_who_brings_the_token_is_answered(guarded_url: str) -> None:
    path = f"{guarded_url}/api/v1/query?query=1"
    assert ask(path)[0] == 401
    assert ask(path, authorization="Bearer wrong")[0] == 401
    assert ask(path, authorization="Bearer secret")[0] == 200
