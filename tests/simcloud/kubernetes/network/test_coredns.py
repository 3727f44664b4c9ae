"""CoreDNS in a container, asked by pods through its Service."""

from __future__ import annotations

import re

import pytest

from simcloud.kubernetes.network.coredns import coredns_image
from simcloud.kubernetes.network.dns_policy import dns_settings
from simcloud.kubernetes.network.pod_network import DnsSettings
from simcloud.machine.network import NameNotFound, Namespace, ResolverFailure
from simcloud.machine.network.dns import NXDOMAIN, Question, Reply, ask
from simcloud.machine.network.http import HttpRequest
from simcloud.machine.process import Container, Process, Signal
from tests.simcloud.kubernetes.network.conftest import World
from tests.simcloud.machine.network.name_server import NameServer

COREFILE = """\
.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
"""
UPSTREAM = "172.18.0.9"


class _Listening(NameServer):
    """A name server that remembers what it was asked."""

    def __init__(self, namespace: Namespace, table: dict[str, str]) -> None:
        super().__init__(namespace, table)
        self.asked: list[Question] = []

    def answer(self, question: Question) -> Reply:
        self.asked.append(question)
        return super().answer(question)


class Dns:
    """A world with CoreDNS behind kube-dns, and an upstream server that knows one name."""

    def __init__(self, corefile: str = COREFILE, permitted: bool = True) -> None:
        self.world = world = World()
        if permitted:
            self._permit()
        self._upstream()
        self.pod = world.pod("coredns", node=0, namespace="kube-system", serviceAccountName="coredns")
        self.container: Container = world.machines[0].create_container(
            "coredns", coredns_image(world.api, world.pods), namespace=self.pod
        )
        self.container.files.put("/etc/resolv.conf", f"nameserver {UPSTREAM}\n".encode())
        self.container.files.mkdir("/etc/coredns")
        self.container.files.put("/etc/coredns/Corefile", corefile.encode())
        assert self.container.log is not None
        streams = {1: self.container.log.stream("stdout"), 2: self.container.log.stream("stderr")}
        self.process: Process = self.container.start(
            ["coredns", "-conf", "/etc/coredns/Corefile"], streams=streams
        )
        ports = [{"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53}]
        self.world.service("kube-dns", "10.96.0.10", "kube-system", ports=ports)
        self.slice = world.endpoints(
            "kube-dns",
            self.pod,
            namespace="kube-system",
            ports=[{"name": "dns", "port": 53, "protocol": "UDP"}],
        )
        world.settle(8)
        self.client = self.client_pod("client")

    def _permit(self) -> None:
        rules = [
            {"apiGroups": [""], "resources": ["services", "namespaces", "pods"], "verbs": ["list", "watch"]},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
        ]
        kind = "rbac.authorization.k8s.io/v1"
        self.world.create(kind, "ClusterRole", "system:coredns", "", rules=rules)
        self.world.create(
            kind,
            "ClusterRoleBinding",
            "system:coredns",
            "",
            roleRef={
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "system:coredns",
            },
            subjects=[{"kind": "ServiceAccount", "name": "coredns", "namespace": "kube-system"}],
        )

    def _upstream(self) -> None:
        world = self.world
        world.network.add_machine("gateway")
        gateway = world.network.namespace("gateway", UPSTREAM, "gateway")
        self.upstream = _Listening(gateway, {"Example.com": "93.184.215.14"})
        self.asked_upstream = self.upstream.asked

    def client_pod(self, name: str, namespace: str = "demo", **spec: object) -> Namespace:
        made = self.world.pod(name, namespace=namespace, **spec)
        pod = self.world.client.get("pods", namespace, name)
        assert pod is not None
        self.world.pods.set_dns(made, dns_settings(pod))
        return made

    def resolve(self, name: str) -> list[str]:
        return self.world.run(self.client.resolve(name))

    def ask(self, name: str, kind: str = "A") -> Reply:
        async def work() -> Reply:
            return await ask(self.client, "10.96.0.10", Question(name, kind), 10.0)

        return self.world.run(work())

    def data(self, name: str, kind: str = "A") -> list[str]:
        return [record.data for record in self.ask(name, kind).answers]

    def get(self, port: int, path: str) -> tuple[int, str]:
        async def work() -> tuple[int, str]:
            connection = await self.client.dial(self.pod.address, port, "http", 2.0)
            connection.send(HttpRequest("GET", path))
            response = await connection.receive(2.0)
            return response.status, response.body.decode()

        return self.world.run(work())

    def log(self) -> str:
        files = self.world.machines[0].host.files
        return "".join(
            files.read(f"{folder}/{name}").decode()
            for folder in ("/var/log/containers",)
            for name in files.listdir(folder)
        )


@pytest.fixture
def dns() -> Dns:
    return Dns()


def test_a_service_is_found_by_every_form_of_its_name(dns: Dns) -> None:
    dns.world.service("web")
    for name in (
        "web",
        "web.demo",
        "web.demo.svc",
        "web.demo.svc.cluster.local",
        "WEB.demo.svc.cluster.local.",
    ):
        assert dns.resolve(name) == ["10.96.7.7"], name
    with pytest.raises(NameNotFound):
        dns.resolve("nosuch")
    assert dns.resolve("kubernetes.default") == ["10.96.0.1"]


def test_a_headless_service_has_the_addresses_and_names_of_its_ready_pods(dns: Dns) -> None:
    world = dns.world
    world.service("db", "None")
    pods = [world.pod("db-0"), world.pod("db-1")]
    world.endpoints("db", *pods, hostnames=["db-0", "db-1"], ports=[{"name": "sql", "port": 5432}])
    late = world.pod("db-2")
    world.endpoints("db", late, name="db-y", conditions={"ready": False})
    assert sorted(dns.resolve("db")) == [pod.address for pod in pods]
    assert dns.resolve("db-1.db") == [pods[1].address]
    with pytest.raises(NameNotFound):
        dns.resolve("db-2.db")
    assert dns.data("_sql._tcp.db.demo.svc.cluster.local", "SRV") == [
        "0 50 5432 db-0.db.demo.svc.cluster.local.",
        "0 50 5432 db-1.db.demo.svc.cluster.local.",
    ]


def test_pods_without_a_hostname_are_named_by_their_address(dns: Dns) -> None:
    dns.world.service("db", "None")
    pod = dns.world.pod("db-0")
    dns.world.endpoints("db", pod)
    assert dns.resolve(f"{pod.address.replace('.', '-')}.db") == [pod.address]
    assert dns.resolve("1-2-3-4.demo.pod.cluster.local") == ["1.2.3.4"]
    assert dns.ask("1-2-3-4.nowhere.pod.cluster.local").code == NXDOMAIN


def test_a_headless_service_without_pods_has_no_name(dns: Dns) -> None:
    dns.world.service("db", "None")
    with pytest.raises(NameNotFound):
        dns.resolve("db")


def test_ports_of_a_service_are_srv_records_with_the_address_beside(dns: Dns) -> None:
    dns.world.service("web", ports=[{"name": "http", "port": 80}, {"name": "admin", "port": 81}])
    reply = dns.ask("_admin._tcp.web.demo.svc.cluster.local", "SRV")
    assert [record.data for record in reply.answers] == ["0 100 81 web.demo.svc.cluster.local."]
    assert [record.data for record in reply.additional] == ["10.96.7.7"]
    assert dns.ask("_nosuch._tcp.web.demo.svc.cluster.local", "SRV").code == NXDOMAIN


def test_addresses_have_names(dns: Dns) -> None:
    dns.world.service("web")
    pod = dns.world.pod("web-0")
    dns.world.endpoints("web", pod, hostnames=["zero"])
    assert dns.data("7.7.96.10.in-addr.arpa", "PTR") == ["web.demo.svc.cluster.local."]
    reverse = ".".join(reversed(pod.address.split(".")))
    assert dns.data(f"{reverse}.in-addr.arpa", "PTR") == ["zero.web.demo.svc.cluster.local."]
    assert dns.ask("1.1.1.1.in-addr.arpa", "PTR").code == NXDOMAIN
    assert dns.asked_upstream[-1].kind == "PTR"


def test_a_name_without_records_of_that_kind_is_no_missing_name(dns: Dns) -> None:
    dns.world.service("web")
    reply = dns.ask("web.demo.svc.cluster.local", "AAAA")
    assert (reply.code, reply.answers, reply.authority[0].kind) == ("NOERROR", (), "SOA")
    assert dns.ask("demo.svc.cluster.local").code == "NOERROR"
    assert dns.ask("nowhere.svc.cluster.local").code == NXDOMAIN
    assert dns.data("dns-version.cluster.local", "TXT") == ['"1.1.0"']


def test_an_external_name_is_an_alias_that_is_followed(dns: Dns) -> None:
    dns.world.create("v1", "Service", "ext", spec={"type": "ExternalName", "externalName": "example.com"})
    assert dns.resolve("ext") == ["93.184.215.14"]
    assert dns.data("ext.demo.svc.cluster.local") == ["example.com.", "93.184.215.14"]
    dns.world.create(
        "v1", "Service", "me", spec={"type": "ExternalName", "externalName": "me.demo.svc.cluster.local"}
    )
    with pytest.raises((NameNotFound, ResolverFailure)):
        dns.resolve("me")


def test_other_names_are_forwarded_and_kept(dns: Dns) -> None:
    assert dns.resolve("example.com.") == ["93.184.215.14"]
    assert dns.resolve("example.com.") == ["93.184.215.14"]
    assert dns.asked_upstream.count(Question("example.com", "A")) == 1
    dns.world.settle(31)
    dns.resolve("example.com.")
    assert dns.asked_upstream.count(Question("example.com", "A")) == 2


def test_few_dots_mean_search_domains_first(dns: Dns) -> None:
    before = dns.world.kernel.now
    assert dns.resolve("example.com") == ["93.184.215.14"]
    assert dns.world.kernel.now - before < 0.1
    kept = [question.name for question in dns.asked_upstream if question.kind == "A"]
    assert kept == ["example.com"]


def test_without_an_upstream_the_answer_is_servfail(dns: Dns) -> None:
    found = dns.world.network.find(UPSTREAM)
    assert found is not None
    found.destroy()
    assert dns.ask("example.com").code == "SERVFAIL"
    assert "plugin/errors: 2 example.com. A: read udp" in dns.log()
    dns.world.service("web")
    assert dns.resolve("web") == ["10.96.7.7"]


def test_without_endpoints_of_kube_dns_names_fail_at_once(dns: Dns) -> None:
    dns.world.client.delete(dns.slice)
    dns.world.settle()
    before = dns.world.kernel.now
    with pytest.raises(ResolverFailure, match="Temporary failure in name resolution"):
        dns.resolve("web")
    assert dns.world.kernel.now - before < 1


def test_a_name_server_that_is_silent_costs_all_attempts(dns: Dns) -> None:
    dns.world.pods.set_dns(dns.client, DnsSettings(("10.96.200.200",), ("demo.svc.cluster.local",), 5))
    before = dns.world.kernel.now
    with pytest.raises(ResolverFailure):
        dns.resolve("web")
    assert dns.world.kernel.now - before == pytest.approx(20)


def test_a_policy_that_forgets_dns_breaks_names(dns: Dns) -> None:
    dns.world.create(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "egress",
        spec={"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"ports": [{"port": 80}]}]},
    )
    with pytest.raises(ResolverFailure):
        dns.resolve("kubernetes.default")


def test_health_readiness_and_metrics(dns: Dns) -> None:
    assert dns.get(8080, "/health") == (200, "OK")
    assert dns.get(8181, "/ready") == (200, "OK")
    dns.resolve("kubernetes.default")
    status, text = dns.get(9153, "/metrics")
    assert status == 200
    assert (
        'coredns_dns_responses_total{plugin="",rcode="NOERROR",server="dns://:53",view="",zone="."} 1' in text
    )


def test_what_it_says_when_it_starts_and_ends(dns: Dns) -> None:
    log = dns.log()
    assert ".:53\n" in log and "CoreDNS-1.14.2\n" in log
    assert "[INFO] plugin/reload: Running configuration SHA512 = " in log
    dns.process.send(Signal.TERM, outside=True)
    dns.world.settle(3)
    assert dns.process.alive
    dns.world.settle(3)
    assert dns.process.status == 0 and not dns.process.alive
    assert "[INFO] plugin/health: Going into lameduck mode for 5s" in dns.log()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ready", "raedy", "/etc/coredns/Corefile:6 - Error during parsing: Unknown directive 'raedy'"),
        ("loadbalance\n}", "loadbalance", "/etc/coredns/Corefile:22 - Syntax error: Unexpected token 'loadbalance', "
         "expecting '}'"),
        ("pods insecure", "pods maybe", "plugin/kubernetes: wrong value for pods: maybe,  must be one of: disabled, "
         "verified, insecure"),
        ("ttl 30", "tll 30", "plugin/kubernetes: /etc/coredns/Corefile:10 - Error during parsing: unknown property 'tll'"),
        ("/etc/resolv.conf", "nowhere", 'plugin/forward: not an IP address or file: "nowhere"'),
        ("lameduck 5s", "lameduck 5", "plugin/health: unable to parse lameduck duration value: '5' : "
         'time: missing unit in duration "5"'),
        ("reload", "reload 1min", 'plugin/reload: time: unknown unit "min" in duration "1min"'),
    ],
)  # fmt: skip
def test_a_broken_configuration_ends_the_program(old: str, new: str, message: str) -> None:
    dns = Dns(COREFILE.replace(old, new))
    assert not dns.process.alive and dns.process.status == 1
    assert message in dns.log()


def test_a_changed_configuration_is_taken_up_and_a_broken_one_is_not(dns: Dns) -> None:
    files = dns.container.files
    hosts = "hosts {\n 192.0.2.7 special.test\n fallthrough\n }\n ready"
    files.put("/etc/coredns/Corefile", COREFILE.replace("ready", hosts).encode())
    dns.world.settle(60)
    assert dns.resolve("special.test") == ["192.0.2.7"]
    files.put("/etc/coredns/Corefile", COREFILE.replace("ready", "raedy").encode())
    dns.world.settle(60)
    assert "plugin/reload: Corefile changed but reload failed" in dns.log()
    assert dns.resolve("special.test") == ["192.0.2.7"]


def test_a_changed_configuration_may_bring_the_names_of_the_cluster() -> None:
    dns = Dns(re.sub(r" *kubernetes [^}]*}\n", "", COREFILE))
    dns.container.files.put("/etc/coredns/Corefile", COREFILE.encode())
    dns.world.settle(60)
    assert dns.resolve("kubernetes.default") == ["10.96.0.1"]


@pytest.mark.parametrize("every", ["0s", "-5m", "1ns"])
def test_it_never_looks_for_changes_without_a_pause(every: str) -> None:
    dns = Dns(COREFILE.replace("reload", f"reload {every}"))
    assert dns.resolve("kubernetes.default") == ["10.96.0.1"]
    dns.container.files.put("/etc/coredns/Corefile", COREFILE.replace("ready", "raedy").encode())
    dns.world.settle(5)
    assert "plugin/reload: Corefile changed but reload failed" in dns.log()


def test_without_permission_it_never_gets_ready() -> None:
    dns = Dns(permitted=False)
    assert dns.get(8181, "/ready") == (503, "kubernetes")
    assert 'User "system:serviceaccount:kube-system:coredns" cannot list resource "services"' in dns.log()
    assert dns.ask("kubernetes.default.svc.cluster.local").code == "SERVFAIL"
    dns._permit()
    dns.world.settle(40)
    assert dns.get(8181, "/ready") == (200, "OK")
    assert dns.resolve("kubernetes.default") == ["10.96.0.1"]


def test_an_upstream_that_is_itself_is_a_loop() -> None:
    dns = Dns(COREFILE.replace("/etc/resolv.conf", "127.0.0.1"))
    assert not dns.process.alive and dns.process.status == 1
    assert "[FATAL] plugin/loop: Loop" in dns.log()


def test_rewrites_templates_and_stub_domains() -> None:
    more = """
    rewrite name old.test kubernetes.default.svc.cluster.local
    template IN A blocked.test {
      rcode NXDOMAIN
    }
    template IN A lab.test {
      match ^(?P<host>[a-z]+)\\.lab\\.test\\.$
      answer "{{ .Name }} 60 IN A 192.0.2.1"
    }
    ready"""
    corefile = COREFILE.replace("    ready", more) + f"corp.test:53 {{\n  forward . {UPSTREAM}\n}}\n"
    dns = Dns(corefile)
    assert dns.resolve("old.test.") == ["10.96.0.1"]
    assert dns.ask("x.blocked.test").code == NXDOMAIN
    assert dns.data("box.lab.test") == ["192.0.2.1"]
    assert dns.ask("a.corp.test").code == NXDOMAIN
    assert dns.asked_upstream[-1].name == "a.corp.test"


def test_logged_queries(dns: Dns) -> None:
    logging = Dns(COREFILE.replace("errors", "errors\n    log"))
    logging.resolve("kubernetes.default.svc.cluster.local.")
    line = next(line for line in logging.log().splitlines() if "A IN kubernetes" in line)
    assert f"[INFO] {logging.client.address}:" in line
    assert '"A IN kubernetes.default.svc.cluster.local. udp' in line and "NOERROR qr,aa,rd" in line


def test_too_little_memory_kills_it() -> None:
    dns = Dns()
    container = dns.world.machines[0].create_container(
        "small",
        coredns_image(dns.world.api, dns.world.pods),
        namespace=dns.pod,
        memory_limit_bytes=10 * 1024**2,
    )
    process = container.start(["coredns"])
    dns.world.settle()
    assert container.oom_kills == 1 and not process.alive
