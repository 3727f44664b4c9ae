"""ss, netstat, ip and ifconfig: what a machine shows of its own network."""

from __future__ import annotations

import pytest

from simcloud.userland.images import operator_image
from tests.simcloud.userland.commands.two_machines import TwoMachines, website


@pytest.fixture
def world() -> TwoMachines:
    return TwoMachines()


def serving() -> TwoMachines:
    """A world whose typing machine has a server on port 8080 and a connection to web's port 22."""
    world = TwoMachines()
    world.listen("raw", 22)
    world.begin("nc -l 8080", world.here)
    world.begin("sleep 100 | nc web 22", world.here)
    return world


def test_listeners_with_their_processes() -> None:
    world = serving()
    assert world.text("ss -tln") == (
        "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
        "LISTEN 0      128          0.0.0.0:8080      0.0.0.0:*          \n"
    )
    pid = world.text("pgrep -f 'nc -l 8080'").strip()
    rows = world.text("ss -tlnp").splitlines()
    assert (
        rows[1] == f'LISTEN 0      128          0.0.0.0:8080      0.0.0.0:*    users:(("nc",pid={pid},fd=3))'
    )
    assert rows[0] == "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess".ljust(len(rows[1]))
    assert world.text("ss -Htln") == "LISTEN 0      128    0.0.0.0:8080 0.0.0.0:*\n"


def test_connections_and_their_states() -> None:
    world = serving()
    rows = world.text("ss -tn").splitlines()
    assert len(rows) == 2
    assert rows[1].split()[0] == "ESTAB"
    assert rows[1].split()[4] == "10.0.0.2:22"
    assert world.text("ss -tan").count("\n") == 3
    assert world.text("ss -tn state established").splitlines()[0].startswith("Recv-Q Send-Q")
    assert world.text("ss -Htan state listening").count("\n") == 1
    assert world.text("ss -Htan sport = :8080").startswith("LISTEN")
    assert world.text("ss -Htan '( dport = :22 or sport = :8080 )'").count("\n") == 2
    assert world.text("ss -Htan dport = :99") == ""
    assert world.text("ss -tuln").splitlines()[0].startswith("Netid State  Recv-Q")
    assert "\nTCP:   2 (estab 1, closed 0, orphaned 0, timewait 0)\n" in world.text("ss -s")


def test_a_closed_connection_lingers() -> None:
    world = TwoMachines()
    world.serve(website)
    world.type("curl -s http://web/hello")
    assert "TIME-WAIT" in world.text("ss -tan")
    world.kernel.run_for(120)
    assert "TIME-WAIT" not in world.text("ss -tan")


def test_netstat() -> None:
    world = serving()
    pid = world.text("pgrep -f 'nc -l 8080'").strip()
    assert world.text("netstat -tlnp") == (
        "Active Internet connections (only servers)\n"
        "Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program name    \n"
        f"tcp        0      0 0.0.0.0:8080            0.0.0.0:*               LISTEN      {pid + '/nc':<20}\n"
    )
    assert (
        world.text("netstat -tan").splitlines()[0] == "Active Internet connections (servers and established)"
    )
    assert "ESTABLISHED" in world.text("netstat -tn")
    assert world.text("netstat -rn").splitlines()[2] == (
        "0.0.0.0         10.0.0.1        0.0.0.0         UG        0 0          0 eth0"
    )
    assert world.text("netstat -i").splitlines()[1].startswith("Iface             MTU    RX-OK RX-ERR")


def test_lsof_finds_who_has_a_port_open() -> None:
    world = serving()
    pid = world.text("pgrep -f 'nc -l 8080'").strip()
    assert world.text("lsof -t -i :8080") == f"{pid}\n"
    assert "TCP *:8080 (LISTEN)\n" in world.text("lsof -i :8080")
    assert world.text("lsof -iTCP -sTCP:LISTEN -P -n").count("\n") == 2
    assert world.type("lsof -i :9999").status == 1


def test_only_the_own_namespace_is_seen() -> None:
    world = serving()
    box = world.here.create_container("box", operator_image(), address="10.1.0.5")
    assert box.run(["ss", "-Htln"]).stdout == b""
    assert b"inet 10.1.0.5/24 brd 10.1.0.255 scope global eth0\n" in box.run(["ip", "addr"]).stdout
    assert b"2: eth0@if2: <BROADCAST" in box.run(["ip", "link"]).stdout


def test_ip_shows_addresses_links_and_routes(world: TwoMachines) -> None:
    text = world.text("ip -4 addr show lo")
    assert text == (
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n"
        "    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n"
    )
    assert world.text("ip -br a") == (
        "lo               UNKNOWN        127.0.0.1/8 ::1/128 \n"
        "eth0@if10        UP             10.0.0.1/24 fe80::f404:73ff:fe44:122f/64 \n"
    )
    assert (
        world.text("ip -4 a show eth0").splitlines()[1]
        == "    inet 10.0.0.1/24 brd 10.0.0.255 scope global eth0"
    )
    assert world.text("ip -o addr").splitlines()[0] == (
        "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever"
    )
    assert world.text("ip r") == (
        "default via 10.0.0.1 dev eth0 \n10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.1 \n"
    )
    assert world.text("ip route get 10.0.0.2") == "10.0.0.2 dev eth0 src 10.0.0.1 uid 0 \n    cache \n"
    assert (
        world.text("ip route get 127.0.0.1")
        == "local 127.0.0.1 dev lo src 127.0.0.1 uid 0 \n    cache <local> \n"
    )


def test_counters_count(world: TwoMachines) -> None:
    world.serve(website)
    world.type("curl -s http://web/hello")
    rows = world.text("ip -s link show eth0").splitlines()
    assert rows[2] == "    RX:  bytes packets errors dropped  missed   mcast           "
    assert int(rows[3].split()[0]) > 0
    assert int(rows[5].split()[1]) > 0
    assert "RX packets" in world.text("ifconfig eth0")
    assert world.text("cat /proc/net/dev").splitlines()[3].split()[1] != "0"


def test_an_interface_goes_down_and_up(world: TwoMachines) -> None:
    world.serve(website)
    assert world.type("ip link set eth0 down").status == 0
    assert "state DOWN" in world.text("ip link show eth0")
    assert world.type("curl -s http://web/hello").status == 7
    assert world.type("ip link set dev eth0 up").status == 0
    assert world.text("curl -s http://web/hello") == "hello\n"


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("ip foo", 1, 'Object "foo" is unknown, try "ip help".\n'),
        ("ip addr show dev nope", 1, 'Device "nope" does not exist.\n'),
        ("ip addr add 1.2.3.4/32 dev eth0", 2, "RTNETLINK answers: Operation not permitted\n"),
        ("ip link set nope up", 1, 'Cannot find device "nope"\n'),
        ("ifconfig nope", 1, "nope: error fetching interface information: Device not found\n"),
        ("ss --foo", 255, "ss: unrecognized option '--foo'\nUsage: ss [ OPTIONS ]\n"),
        ("ss state foo", 255, "ss: wrong state name: foo\n"),
        ("netstat -Q", 3, "netstat: invalid option -- 'Q'\nusage: netstat "),
    ],
)
def test_wrong_command_lines(world: TwoMachines, line: str, status: int, words: str) -> None:
    done = world.type(line)
    assert done.status == status
    assert done.stderr.decode().startswith(words)


def test_a_container_may_not_change_its_interface(world: TwoMachines) -> None:
    box = world.here.create_container("box", operator_image(), address="10.1.0.5")
    done = box.run(["ip", "link", "set", "eth0", "down"])
    assert (done.status, done.stderr) == (2, b"RTNETLINK answers: Operation not permitted\n")
