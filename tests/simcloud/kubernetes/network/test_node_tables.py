"""The network of a node as its tools show it: interfaces, routes, kube-proxy's rules, tracked connections."""

from __future__ import annotations

import re

import pytest

from simcloud.kubernetes.images.tools import netshoot_image
from simcloud.machine.computer import Machine
from simcloud.machine.network import Namespace, outside_interface
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.network.conftest import World
from tests.simcloud.kubernetes.network.test_services import web

PORTS = [{"port": 80, "targetPort": 8080, "nodePort": 30080}]


def typed(world: World, line: str, node: int = 1) -> str:
    done = world.machines[node].host.run(["bash", "-c", line])
    return (done.stdout + done.stderr).decode()


def stranger(world: World) -> Namespace:
    return Machine(world.kernel, world.network, "user", "203.0.113.5", operator_image()).host.namespace


def test_every_pod_has_a_pair_and_a_route(world: World) -> None:
    pod = world.pod("web", node=1)
    name = typed(world, "ip -br link show type veth | grep -v eth0").split("@")[0]
    routes = typed(world, "ip route").splitlines()
    assert f"{pod.address} dev {name} scope host " in routes
    assert "10.244.2.0/24 via 172.18.0.4 dev eth0 " in routes
    assert f"{name}@if2 UP             10.244.1.1/32 fe80::" in typed(world, "ip -br addr")
    assert typed(world, f"ip neigh show dev {name}").startswith(f"{pod.address} dev {name} lladdr ")
    assert typed(world, f"ip route get {pod.address}").startswith(f"{pod.address} dev {name} src 10.244.1.1 ")
    world.pods.release(world.client.get("pods", "demo", "web")["metadata"]["uid"])
    assert name not in typed(world, "ip link; ip route; ip neigh")


def test_chains_have_the_names_that_kube_proxy_gives_them(world: World) -> None:
    world.service("dns", ports=[{"name": "dns-tcp", "port": 53}])
    world.settle()
    rules = typed(world, "iptables-save -t nat")
    assert (
        '-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/kubernetes:https cluster IP" '
        "-m tcp --dport 443 -j KUBE-SVC-NPX46M4PTMTKRN6Y\n" in rules
    )
    refused = typed(world, "iptables -S KUBE-SERVICES | grep demo/dns")
    assert '"demo/dns:dns-tcp has no endpoints" -m tcp --dport 53 -j REJECT' in refused


def test_rules_follow_the_endpoints_until_kube_proxy_stops(world: World) -> None:
    pods = web(world, (1, 1))
    line = "iptables -t nat -S | grep demo/web | grep -o 'to-destination .*' | sort"
    assert typed(world, line).split()[1::2] == [f"{pod.address}:8080" for pod in pods]
    assert "probability 0.50000000000" in typed(world, "iptables -t nat -S")
    world.services.stop_on("kind-worker")
    world.client.delete(world.client.get("endpointslices.discovery.k8s.io", "demo", "web-x"))
    world.settle()
    assert pods[0].address in typed(world, line)
    assert typed(world, line, node=2) == ""


def test_counts_of_a_node_port_are_the_connections_that_came(world: World) -> None:
    web(world, (2,), ports=PORTS, type="NodePort")
    user = stranger(world)
    for _ in range(3):
        assert world.outcome(user, "172.18.0.3", 30080) == "web-0"
    listed = typed(world, "iptables -t nat -L KUBE-NODEPORTS -n -v").splitlines()
    assert listed[0] == "Chain KUBE-NODEPORTS (1 references)"
    assert listed[2].endswith(
        "127.0.0.0/8          /* demo/web */ tcp dpt:30080 nfacct-name  localhost_nps_accepted_pkts"
    )
    assert listed[3].split()[:2] == ["3", "180"]
    assert listed[3].endswith("/* demo/web */ tcp dpt:30080")


@pytest.mark.parametrize(
    ("entry", "policy", "seen"),
    [("172.18.0.3", "Cluster", "172.18.0.3"), ("172.18.0.4", "Cluster", "10.244.2.1"), ("172.18.0.4", "Local", "203.0.113.5")],
)  # fmt: skip
def test_a_node_port_hides_the_client_unless_the_policy_is_local(
    world: World, entry: str, policy: str, seen: str
) -> None:
    web(world, (2,), ports=PORTS, type="NodePort", externalTrafficPolicy=policy)
    user = stranger(world)
    forwarder = world.machines[1].host.namespace
    before = outside_interface(forwarder).received_bytes
    connections = [world.run(user.dial(entry, 30080, "http")) for _ in range(2)]
    assert [connection.peer.remote[0] for connection in connections] == [seen, seen]
    connections[0].send("x", 5_000)
    world.settle()
    passed = outside_interface(forwarder).received_bytes - before
    assert (passed > 5_000) is (entry == "172.18.0.3")
    node = 1 if entry == "172.18.0.3" else 2
    tracked = typed(world, "conntrack -L -p tcp --dport 30080 2>/dev/null", node).splitlines()
    assert len(tracked) == 2
    assert f"src=203.0.113.5 dst={entry} sport=" in tracked[0]
    assert f"dport=30080 src=10.244.2.2 dst={seen} sport=8080" in tracked[0]


def test_datagrams_are_tracked_while_they_are_young(world: World) -> None:
    server = world.machines[2].host.namespace.bind(5353, "test")
    client = world.machines[1].host.namespace.bind(40_000, "test")
    for _ in range(2):
        client.send_to("172.18.0.4", 5353, "question")
        world.settle()
    alone = typed(world, "conntrack -L -p udp --dport 5353 2>/dev/null", 1)
    ways = "src=172.18.0.3 dst=172.18.0.4 sport=40000 dport=5353{} src=172.18.0.4 dst=172.18.0.3 sport=5353 dport=40000"
    assert re.fullmatch(rf"udp      17 2\d {ways.format(' .UNREPLIED.')} mark=0 use=1\n", alone), alone
    server.send_to("172.18.0.3", 40_000, "answer")
    world.settle()
    assert f"{ways.format('')} [ASSURED] mark=0" in typed(world, "conntrack -L -p udp 2>/dev/null", 2)
    world.kernel.run_for(121)
    assert "dport=5353" not in typed(world, "conntrack -L 2>/dev/null", 1)


def test_a_persons_rules_stay_beside_those_of_the_cluster(world: World) -> None:
    typed(world, "iptables -I FORWARD -p tcp --dport 9090 -j DROP; iptables-save | iptables-restore")
    listed = typed(world, "iptables -L FORWARD -n").splitlines()
    assert "tcp dpt:9090" in listed[2]
    assert listed[3].startswith("KUBE-PROXY-FIREWALL  0    --  ")
    assert typed(world, "iptables-save -t filter").count("--dport 9090") == 1


def test_a_rule_of_the_table_nat_sends_new_connections_elsewhere(world: World) -> None:
    web(world, (2,))
    node, address = (
        world.machines[1].host.namespace,
        world.client.get("services", "demo", "web")["spec"]["clusterIP"],
    )
    assert world.outcome(node, address, 80) == "web-0"
    assert typed(world, "iptables -t nat -A OUTPUT -p tcp --dport 80 -j REDIRECT --to-ports 15001") == ""
    assert world.outcome(node, address, 80) == "ConnectionRefused"
    assert "-A OUTPUT -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 15001\n" in typed(
        world, "iptables -t nat -S"
    )
    assert "redir ports 15001" in typed(world, "iptables -t nat -L OUTPUT -n")
    assert "failed" in typed(world, "iptables -A OUTPUT -p tcp -j DNAT --to-destination 10.244.1.9:80")
    typed(
        world,
        "iptables -t nat -F OUTPUT; iptables -t nat -A OUTPUT -d 10.9.9.9 -p tcp -j DNAT --to-destination 10.244.2.2:8080",
    )
    assert world.outcome(node, "10.9.9.9", 5) == "web-0"


def test_a_strangers_question_to_the_clusters_name_server_is_not_answered(world: World) -> None:
    user = Machine(world.kernel, world.network, "user", "172.18.0.101", operator_image()).host
    done = user.run(["dig", "@10.96.0.10", "web.demo.svc.cluster.local", "+tries=1", "+time=2"])
    assert done.status == 9
    assert done.stdout.startswith(b";; communications error to 10.96.0.10#53: timed out\n")


def test_tcpdump_shows_the_packets_that_pass(world: World) -> None:
    pod = web(world, (1,))[0]
    host = Machine(world.kernel, world.network, "user", "172.18.0.101", netshoot_image()).host
    fetch = (
        f"curl -m 1 {pod.address}:8080; curl -m 1 {pod.address}:81; dig @{pod.address} +tries=1 +time=1 web"
    )
    expression = f"(tcp port 8080 or port 81 or udp) and not host 10.0.0.9 and host {pod.address}"
    done = host.run(
        ["bash", "-c", f"(sleep 1; {fetch}) >&- 2>&- & timeout 5 tcpdump -ni eth0 '{expression}'"]
    )
    flags = re.findall(r"Flags \[(\S+)\]|A\? web\.", done.stdout.decode())
    assert flags == ["S", "S.", ".", "P.", ".", "F.", ".", "S", "R.", ""]
    assert re.search(rb"\.81 > 172[0-9.]+: Flags \[R.\], seq 0, ack 1, win 0, length 0\n", done.stdout)
    assert done.stderr.endswith(
        b"10 packets captured\n10 packets received by filter\n0 packets dropped by kernel\n"
    )
    assert not world.network.taps
