"""Commands that wait, watch or talk to other machines: all of it in virtual time."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.network.http import HttpRequest, HttpResponse, serve_http
from simcloud.machine.process import Context
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.simcloud.conftest import make_machine, type_line


class Pair:
    """An operator's machine and a web server on another one."""

    def __init__(self) -> None:
        self.kernel = Kernel(1)
        self.network = Network(self.kernel)
        resolver = HostsResolver({"web": "10.0.0.2", "lost": "10.0.0.9"})
        self.operator = Machine(
            self.kernel, self.network, "ops", "10.0.0.1", operator_image(), resolver=resolver
        )
        self.operator.host.files.mkdir("/w")
        self.server = Machine(
            self.kernel, self.network, "server", "10.0.0.2", operator_image(), resolver=resolver
        )
        self.server.host.files.mkdir("/w")
        self.seen: list[HttpRequest] = []
        container = self.server.create_container(
            "web", Image("web", {}), namespace=self.server.host.namespace
        )
        container.start(["web"], program=self._web)
        self.kernel.run_for(1.0)

    async def _web(self, ctx: Context) -> int:
        async def answer(request: HttpRequest) -> HttpResponse:
            self.seen.append(request)
            if request.path == "/slow":
                await ctx.sleep(60.0)
            if request.path == "/moved":
                return HttpResponse(302, b"", {"Location": "/"})
            if request.path != "/":
                return HttpResponse(404, b"nothing here\n")
            return HttpResponse(200, b"hello\n", {"Content-Type": "text/plain"})

        serve_http(ctx, 80, answer)
        await ctx.sleep(1e9)
        return 0

    def type(self, line: str, on: str = "ops") -> tuple[int, str, str]:
        done = type_line(self.operator if on == "ops" else self.server, line)
        return done.status, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def pair() -> Pair:
    return Pair()


@pytest.mark.parametrize(
    ("line", "status", "seconds"),
    [
        ("sleep 90", 0, 90.0),
        ("sleep 1m 0.5h", 0, 1860.0),
        ("timeout 5 sleep 100", 124, 5.0),
        ("timeout 200 sleep 100", 0, 100.0),
        ("timeout -s KILL 5 sleep 100", 137, 5.0),
        ("timeout -k 3 5 bash -c 'trap \"\" TERM; sleep 100'", 137, 8.0),
        ("timeout --preserve-status 5 sleep 100", 143, 5.0),
        ("timeout 10 bash -c 'sleep 100 & sleep 100 & wait'; pgrep sleep", 1, 10.0),
        ("TERM=xterm timeout 7 watch -n 2 date", 124, 7.0),
        ("sleep 3 & sleep 5 & wait", 0, 5.0),
        ("sleep 100 & kill $!; wait", 0, 0.0),
        ("(sleep 4; exit 3) & wait $!", 3, 4.0),
        ("for i in 1 2 3; do sleep 10; done", 0, 30.0),
        ("timeout 1 bash -c 'while :; do :; done'", 124, 1.0),
        ("time sleep 2", 0, 2.0),
        ("read -t 5 x", 1, 0.0),
    ],
)
def test_waiting_takes_virtual_time(line: str, status: int, seconds: float) -> None:
    machine = make_machine()
    done = type_line(machine, line)
    assert (done.status, machine.kernel.now) == (status, pytest.approx(seconds, abs=0.2))


def test_a_background_job_outlives_the_line_that_started_it() -> None:
    machine = make_machine()
    type_line(machine, "(sleep 60; echo done > /tmp/flag) & echo started")
    assert type_line(machine, "cat /tmp/flag").status == 1
    machine.kernel.run_for(61.0)
    assert type_line(machine, "cat /tmp/flag").stdout == b"done\n"


def test_following_a_log_until_something_comes() -> None:
    machine = make_machine()
    line = "(sleep 30; echo needle >> log) & touch log; tail -f log | grep -m1 needle; echo found"
    done = type_line(machine, f"timeout 100 bash -c '{line}'")
    assert b"needle" in done.stdout


def test_curl_talks_to_another_machine(pair: Pair) -> None:
    assert pair.type("curl -s http://web/") == (0, "hello\n", "")
    assert pair.type("curl -s -o /dev/null -w '%{http_code}' http://web/missing") == (0, "404", "")
    status, _, errors = pair.type("curl -fsS http://web/missing")
    assert (status, errors) == (22, "curl: (22) The requested URL returned error: 404\n")
    assert pair.type("curl -sL http://web/moved")[:2] == (0, "hello\n")
    pair.type("curl -s -X PUT -H 'X-A: b' -d data http://web/")
    assert (pair.seen[-1].method, pair.seen[-1].body, pair.seen[-1].headers["X-A"]) == ("PUT", b"data", "b")


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("http://nowhere/", 6),
        ("http://web:81/", 7),
        ("http://lost/", 7),
        ("-m 5 http://web/slow", 28),
        ("https://web:80/", 35),
        ("ftp://web/", 1),
    ],
)
def test_each_failure_of_curl_has_its_own_status(pair: Pair, url: str, status: int) -> None:
    found, _, errors = pair.type(f"curl -sS {url}")
    assert found == status
    assert errors.startswith(f"curl: ({status}) ")


def test_a_partition_is_a_time_out(pair: Pair) -> None:
    pair.network.link("ops", "server").partitioned = True
    start = pair.kernel.now
    status, _, errors = pair.type("curl -sS --connect-timeout 3 http://web/")
    assert (status, "timed out" in errors.lower() or "timeout" in errors.lower()) == (28, True)
    assert pair.kernel.now - start == pytest.approx(3.0, abs=0.1)
    assert pair.type("ping -c 2 -W 1 web")[0] == 1


def test_wget_nc_ping_and_names(pair: Pair) -> None:
    assert pair.type("wget -qO- http://web/")[:2] == (0, "hello\n")
    assert pair.type("nc -z web 80")[0] == 0
    assert pair.type("nc -z web 81")[0] == 1
    status, out, _ = pair.type("ping -c 2 web")
    assert status == 0
    assert "2 packets transmitted, 2 received, 0% packet loss" in out
    assert "10.0.0.2" in pair.type("nslookup web")[1]
    assert pair.type("dig +short web")[1] == "10.0.0.2\n"
    assert "NXDOMAIN" in pair.type("nslookup nowhere")[1]


def test_a_file_goes_from_machine_to_machine(pair: Pair) -> None:
    pair.type("seq 1 20000 > data")
    pair.type("nc -l -p 9000 > received & echo", on="web")
    pair.type("nc -q 0 web 9000 < data")
    pair.kernel.run_for(1.0)
    assert pair.type("sha256sum < received", on="web")[1] == pair.type("sha256sum < data")[1]


def test_listeners_and_processes_are_seen_where_they_are(pair: Pair) -> None:
    assert ":80 " in pair.type("ss -tln", on="web")[1]
    assert ":80 " not in pair.type("ss -tln")[1]
    assert "web" in pair.type("ps -e", on="web")[1]
    container = pair.server.create_container("other", operator_image(), address="10.1.0.1")
    inside = container.run(["ps", "-e"]).stdout.decode()
    assert "web" not in inside
    assert inside.count("\n") == 2


def test_the_machine_tells_what_happened_to_it(pair: Pair) -> None:
    container = pair.server.create_container(
        "greedy", Image("greedy", {}), address="10.1.0.1", memory_limit_bytes=64 * 1024**2
    )

    async def greedy(ctx: Context) -> int:
        ctx.memory.use(1024**3)
        return 0

    container.start(["greedy"], program=greedy)
    pair.kernel.run_for(1.0)
    assert "Killed process" in pair.type("dmesg", on="web")[1]
    before = pair.type("df --output=used / | tail -n 1")[1]
    pair.type("fallocate -l 1G /big")
    assert int(pair.type("df --output=used / | tail -n 1")[1]) - int(before) > 900_000
    for path in ("/proc/meminfo", "/proc/self/status", "/proc/1/cmdline", "/proc/mounts", "/proc/loadavg"):
        assert pair.type(f"cat {path}")[0] == 0
