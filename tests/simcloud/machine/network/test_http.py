"""HTTP messages: headers, sizes, bytes at the edge, and a server on a port."""

from __future__ import annotations

import pytest

from simcloud.machine.network.http import HttpRequest, HttpResponse, parse_request, respond


def test_header_names_have_no_case() -> None:
    request = HttpRequest("GET", "/", {"X-Trace-Id": "7"})
    assert request.header("x-trace-id") == "7"
    assert request.header("other") is None


def test_the_head_is_what_crosses_the_wire() -> None:
    response = HttpResponse(404, b"gone", {"Content-Type": "text/plain"})
    assert response.head() == b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\n"
    assert response.size_bytes == len(response.head()) + 4
    assert HttpRequest("GET", "/x", {"Host": "web"}).head() == b"GET /x HTTP/1.1\r\nHost: web\r\n\r\n"
    assert HttpResponse(599).head() == b"HTTP/1.1 599 \r\n\r\n"


def test_respond_takes_text_and_headers() -> None:
    response = respond(200, "grüße", Content_Type="text/plain")
    assert (response.body, response.headers) == ("grüße".encode(), {"Content-Type": "text/plain"})


@pytest.mark.parametrize(
    ("data", "method", "path", "body", "connection"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/", b"", None),
        (b"GET /a HTTP/1.0\r\n\r\n", "GET", "/a", b"", "close"),
        (b"GET /a\n\n", "GET", "/a", b"", "close"),
        (b"POST /a HTTP/1.1\nContent-Length: 2\n\nhi", "POST", "/a", b"hi", None),
    ],
)
def test_requests_from_bytes(
    data: bytes, method: str, path: str, body: bytes, connection: str | None
) -> None:
    request = parse_request(data)
    assert request is not None
    assert (request.method, request.path, request.body) == (method, path, body)
    assert request.header("connection") == connection


@pytest.mark.parametrize("data", [b"", b"\n", b"hello\n", b"get / HTTP/1.1\n\n", b"\xff\xfe\x00", b"STATS"])
def test_other_bytes_are_no_request(data: bytes) -> None:
    assert parse_request(data) is None
