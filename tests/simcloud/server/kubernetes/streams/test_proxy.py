"""Pods and services through the API server's proxy, as ``kubectl get --raw`` and libraries use it."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request

import pytest
from hypothesis import given, strategies as st

from simcloud.server.kubernetes.streams.exchange import Answer, AnswerReader
from tests.simcloud.server.kubernetes.served import PATIENCE_S
from tests.simcloud.server.kubernetes.streams.conftest import World
from tests.simcloud.server.kubernetes.streams.world import HTTP_PORT, PAGE, put

HERE = "/api/v1/namespaces/default"


def read_answer(data: bytes, ended: bool, is_head: bool) -> Answer | None:
    """What is read from bytes, which come one by one."""
    reader = AnswerReader(is_head)
    for place in range(len(data)):
        found = reader.feed(data[place : place + 1])
        if found is not None:
            return found
    return reader.end() if ended else None


def ask(world: World, path: str, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(
        world.server.url + path,
        data=body,
        method=method,
        headers={"Authorization": f"Bearer {world.server.token}"},
    )
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S, context=trusting) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def refusal(world: World, path: str) -> tuple[int, str, str]:
    code, body = ask(world, path)
    status = json.loads(body)
    return code, status["reason"], status["message"]


@pytest.fixture(scope="module", autouse=True)
def service(world: World) -> None:
    """A service with one ready pod behind it, and one with none."""
    for name, selected in (("web", True), ("lonely", False)):
        meta = {"name": name, "namespace": "default", "labels": {"kubernetes.io/service-name": name}}
        ports = [{"name": "http", "port": 8000, "targetPort": HTTP_PORT, "protocol": "TCP"}]
        put(
            world.api,
            "services",
            {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": ports}},
        )
        endpoints = [
            {
                "addresses": ["10.244.0.9"],
                "conditions": {"ready": False},
                "targetRef": {"kind": "Pod", "name": "two"},
            },
            {
                "addresses": ["10.244.0.2"],
                "conditions": {"ready": True},
                "targetRef": {"kind": "Pod", "name": "ok"},
            },
        ]
        put(
            world.api,
            "endpointslices",
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": meta,
                "addressType": "IPv4",
                "endpoints": endpoints if selected else endpoints[:1],
                "ports": [{"name": "http", "port": HTTP_PORT, "protocol": "TCP"}],
            },
        )


@pytest.mark.parametrize(
    "name", ["pods/ok:80", "pods/http:ok:80", "pods/ok", "services/web:8000", "services/web:http"]
)
def test_a_page(world: World, name: str) -> None:
    assert ask(world, f"{HERE}/{name}/proxy/") == (200, PAGE)


def test_path_query_method_and_body_are_passed_on(world: World) -> None:
    path = f"{HERE}/pods/ok:80/proxy/a/b%20c?d=1&e"
    assert ask(world, path, "POST", b"12345") == (404, b"POST /a/b%20c?d=1&e 5\n")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "pods/ok:8080/proxy/",
            (
                503,
                "ServiceUnavailable",
                "error trying to reach service: dial tcp 10.244.0.2:8080: connect: connection refused",
            ),
        ),
        (
            "services/lonely:http/proxy/",
            (503, "ServiceUnavailable", 'no endpoints available for service "lonely"'),
        ),
        (
            "services/web:81/proxy/",
            (503, "ServiceUnavailable", 'no service port 81 found for service "web"'),
        ),
        ("services/no/proxy/", (404, "NotFound", 'services "no" not found')),
        ("pods/no/proxy/", (404, "NotFound", 'pods "no" not found')),
        ("pods/bigcpu/proxy/", (400, "BadRequest", "address not allowed")),
        ("services/a:b:c:d/proxy/", (400, "BadRequest", 'invalid service request "a:b:c:d"')),
        ("pods/ftp:ok:80/proxy/", (400, "BadRequest", 'invalid pod request "ftp:ok:80"')),
    ],
)
def test_refusals(world: World, path: str, expected: tuple[int, str, str]) -> None:
    assert refusal(world, f"{HERE}/{path}") == expected


def test_an_answer_is_whole_by_its_length_its_chunks_or_its_end() -> None:
    counted = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
    assert read_answer(counted + b"ab", False, False) is None
    found = read_answer(counted + b"abc", False, False)
    assert found is not None
    assert (found.code, found.body) == (200, b"abc")
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert read_answer(chunked + b"3\r\nabc\r\n", False, False) is None
    found = read_answer(chunked + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", False, False)
    assert found is not None
    assert found.body == b"abcde"
    open_ended = b"HTTP/1.0 200 OK\r\n\r\nabc"
    assert read_answer(open_ended, False, False) is None
    found = read_answer(open_ended, True, False)
    assert found is not None
    assert found.body == b"abc"
    found = read_answer(counted, False, True)
    assert found is not None
    assert found.body == b""


def test_an_answer_before_the_answer_is_passed_over() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"
    found = AnswerReader(is_head=False).feed(interim * 5_000 + b"HTTP/1.1 204 No Content\r\n\r\n")
    assert found is not None
    assert found.code == 204


@given(st.binary(max_size=60), st.binary(max_size=60), st.booleans(), st.booleans())
def test_any_bytes_are_an_answer_or_none_or_an_error(
    head: bytes, rest: bytes, ended: bool, is_head: bool
) -> None:
    for data in (head + rest, b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + rest):
        try:
            read_answer(data, ended, is_head)
        except ValueError:
            pass


@given(st.binary(max_size=60), st.booleans())
def test_any_chunks_are_a_body_or_none_or_an_error(rest: bytes, ended: bool) -> None:
    try:
        read_answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + rest, ended, False)
    except ValueError:
        pass
