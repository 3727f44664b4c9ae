"""nc and telnet: bytes between machines, scanning ports, talking to servers by hand."""

from __future__ import annotations

import pytest

from simcloud.machine.process import Context
from tests.simcloud.userland.commands.two_machines import TwoMachines, website


@pytest.fixture
def world() -> TwoMachines:
    return TwoMachines()


def answer(world: TwoMachines, line: str) -> tuple[int, str, str]:
    done = world.type(line)
    return done.status, done.stdout.decode(), done.stderr.decode()


def test_a_file_goes_from_one_machine_to_the_other(world: TwoMachines) -> None:
    data = bytes(range(256)) * 1000
    world.here.host.files.write("/w/data", data)
    receiver = world.begin("nc -l -p 9000 > copy")
    assert world.type("nc -N web 9000 < data").status == 0
    world.kernel.run_for(1.0)
    assert not receiver.alive
    assert world.there.host.files.read("/w/copy") == data


def test_a_file_comes_back_the_other_way(world: TwoMachines) -> None:
    world.there.host.files.write("/w/data", b"from there\n")
    world.begin("nc -N -l 9000 < data")
    assert answer(world, "nc web 9000 </dev/null") == (0, "from there\n", "")


def test_both_ends_talk(world: TwoMachines) -> None:
    world.begin('mkfifo fifo; (read line; echo "you said $line") < fifo | nc -N -l 9000 > fifo')
    assert answer(world, "echo hello | nc -q 2 web 9000")[1] == "you said hello\n"


def test_scanning_says_which_ports_are_open(world: TwoMachines) -> None:
    world.listen("raw", 22)
    assert answer(world, "nc -z web 22") == (0, "", "")
    assert answer(world, "nc -zv web 22") == (
        0,
        "",
        "Connection to web (10.0.0.2) 22 port [tcp/*] succeeded!\n",
    )
    assert answer(world, "nc -zv 10.0.0.2 22")[2] == "Connection to 10.0.0.2 22 port [tcp/*] succeeded!\n"
    assert answer(world, "nc -z web 23") == (1, "", "")
    assert answer(world, "nc -zv web 23") == (
        1,
        "",
        "nc: connect to web (10.0.0.2) port 23 (tcp) failed: Connection refused\n",
    )
    assert answer(world, "nc -zv web 21-23") == (
        0,
        "",
        "nc: connect to web (10.0.0.2) port 21 (tcp) failed: Connection refused\n"
        "Connection to web (10.0.0.2) 22 port [tcp/*] succeeded!\n"
        "nc: connect to web (10.0.0.2) port 23 (tcp) failed: Connection refused\n",
    )


def test_services_are_named_where_their_table_is_there(world: TwoMachines) -> None:
    world.listen("raw", 22)
    world.here.host.files.write("/etc/services", b"ssh\t\t22/tcp\t# secure shell\n")
    assert "port [tcp/ssh] succeeded" in answer(world, "nc -zv web 22")[2]


def test_a_partition_runs_into_the_time_limit(world: TwoMachines) -> None:
    world.partition()
    done, took_s = world.timed("nc -zv -w 2 web 22")
    assert (done.status, round(took_s)) == (1, 2)
    assert (
        done.stderr == b"nc: connect to web (10.0.0.2) port 22 (tcp) timed out: Operation now in progress\n"
    )


def test_listening_tells_who_came(world: TwoMachines) -> None:
    world.begin("nc -lv 9000 2> log")
    world.type("nc -z web 9000")
    world.kernel.run_for(1)
    log = world.there.host.files.read("/w/log").decode().splitlines()
    assert log[0] == "Listening on 0.0.0.0 9000"
    assert log[1].startswith("Connection received on 10.0.0.1 ")


def test_one_who_keeps_listening_takes_one_after_the_other(world: TwoMachines) -> None:
    listener = world.begin("nc -lk 9000 > all")
    world.type("echo one | nc -N web 9000; echo two | nc -N web 9000")
    world.kernel.run_for(5)
    assert listener.alive
    assert world.there.host.files.read("/w/all") == b"one\ntwo\n"


def test_http_typed_by_hand(world: TwoMachines) -> None:
    world.serve(website)
    assert answer(world, r"printf 'GET /hello HTTP/1.0\r\n\r\n' | nc web 80") == (
        0,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n",
        "",
    )
    slowly = r"(printf 'POST /echo HTTP/1.1\r\nContent-Length: 5\r\n'; sleep 1; printf '\r\nab'; sleep 1; printf 'cde')"
    assert answer(world, f"{slowly} | nc -q 1 web 80")[1].endswith(
        "\r\n\r\nPOST /echo\nContent-Length: 5\n\nabcde"
    )
    assert answer(world, "echo garbage | nc web 80")[1].startswith("HTTP/1.1 400 Bad Request\r\n")


def test_keeping_the_connection_open_waits_for_the_server(world: TwoMachines) -> None:
    world.serve(website)
    done, took_s = world.timed(r"printf 'GET /hello HTTP/1.1\r\n\r\n' | nc -w 3 web 80")
    assert done.stdout.endswith(b"hello\n")
    assert round(took_s) == 3


def test_a_port_that_is_taken(world: TwoMachines) -> None:
    world.begin("nc -l 9000", world.here)
    assert answer(world, "nc -l 9000") == (1, "", "nc: Address already in use\n")


def test_datagrams(world: TwoMachines) -> None:
    async def echo(ctx: Context) -> int:
        socket = ctx.container.namespace.bind(53, "raw", owner=ctx.process)
        while True:
            datagram = await socket.receive()
            socket.send_to(*datagram.source, b"back " + datagram.message, 9)

    world.there.host.start(["echo"], program=echo)
    world.kernel.run_for(0.1)
    assert answer(world, "printf hi | nc -u -w 1 web 53")[1] == "back hi"
    assert answer(world, "nc -zuv web 53")[2] == "Connection to web (10.0.0.2) 53 port [udp/*] succeeded!\n"
    assert answer(world, "nc -zuv web 54") == (1, "", "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nc web x", "nc: port number invalid: x\n"),
        ("nc web 99999", "nc: port number too large: 99999\n"),
        ("nc web", "nc: missing port number\n"),
        ("nc -l", "nc: missing port number\n"),
        ("nc -l x", "nc: getaddrinfo: Servname not supported for ai_socktype\n"),
        ("nc -w x web 80", "nc: timeout invalid: x\n"),
        ("nc nosuch 80", 'nc: getaddrinfo for host "nosuch" port 80: Name or service not known\n'),
        ("nc", "usage: nc [-46CDdFhklNnrStUuvZz]"),
    ],
)
def test_wrong_command_lines(world: TwoMachines, line: str, words: str) -> None:
    done = world.type(line)
    assert done.status == 1
    assert done.stderr.decode().startswith(words)


def test_telnet(world: TwoMachines) -> None:
    assert answer(world, "telnet web 81") == (
        1,
        "Trying 10.0.0.2...\n",
        "telnet: Unable to connect to remote host: Connection refused\n",
    )
    world.begin("echo welcome | nc -N -l 81")
    assert answer(world, "sleep 1 | telnet web 81") == (
        1,
        "Trying 10.0.0.2...\nConnected to web.\nEscape character is '^]'.\nwelcome\n",
        "Connection closed by foreign host.\n",
    )
    assert (
        answer(world, "telnet nosuch 81")[2]
        == "telnet: could not resolve nosuch/81: Name or service not known\n"
    )
