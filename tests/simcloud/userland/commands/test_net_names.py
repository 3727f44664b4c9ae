"""dig, nslookup, host and getent: names, in the words of BIND 9.18 and the C library."""

from __future__ import annotations

import re

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.network import NameNotFound, Namespace, ResolverFailure
from tests.simcloud.conftest import make_machine, type_line


class Names:
    async def resolve(self, namespace: Namespace, name: str) -> list[str]:
        table = {"web": ["10.0.0.2"], "web.example": ["10.0.0.2"], "two.example": ["10.0.0.2", "10.0.0.3"]}
        if name.rstrip(".") == "fail.example":
            raise ResolverFailure(name)
        if name.rstrip(".") not in table:
            raise NameNotFound(name)
        return table[name.rstrip(".")]


@pytest.fixture
def machine() -> Machine:
    machine = make_machine()
    machine.host.namespace.resolver = Names()
    machine.host.files.write("/etc/resolv.conf", b"# made here\nnameserver 10.96.0.10\nsearch example\n")
    return machine


def answer(machine: Machine, line: str) -> tuple[int, str, str]:
    done = type_line(machine, line)
    return done.status, re.sub(r"id: \d+", "id: N", done.stdout.decode()), done.stderr.decode()


def test_dig_shows_the_whole_answer(machine: Machine) -> None:
    assert answer(machine, "dig web.example") == (
        0,
        "\n; <<>> DiG 9.18.28-1~deb12u2-Debian <<>> web.example\n;; global options: +cmd\n;; Got answer:\n"
        ";; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: N\n"
        ";; flags: qr rd ra; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 1\n\n"
        ";; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n;; QUESTION SECTION:\n;web.example.\t\t\tIN\tA\n\n"
        ";; ANSWER SECTION:\nweb.example.\t\t30\tIN\tA\t10.0.0.2\n\n"
        ";; Query time: 0 msec\n;; SERVER: 10.96.0.10#53(10.96.0.10) (UDP)\n"
        ";; WHEN: Mon Jan 05 09:00:00 UTC 2026\n;; MSG SIZE  rcvd: 56\n\n",
        "",
    )


def test_dig_in_short(machine: Machine) -> None:
    assert answer(machine, "dig +short two.example")[1] == "10.0.0.2\n10.0.0.3\n"
    assert answer(machine, "dig +short nosuch")[1] == ""
    assert answer(machine, "dig +noall +answer web.example")[1] == "web.example.\t\t30\tIN\tA\t10.0.0.2\n"
    assert answer(machine, "dig web.example +nocmd +nocomments +noquestion +nostats")[1] == (
        "web.example.\t\t30\tIN\tA\t10.0.0.2\n"
    )


def test_dig_says_what_went_wrong(machine: Machine) -> None:
    assert "status: NXDOMAIN" in answer(machine, "dig nosuch")[1]
    assert "status: SERVFAIL" in answer(machine, "dig fail.example")[1]
    assert "ANSWER: 0" in answer(machine, "dig web.example MX")[1]
    assert ";2.0.0.10.in-addr.arpa.\t\tIN\tPTR\n" in answer(machine, "dig -x 10.0.0.2")[1]
    assert answer(machine, "dig @nosuch web") == (
        1,
        "",
        "dig: couldn't get address for 'nosuch': not found\n",
    )
    assert answer(machine, "dig +foo web")[2].startswith("Invalid option: +foo\nUsage:  dig ")
    assert "; (1 server found)\n" in answer(machine, "dig @10.96.0.11 web")[1]
    assert answer(machine, "dig web two.example")[1].count(";; Got answer:") == 2


def test_nslookup(machine: Machine) -> None:
    head = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\n"
    assert answer(machine, "nslookup web.example") == (
        0,
        f"{head}Non-authoritative answer:\nName:\tweb.example\nAddress: 10.0.0.2\n\n",
        "",
    )
    assert answer(machine, "nslookup nosuch") == (1, f"{head}** server can't find nosuch: NXDOMAIN\n\n", "")
    assert answer(machine, "nslookup fail.example") == (
        1,
        f";; Got SERVFAIL reply from 10.96.0.10\n{head}** server can't find fail.example: SERVFAIL\n\n",
        "",
    )
    assert answer(machine, "nslookup -type=MX web.example")[1].endswith(
        "*** Can't find web.example: No answer\n\n"
    )
    assert answer(machine, "nslookup web 10.9.9.9")[1].endswith(";; no servers could be reached\n\n")


def test_host(machine: Machine) -> None:
    assert answer(machine, "host two.example") == (
        0,
        "two.example has address 10.0.0.2\ntwo.example has address 10.0.0.3\n",
        "",
    )
    assert answer(machine, "host nosuch") == (1, "Host nosuch not found: 3(NXDOMAIN)\n", "")
    assert answer(machine, "host fail.example") == (1, "Host fail.example not found: 2(SERVFAIL)\n", "")
    assert answer(machine, "host 10.0.0.2")[1] == "Host 2.0.0.10.in-addr.arpa. not found: 3(NXDOMAIN)\n"
    assert answer(machine, "host -t MX web.example")[1] == "web.example has no MX record\n"
    assert answer(machine, "host web.example 10.9.9.9")[1].startswith(
        "Using domain server:\nName: 10.9.9.9\nAddress: 10.9.9.9#53\nAliases: \n\n"
    )
    assert answer(machine, "host")[2].startswith("Usage: host [-aCdilrTvVw]")


def test_getent(machine: Machine) -> None:
    assert answer(machine, "getent hosts web") == (0, "10.0.0.2        web\n", "")
    assert answer(machine, "getent hosts nosuch") == (2, "", "")
    assert answer(machine, "getent ahosts web")[1] == (
        "10.0.0.2        STREAM web\n10.0.0.2        DGRAM  \n10.0.0.2        RAW    \n"
    )
    assert answer(machine, "getent passwd root 33")[1] == (
        "root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
    )
    assert answer(machine, "getent group root nosuch") == (2, "root:x:0:\n", "")
    assert answer(machine, "getent foo") == (
        1,
        "Try `getent --help' or `getent --usage' for more information.\n",
        "Unknown database: foo\n",
    )
