"""curl against a simulated server: what it prints, how it fails, how long it takes.

The expected texts are what curl 7.88 writes to a server that answers the same.
"""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from simcloud.machine.network.http import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Signal
from tests.simcloud.userland.commands.two_machines import TwoMachines, website

METER = (
    b"  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    b"                                 Dload  Upload   Total   Spent    Left  Speed\n"
)


@pytest.fixture
def world() -> TwoMachines:
    world = TwoMachines()
    world.serve(website)
    return world


def answer(world: TwoMachines, line: str) -> tuple[int, str, str]:
    done = world.type(line)
    return done.status, done.stdout.decode(), done.stderr.decode()


def test_it_prints_the_body(world: TwoMachines) -> None:
    assert answer(world, "curl -s http://web/hello") == (0, "hello\n", "")
    assert answer(world, "curl -s web/hello") == (0, "hello\n", "")
    assert answer(world, "curl -s http://web http://web/missing") == (0, "index\nnot here\n", "")


def test_without_a_terminal_it_shows_a_meter(world: TwoMachines) -> None:
    done = world.type("curl http://web/hello")
    assert done.stdout == b"hello\n"
    assert done.stderr.startswith(METER + b"\r  0     0    0     0    0     0      0      0 --:--:--")
    last = done.stderr.split(b"\r")[-1].split()
    assert last[:6] == [b"100", b"6", b"100", b"6", b"0", b"0"]
    assert world.type("curl --no-progress-meter http://web/hello").stderr == b""


def test_fail_turns_errors_of_the_server_into_a_status(world: TwoMachines) -> None:
    assert answer(world, "curl -sf http://web/missing") == (22, "", "")
    assert answer(world, "curl -sSf http://web/broken") == (
        22,
        "",
        "curl: (22) The requested URL returned error: 500\n",
    )
    assert answer(world, "curl -s --fail-with-body http://web/missing") == (22, "not here\n", "")
    assert answer(world, "curl -s http://web/missing")[0] == 0


def test_heads_are_shown_when_asked_for(world: TwoMachines) -> None:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\n"
    assert answer(world, "curl -si http://web/hello") == (0, head + "hello\n", "")
    assert answer(world, "curl -sI http://web/hello") == (0, head, "")
    assert answer(world, "curl -s -D - -o /dev/null http://web/hello") == (0, head, "")


def test_verbose_tells_every_step(world: TwoMachines) -> None:
    assert answer(world, "curl -sv http://web/hello")[2] == (
        "*   Trying 10.0.0.2:80...\n* Connected to web (10.0.0.2) port 80 (#0)\n"
        "> GET /hello HTTP/1.1\r\n> Host: web\r\n> User-Agent: curl/7.88.1\r\n> Accept: */*\r\n> \r\n"
        "< HTTP/1.1 200 OK\r\n< Content-Type: text/plain\r\n< Content-Length: 6\r\n< \r\n"
        "{ [6 bytes data]\n* Connection #0 to host web left intact\n"
    )
    assert answer(world, "curl -sSv http://web:81/")[2] == (
        "*   Trying 10.0.0.2:81...\n* connect to 10.0.0.2 port 81 failed: Connection refused\n"
        "* Failed to connect to web port 81 after 0 ms: Couldn't connect to server\n* Closing connection 0\n"
        "curl: (7) Failed to connect to web port 81 after 0 ms: Couldn't connect to server\n"
    )


def test_redirects_are_followed_only_when_asked(world: TwoMachines) -> None:
    assert answer(world, "curl -s http://web/moved") == (0, "", "")
    assert answer(world, "curl -sL http://web/moved") == (0, "hello\n", "")
    assert answer(world, "curl -sL -w '%{num_redirects} %{url_effective}' -o /dev/null http://web/moved")[
        1
    ] == ("1 http://web/hello")
    assert answer(world, "curl -sSL http://web/loop") == (
        47,
        "",
        "curl: (47) Maximum (50) redirects followed\n",
    )
    assert answer(world, "curl -sSL --max-redirs 2 http://web/loop")[2] == (
        "curl: (47) Maximum (2) redirects followed\n"
    )
    assert answer(world, "curl -sL -d x http://web/moved")[1] == "hello\n"
    assert answer(world, "curl -sL -d x http://web/kept")[1].startswith("POST /echo\n")


def test_requests_carry_what_they_are_told_to(world: TwoMachines) -> None:
    echo = answer(world, "curl -s -d a=1 -d b=2 http://web/echo")[1]
    assert echo == (
        "POST /echo\nHost: web\nUser-Agent: curl/7.88.1\nAccept: */*\nContent-Length: 7\n"
        "Content-Type: application/x-www-form-urlencoded\n\na=1&b=2"
    )
    echo = answer(world, "curl -s -H 'X-A: 1' -H 'Accept:' -A me -e ref -b c=1 -u u:p http://web/echo")[1]
    assert echo == (
        "GET /echo\nHost: web\nAuthorization: Basic dTpw\nUser-Agent: me\nReferer: ref\nCookie: c=1\nX-A: 1\n\n"
    )
    echo = answer(world, "curl -s --json '{\"a\":1}' http://web/echo")[1]
    assert "Content-Type: application/json\nAccept: application/json\nContent-Length: 7\n" in echo
    assert answer(world, "curl -s -X PUT -d x http://web/echo")[1].startswith("PUT /echo\n")
    assert answer(world, "curl -s -G -d a=1 -d b=2 http://web/echo")[1].startswith("GET /echo?a=1&b=2\n")
    assert answer(world, "curl -s --data-urlencode 'a=x y&z' http://web/echo")[1].endswith("\na=x+y%26z")
    assert answer(world, "curl -s -X DELETE http://web/echo/1")[1].startswith("DELETE /echo/1\n")
    assert answer(world, "curl -s http://u:p@web/echo")[1].splitlines()[2] == "Authorization: Basic dTpw"


def test_data_comes_from_files_and_standard_input(world: TwoMachines) -> None:
    world.here.host.files.write("/w/data", b"one\ntwo\n")
    assert answer(world, "curl -s -d @data http://web/echo")[1].endswith("\nonetwo")
    assert answer(world, "curl -s --data-binary @data http://web/echo")[1].endswith("\none\ntwo\n")
    assert answer(world, "cat data | curl -s --data-binary @- http://web/echo")[1].endswith("\none\ntwo\n")
    assert answer(world, "curl -s -T data http://web/echo")[1].startswith("PUT /echo\n")
    assert answer(world, "curl -s -T nope http://web/echo")[0] == 26
    form = answer(world, "curl -s -F a=1 -F f=@data http://web/echo")[1]
    assert 'name="f"; filename="data"\r\nContent-Type: application/octet-stream\r\n\r\none\ntwo\n' in form


def test_output_goes_to_files(world: TwoMachines) -> None:
    assert answer(world, "curl -so out http://web/hello; cat out") == (0, "hello\n", "")
    assert answer(world, "curl -sO http://web/hello; cat hello") == (0, "hello\n", "")
    assert answer(world, "curl -sSo /nope/x http://web/hello") == (
        23,
        "",
        "curl: (23) Failure writing output to destination\n",
    )
    assert answer(world, "curl -s --create-dirs -o a/b/c http://web/hello; cat a/b/c")[1] == "hello\n"


def test_write_out_knows_the_variables(world: TwoMachines) -> None:
    form = "%{http_code} %{size_download} %{content_type} %{remote_ip} %{remote_port} %{method} %{num_headers} %{exitcode}"
    assert answer(world, f"curl -s -o /dev/null -w '{form}\\n' http://web/hello")[1] == (
        "200 6 text/plain 10.0.0.2 80 GET 2 0\n"
    )
    assert answer(world, "curl -s -w '%{http_code}\\n' http://web:81/") == (7, "000\n", "")
    assert answer(
        world, "curl -s -o /dev/null -w '%{foo}|%%|%x|\\t|%header{content-type}' http://web/hello"
    ) == (
        0,
        "|%|%x|\t|text/plain",
        "curl: unknown --write-out variable: 'foo'\n",
    )
    facts = json.loads(answer(world, "curl -s -o /dev/null -w '%{json}' http://web/hello")[1])
    assert facts["http_code"] == 200
    assert facts["time_total"] > 0


def test_times_are_virtual(world: TwoMachines) -> None:
    world.network.link("host-1", "host-2").delay_s = 0.25
    form = "%{time_connect} %{time_starttransfer} %{time_total}"
    connect, first_byte, total = map(
        float, answer(world, f"curl -s -o /dev/null -w '{form}' http://web/hello")[1].split()
    )
    assert connect == pytest.approx(0.5, abs=0.01)
    assert first_byte == total == pytest.approx(1.0, abs=0.01)


def test_a_host_that_cannot_be_resolved(world: TwoMachines) -> None:
    assert answer(world, "curl -sS http://nosuch/") == (6, "", "curl: (6) Could not resolve host: nosuch\n")


def test_a_port_where_nobody_listens(world: TwoMachines) -> None:
    words = "curl: (7) Failed to connect to web port 81 after 0 ms: Couldn't connect to server\n"
    assert answer(world, "curl -sS http://web:81/") == (7, "", words)


def test_a_partition_is_a_timeout(world: TwoMachines) -> None:
    world.partition()
    done, took_s = world.timed("curl -sS -m 2 http://web/")
    assert (done.status, done.stderr) == (28, b"curl: (28) Connection timed out after 2000 milliseconds\n")
    assert took_s == pytest.approx(2.0, abs=0.01)
    done, took_s = world.timed("curl -sS --connect-timeout 3 http://web/")
    assert done.stderr == b"curl: (28) Failed to connect to web port 80 after 3000 ms: Timeout was reached\n"
    assert (done.status, round(took_s)) == (28, 3)


def test_a_limit_has_passed_at_whatever_moment_it_began(world: TwoMachines) -> None:
    world.partition()
    for tenth in range(12):
        told = world.type(f"sleep 0.{tenth}37; curl -sS -m 3 http://web/").stderr
        assert told == b"curl: (28) Connection timed out after 3000 milliseconds\n"


def test_without_a_limit_the_kernel_gives_up_at_last(world: TwoMachines) -> None:
    world.partition()
    done, took_s = world.timed("curl -sS http://web/")
    assert done.status == 28
    assert b"Couldn't connect to server" in done.stderr
    assert 100 < took_s < 200


def test_an_address_that_nobody_has(world: TwoMachines) -> None:
    done = world.type("curl -sS http://dead/")
    assert done.status == 7
    assert done.stderr.startswith(b"curl: (7) Failed to connect to dead port 80 after ")


def test_a_slow_answer_runs_into_the_limit() -> None:
    world = TwoMachines()

    async def slow(request: HttpRequest) -> HttpResponse:
        await world.kernel.sleep(5)
        return respond(200, "late\n")

    world.serve(slow)
    done, took_s = world.timed("curl -sS -m 1.5 http://web/")
    words = b"curl: (28) Operation timed out after 1500 milliseconds with 0 bytes received\n"
    assert (done.status, done.stderr, round(took_s, 1)) == (28, words, 1.5)
    assert world.type("curl -s http://web/").stdout == b"late\n"


@pytest.mark.parametrize(
    ("protocol", "status", "words"),
    [
        ("grpc", 1, "curl: (1) Received HTTP/0.9 when not allowed\n"),
        ("redis", 52, "curl: (52) Empty reply from server\n"),
        ("thrift", 52, "curl: (52) Empty reply from server\n"),
    ],
)
def test_servers_of_other_protocols(protocol: str, status: int, words: str) -> None:
    world = TwoMachines()
    world.listen(protocol)
    assert answer(world, "curl -sS http://web/") == (status, "", words)


def test_https_where_there_is_none_and_the_other_way_round(world: TwoMachines) -> None:
    done = world.type("curl -sS https://web:80/")
    assert done.status == 35
    assert b"wrong version number" in done.stderr
    secure = TwoMachines()
    secure.serve(website, "https")
    assert secure.text("curl -s http://web:80/hello") == "Client sent an HTTP request to an HTTPS server.\n"
    assert secure.text("curl -sk https://web:80/hello") == "hello\n"


def test_cookies_are_kept_in_a_file_and_sent_where_they_belong() -> None:
    world = TwoMachines()
    seen: list[tuple[str, str | None]] = []

    async def login(request: HttpRequest) -> HttpResponse:
        seen.append((request.path, request.header("Cookie")))
        if request.path != "/api/login":
            return respond(200, Set_Cookie="visits=1; HttpOnly")
        date = "Tue, 06-Jan-2099 09:15:12 GMT"
        return respond(302, Location="/main", Set_Cookie=f"token=abc; Path=/; Expires={date}")

    world.serve(login)
    jar = (
        "# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n"
        "# This file was generated by libcurl! Edit at your own risk.\n\n"
    )
    assert world.text("curl -s -L -c /tmp/jar http://web/api/login; cat /tmp/jar") == jar + (
        "#HttpOnly_web\tFALSE\t/\tFALSE\t0\tvisits\t1\nweb\tFALSE\t/\tFALSE\t4071374112\ttoken\tabc\n"
    )
    world.type(
        "curl -s -b /tmp/jar -b a=1 http://web/x; curl -s -j -b /tmp/jar http://web/x; curl -s web -b /none"
    )
    assert seen == [
        ("/api/login", None),
        ("/main", "token=abc"),
        ("/x", "visits=1; token=abc; a=1"),
        ("/x", "token=abc"),
        ("/", None),
    ]
    verbose = answer(world, "curl -sv -c - -o /dev/null http://web/a/b")[2]
    assert '* Added cookie visits="1" for domain web, path /a/, expire 0\n< Set-Cookie: visits' in verbose


def test_telnet_shows_whether_a_port_is_open(world: TwoMachines) -> None:
    assert answer(world, "curl -s telnet://web:81")[0] == 7
    done, took_s = world.timed("curl -sS -m 3 telnet://web:80 </dev/null")
    assert (done.status, done.stderr, round(took_s, 1)) == (28, b"curl: (28) Time-out\n", 3.0)
    assert answer(world, "curl -sv telnet://:9090") == (3, "", "* Closing connection -1\n")
    words = '* Protocol "foo" not supported or disabled in libcurl\n* Closing connection -1\n'
    assert answer(world, "curl -sv foo://web") == (1, "", words)


def test_a_server_that_dies_while_it_is_asked() -> None:
    world = TwoMachines()

    async def never(request: HttpRequest) -> HttpResponse:
        await world.kernel.sleep(1e6)
        return respond(200)

    server = world.serve(never)
    world.kernel.call_later(2.0, lambda _: server.die(Signal.KILL))
    done = world.type("curl -sS http://web/")
    assert (done.status, done.stderr) == (52, b"curl: (52) Empty reply from server\n")


def test_retries_wait_and_try_again() -> None:
    world = TwoMachines()
    asked: list[float] = []

    async def third_time_lucky(request: HttpRequest) -> HttpResponse:
        asked.append(world.kernel.now)
        return respond(200, "ok\n") if len(asked) == 3 else respond(503, "no\n")

    world.serve(third_time_lucky)
    assert world.text("curl -s --retry 5 http://web/") == "no\nno\nok\n"
    assert [round(b - a) for a, b in pairwise(asked)] == [1, 2]


def test_a_server_that_comes_up_while_curl_retries() -> None:
    world = TwoMachines()
    world.kernel.call_later(2.5, lambda _: world.launch(website))
    assert world.type("curl -s --retry 3 http://web/").status == 7
    late = TwoMachines()
    late.kernel.call_later(2.5, lambda _: late.launch(website))
    assert late.text("curl -s --retry 3 --retry-connrefused http://web/hello") == "hello\n"


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("curl", 2, "curl: try 'curl --help' or 'curl --manual' for more information\n"),
        ("curl -m x http://web/", 2, "curl: option -m: expected a proper numerical parameter\n"),
        ("curl --connect-timeout x http://web/", 2, "curl: option --connect-timeout: expected a proper"),
        ("curl --retry x http://web/", 2, "curl: option --retry: expected a proper numerical parameter\n"),
        ("curl --foo", 2, "curl: option --foo: is unknown\n"),
        ("curl --data=x http://web/", 2, "curl: option --data=x: is unknown\n"),
        ("curl -H", 2, "curl: option -H: requires parameter\n"),
        ("curl -sS http://", 3, "curl: (3) URL using bad/illegal format or missing URL\n"),
        ("curl -sS http://web:x/", 3, "curl: (3) URL using bad/illegal format or missing URL\n"),
        ("curl -sS foo://x", 1, 'curl: (1) Protocol "foo" not supported or disabled in libcurl\n'),
    ],
)
def test_wrong_command_lines(world: TwoMachines, line: str, status: int, words: str) -> None:
    done = world.type(line)
    assert done.status == status
    assert done.stderr.decode().startswith(words)


def test_resolve_sends_a_name_elsewhere(world: TwoMachines) -> None:
    assert (
        answer(world, "curl -s --resolve shop:80:10.0.0.2 http://shop/echo")[1].splitlines()[1]
        == "Host: shop"
    )
