"""dig, nslookup, host, getent and wget in a pod, against CoreDNS; recorded outputs where there are any."""

from __future__ import annotations

import pytest

from simcloud.machine.process import Completed, Container
from simcloud.userland.commands.net.names.busybox import busybox_nslookup
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.network.test_coredns import Dns

RESOLV_CONF = (
    b"search lab.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n"
)
HEAD = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n"


class Pod:
    """A pod in the namespace ``lab`` with a shell, beside a Service ``web``."""

    def __init__(self) -> None:
        self.dns = Dns()
        world = self.dns.world
        world.create("v1", "Namespace", "lab", namespace="")
        world.service("web", "10.96.125.250", "lab", ports=[{"name": "http", "port": 80}])
        self.container: Container = world.machines[1].create_container(
            "cli", operator_image(), namespace=self.dns.client_pod("cli", "lab")
        )
        self.container.files.put("/etc/resolv.conf", RESOLV_CONF)

    def type(self, line: str) -> Completed:
        return self.container.run(["bash", "-c", line])

    def busybox(self, *words: str) -> tuple[str, int]:
        from simcloud.machine.process import Capture

        out = Capture()
        process = self.container.start(
            ["nslookup", *words], program=busybox_nslookup, streams={1: out, 2: out}
        )
        self.dns.world.kernel.run_task(self.dns.world.kernel.spawn(process.wait(), "wait"))
        return out.data.decode(), process.status


@pytest.fixture
def pod() -> Pod:
    return Pod()


def test_busybox_nslookup_of_a_full_name_as_recorded(pod: Pod) -> None:
    found = "Name:\tweb.lab.svc.cluster.local\nAddress: 10.96.125.250\n"
    assert pod.busybox("web.lab.svc.cluster.local") == (f"{HEAD}{found}\n\n", 0)


@pytest.mark.parametrize("name", ["web.lab", "nosuch.lab.svc.cluster.local", "kubernetes.default"])
def test_busybox_nslookup_of_a_missing_name_as_recorded(pod: Pod, name: str) -> None:
    assert pod.busybox(name) == (HEAD + f"** server can't find {name}: NXDOMAIN\n\n" * 2, 1)


def test_busybox_nslookup_of_a_short_name_has_the_recorded_lines(pod: Pod) -> None:
    """The order of the answers is that of their arrival, which the recording cannot fix."""
    text, status = pod.busybox("web")
    recorded = (
        ["** server can't find web.svc.cluster.local: NXDOMAIN"] * 2
        + ["** server can't find web.cluster.local: NXDOMAIN"] * 2
        + ["Name:\tweb.lab.svc.cluster.local", "Address: 10.96.125.250"]
    )
    assert sorted(line for line in text.removeprefix(HEAD).splitlines() if line) == sorted(recorded)
    assert status == 1


def test_binds_nslookup_searches(pod: Pod) -> None:
    done = pod.type("nslookup web")
    assert done.stdout.decode() == (
        "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\tweb.lab.svc.cluster.local\nAddress: 10.96.125.250\n\n"
    )
    assert "** server can't find nosuch: NXDOMAIN" in pod.type("nslookup nosuch").stdout.decode()
    assert (
        "250.125.96.10.in-addr.arpa\tname = web.lab.svc.cluster.local.\n"
        in pod.type("nslookup 10.96.125.250").stdout.decode()
    )


def test_dig_asks_as_it_is_told(pod: Pod) -> None:
    assert pod.type("dig +short web").stdout == b""
    assert pod.type("dig +short +search web").stdout == b"10.96.125.250\n"
    text = pod.type("dig web.lab.svc.cluster.local").stdout.decode()
    assert "status: NOERROR" in text and ";; flags: qr aa rd; QUERY: 1, ANSWER: 1, AUTHORITY: 0" in text
    assert "web.lab.svc.cluster.local. 30\tIN\tA\t10.96.125.250\n" in text.replace("\t30", " 30", 1)
    srv = pod.type("dig +short SRV _http._tcp.web.lab.svc.cluster.local").stdout
    assert srv == b"0 100 80 web.lab.svc.cluster.local.\n"
    assert "SOA\tns.dns.cluster.local." in pod.type("dig nosuch.lab.svc.cluster.local").stdout.decode()


def test_dig_without_a_server(pod: Pod) -> None:
    pod.dns.world.client.delete(pod.dns.slice)
    pod.dns.world.settle()
    done = pod.type("dig web.lab.svc.cluster.local")
    assert done.status == 9
    assert done.stdout.decode().startswith(
        ";; communications error to 10.96.0.10#53: connection refused\n" * 3
    )
    assert done.stdout.decode().endswith(";; no servers could be reached\n\n")


def test_host_and_getent(pod: Pod) -> None:
    assert pod.type("host web").stdout == b"web.lab.svc.cluster.local has address 10.96.125.250\n"
    assert pod.type("getent hosts web").stdout == b"10.96.125.250   web.lab.svc.cluster.local\n"
    assert pod.type("getent hosts nosuch").status == 2


def test_names_that_cannot_be_found_in_the_words_of_curl(pod: Pod) -> None:
    assert b"Could not resolve host: nosuch" in pod.type("curl http://nosuch/").stderr
