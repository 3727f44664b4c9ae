"""ping: round trips in virtual time, and what becomes of them on a bad network."""

from __future__ import annotations

import pytest

from tests.simcloud.userland.commands.two_machines import TwoMachines


@pytest.fixture
def world() -> TwoMachines:
    world = TwoMachines()
    world.network.link("host-1", "host-2").delay_s = 0.005
    return world


def test_it_sends_one_a_second_and_sums_up(world: TwoMachines) -> None:
    done, took_s = world.timed("ping -c 3 web")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "PING web (10.0.0.2) 56(84) bytes of data."
    assert lines[1].startswith("64 bytes from web (10.0.0.2): icmp_seq=1 ttl=64 time=10")
    assert lines[4:6] == ["", "--- web ping statistics ---"]
    assert lines[6].startswith("3 packets transmitted, 3 received, 0% packet loss, time 20")
    assert lines[7].startswith("rtt min/avg/max/mdev = 10.")
    assert (done.status, round(took_s, 1)) == (0, 2.0)


def test_an_address_is_shown_as_it_is(world: TwoMachines) -> None:
    assert "64 bytes from 10.0.0.2: icmp_seq=1" in world.text("ping -c 1 10.0.0.2")
    assert world.text("ping -qc 1 10.0.0.2").splitlines()[1:3] == ["", "--- 10.0.0.2 ping statistics ---"]
    assert "\n108 bytes from" in world.text("ping -c 1 -s 100 10.0.0.2")


def test_a_partition_loses_everything(world: TwoMachines) -> None:
    world.partition()
    done, took_s = world.timed("ping -c 2 -W 1 web")
    assert done.stdout.decode().startswith(
        "PING web (10.0.0.2) 56(84) bytes of data.\n\n--- web ping statistics ---\n"
        "2 packets transmitted, 0 received, 100% packet loss, time 10"
    )
    assert (done.status, round(took_s)) == (1, 2)


def test_an_address_that_nobody_has(world: TwoMachines) -> None:
    done = world.type("ping -c 1 dead")
    assert "From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n" in done.stdout.decode()
    assert "1 packets transmitted, 0 received, +1 errors, 100% packet loss" in done.stdout.decode()
    assert done.status == 1


def test_the_interface_is_down(world: TwoMachines) -> None:
    world.here.host.namespace.down()
    done = world.type("ping -c 1 web")
    assert done.stderr == b"ping: sendmsg: Network is unreachable\n"
    assert done.status == 1


def test_loss_is_counted(world: TwoMachines) -> None:
    world.network.link("host-1", "host-2").loss = 0.5
    text = world.text("ping -c 20 -i 0.2 -W 1 web")
    lost = float(text.split("% packet loss")[0].rsplit(" ", 1)[1])
    assert 0 < lost < 100


def test_an_interrupt_ends_it_with_its_statistics(world: TwoMachines) -> None:
    done = world.type("timeout -s INT 2.5 ping web")
    assert done.status == 124
    assert "3 packets transmitted, 3 received" in done.stdout.decode()
    done, took_s = world.timed("ping -w 3 web")
    assert "3 packets transmitted" in done.stdout.decode()
    assert round(took_s) == 3


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("ping", 1, "ping: usage error: Destination address required\n"),
        ("ping -c x web", 1, "ping: invalid argument: 'x'\n"),
        (
            "ping -c 0 web",
            1,
            "ping: invalid argument: '0': out of range: 1 <= value <= 9223372036854775807\n",
        ),
        ("ping -s x web", 1, "ping: invalid argument: 'x'\n"),
        ("ping -W -1 web", 2, "ping: bad linger time: -1\n"),
        ("ping nosuch", 2, "ping: nosuch: Name or service not known\n"),
        ("ping -z web", 2, "ping: invalid option -- 'z'\n"),
        (
            "ping -c1 -i x web",
            0,
            "ping: option argument contains garbage: x\nping: this will become fatal error",
        ),
    ],
)
def test_wrong_command_lines(world: TwoMachines, line: str, status: int, words: str) -> None:
    done = world.type(line)
    assert done.status == status
    assert done.stderr.decode().startswith(words)
