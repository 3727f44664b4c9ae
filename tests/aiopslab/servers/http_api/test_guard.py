"""A server that nobody has a session on: tokens, other sites, sizes, slow clients, and stored results."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from aiopslab.servers.http_api import bodies, connections
from aiopslab.servers.http_api.app import ENDPOINTS
from tests.aiopslab.benchmark.stored import write_store
from tests.aiopslab.servers.http_api.running_server import TOKEN, RunningServer, run_server

ENDED = '{"ending": "submitted", "steps": [], "problem_id": "known"}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_server(tmp_path_factory.mktemp("results")) as running:
        yield running


def test_every_path_but_health_needs_the_token(server: RunningServer) -> None:
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{.*?\}", "x", endpoint.path)
        for token in (None, "", "guess", f"{TOKEN}x", "x.y"):
            answer = server.ask(endpoint.method, path, {}, token=token)
            assert answer.status == (200 if endpoint.path == "/health" else 401), (path, token)
    assert server.ask("GET", "/static/js/main.js", token=None).status == 401


def test_the_address_with_the_token_sets_a_cookie(server: RunningServer) -> None:
    answer = server.ask("GET", f"/?token={TOKEN}", token=None)
    cookie = answer.headers["set-cookie"]
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    named = {"Cookie": cookie.partition(";")[0]}
    assert server.ask("GET", "/api/sessions", token=None, headers=named).json == []
    assert server.ask("GET", "/?token=guess", token=None).status == 401
    assert server.ask("GET", "/api/sessions?token=" + TOKEN, token=None).status == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Host": "[::1"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:99"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Host": "localhost:99", "Origin": "http://localhost:99"}, 200),
    ],
)
def test_requests_by_another_name_or_from_another_site_are_refused(
    server: RunningServer, headers: dict[str, str], status: int
) -> None:
    answer = server.ask("GET", "/api/sessions", headers=headers)
    assert answer.status == status, answer.data


def test_another_site_cannot_post_even_without_an_origin(server: RunningServer) -> None:
    assert server.ask("POST", "/api/sessions", {}, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert server.ask("POST", "/api/sessions", b"problem=x", headers=form).status == 415


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"problem": ', 400),
        (b"[" * 500_000, 400),
        (b"\xff\xfe", 400),
        (b"[]", 400),
        (b'{"seed": -1}', 400),
        (b'{"max_steps": 0}', 400),
        (b'{"max_steps": 1e9}', 400),
        (b'{"unknown": 1}', 400),
        (b'{"noise": "loud"}', 400),
        (b'{"suite": "none"}', 400),
        (b'{"problem": "none"}', 404),
        (b" " * (bodies.BODY_BYTES + 1), 413),
    ],
)
def test_wrong_orders_are_explained(server: RunningServer, body: bytes, status: int) -> None:
    answer = server.ask("POST", "/api/sessions", body)
    assert answer.status == status
    assert answer.error.endswith((".", "?", "aiopslab list"))
    assert server.ask("GET", "/api/sessions").json == []


def test_every_error_is_json(server: RunningServer) -> None:
    assert server.ask("GET", "/nothing").status == 404
    assert server.ask("PUT", "/api/sessions").status == 405
    assert server.ask("GET", "/api/sessions/0123456789abcdef").status == 404
    for path in ("/nothing", "/api/sessions/x/record", "/api/records/x", "/api/benchmarks/x/report"):
        assert "GET /" in server.ask("GET", path).error
    assert server.ask("GET", "/api/problems?task=none").status == 400


def test_a_head_that_is_too_long_or_no_http_is_refused(server: RunningServer) -> None:
    long = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * connections.HEADER_BYTES
    for data in (long, b"\x16\x03\x01 hello\r\n\r\n"):
        head, _, body = server.raw(data).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400") and "error" in json.loads(body)


def test_a_client_that_is_too_slow_is_cut_off(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_S", 0.2)
    monkeypatch.setattr(bodies, "BODY_S", 0.2)
    assert server.raw(b"GET /health HTT") == b""
    head = f"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
    slow = (
        f"{head}Content-Type: application/json\r\nConnection: close\r\nContent-Length: 99\r\n\r\n{{".encode()
    )
    assert server.raw(slow).startswith(b"HTTP/1.1 408")


def test_there_are_not_more_connections_than_allowed(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 3)
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
    try:
        assert server.raw(b"").startswith(b"HTTP/1.1 503")
    finally:
        for connection in held:
            connection.close()


def test_answers_say_how_browsers_must_treat_them(server: RunningServer) -> None:
    headers = server.ask("GET", "/health", token=None).headers
    assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "server" not in headers


def test_problems_are_listed_without_what_is_wrong_in_them(server: RunningServer) -> None:
    rows = server.ask("GET", "/api/problems?suite=smoke&task=mitigation&app=social-network").json
    assert {row["id"] for row in rows} == {
        "scale_pod_zero_social_net-mitigation-1",
        "deleted_service_social_net-mitigation",
    }
    assert server.ask("GET", f"/api/problems/{rows[0]['id']}").json == rows[0]
    assert set(rows[0]) == {"id", "task", "app", "difficulty", "drawn"}
    assert "noop" in [agent["name"] for agent in server.ask("GET", "/api/agents").json]


def test_the_description_has_every_endpoint_and_body(server: RunningServer) -> None:
    document = server.ask("GET", "/openapi.json").json
    operations = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert document["openapi"] == "3.1.0"
    assert operations == {(endpoint.method, re.sub(r":\w+\}", "}", endpoint.path)) for endpoint in ENDPOINTS}
    ids = [
        operation["operationId"] for methods in document["paths"].values() for operation in methods.values()
    ]
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'"#/components/schemas/(\w+)"', msgspec.json.encode(document).decode()):
        assert reference in document["components"]["schemas"]


def test_benchmarks_below_the_results_are_reported(server: RunningServer) -> None:
    assert server.ask("GET", "/api/benchmarks").json == []
    write_store(server.results / "bench" / "first")
    (listed,) = server.ask("GET", "/api/benchmarks").json
    assert listed["name"] == "bench/first" and listed["episodes"] > 0
    report = server.ask("GET", "/api/benchmarks/bench/first/report").json
    overall = report["tables"][0]
    assert overall["name"] == "overall" and len(overall["rows"][0]) == len(overall["header"])
    shares = [cell for row in overall["rows"] for cell in row if isinstance(cell, dict) and "count" in cell]
    assert shares and all(
        share["interval"]["low"] <= share["value"] <= share["interval"]["high"] for share in shares
    )
    found = server.ask("GET", "/api/benchmarks/bench/first/episodes?text=good%20zero-detection&offset=3").json
    (episode,) = found["episodes"]
    name = episode["record"]
    assert (server.results / name).write_text(ENDED)
    assert server.ask("GET", f"/api/records/{quote(name, safe='')}").json["problem_id"] == "known"


def test_a_record_outside_of_the_folder_is_not_read(server: RunningServer, tmp_path: Path) -> None:
    (server.results.parent / "secret.json").write_text(ENDED)
    for name in (
        "..%2fsecret.json",
        "%2e%2e/secret.json",
        "....//secret.json",
        "..%2fsessions%2fsecret.json",
        "x%2fsessions%2f..%2f..%2fsecret.json",
    ):
        assert server.ask("GET", f"/api/records/{name}").status == 404
    (server.results / "no_record.json").write_text("[]")
    assert server.ask("GET", "/api/records").json == []
