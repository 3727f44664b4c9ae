from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from starlette.datastructures import QueryParams

from simcloud.kubernetes.api.errors import ApiError, BadRequest, NoSuchPath
from simcloud.server.kubernetes.paths import read_target
from simcloud.server.kubernetes.streams.requests import check_target, parse_options, read_ports


def options(query: str, subresource: str = "exec") -> object:
    return parse_options(QueryParams(query), subresource)


def test_what_kubectl_asks_for() -> None:
    read = parse_options(
        QueryParams("command=sh&command=-c&command=ls&container=web&stderr=true&stdout=true"), "exec"
    )
    assert (read.command, read.container) == (("sh", "-c", "ls"), "web")
    assert (read.stdin, read.stdout, read.stderr, read.tty) == (False, True, True, False)


def test_a_terminal_has_one_output() -> None:
    read = parse_options(QueryParams("command=sh&stdin=1&stdout=1&stderr=1&tty=1"), "exec")
    assert (read.stdout, read.stderr) == (True, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("1", True),
        ("", True),
        ("yes", True),
        ("false", False),
        ("False", False),
        ("0", False),
    ],
)
def test_flags_are_read_as_the_api_reads_them(text: str, expected: bool) -> None:
    assert parse_options(QueryParams(f"command=a&stdout=1&stdin={text}"), "exec").stdin is expected


def test_somebody_must_listen_or_speak() -> None:
    with pytest.raises(BadRequest, match=r"^you must specify at least 1 of stdin, stdout, stderr$"):
        options("command=ls")
    with pytest.raises(BadRequest, match=r"^you must specify at least 1 of stdin, stdout, stderr$"):
        options("command=ls&stderr=true&tty=true")


def test_a_command_is_needed_to_run_one_but_not_to_join_one() -> None:
    with pytest.raises(BadRequest):
        options("stdout=true")
    options("stdout=true", "attach")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", 'query parameter "port" is required'),
        ("port=", 'query parameter "port" cannot be empty'),
        ("port=0", 'port "0" must be > 0'),
        ("port=http", 'unable to parse "http" as a port: strconv.ParseUint: parsing "http": invalid syntax'),
        (
            "ports=80,70000",
            'unable to parse "80,70000" as a port: strconv.ParseUint: parsing "70000": value out of range',
        ),
    ],
)
def test_ports_that_are_none(query: str, sentence: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read_ports(QueryParams(query))
    assert caught.value.message == sentence


def test_ports_may_be_listed_or_repeated() -> None:
    assert read_ports(QueryParams("ports=80,443&ports=8080")) == [80, 443, 8080]
    assert read_ports(QueryParams([("port", "80"), ("port", "81")])) == [80, 81]


@given(st.text(max_size=30))
def test_any_port_is_a_port_or_refused(text: str) -> None:
    try:
        ports = read_ports(QueryParams([("port", text)]))
    except ApiError:
        return
    assert all(0 < port < 65_536 for port in ports)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/demo/pods/web/log",
        "/api/v1/namespaces/demo/services/web/exec",
        "/apis/apps/v1/namespaces/demo/deployments/web/exec",
        "/api/v1/pods/web/exec",
        "/api/v1/namespaces/demo/pods/web/exec/more",
        "/healthz",
    ],
)
def test_only_pods_have_streams(path: str) -> None:
    with pytest.raises(NoSuchPath):
        check_target(read_target("GET", path, {}))
