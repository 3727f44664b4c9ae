"""NetworkPolicies as their documentation promises them."""

from __future__ import annotations

from typing import Any

from simcloud.machine.network import Namespace
from tests.simcloud.kubernetes.network.conftest import World


def policy(world: World, name: str, selector: dict[str, str] | None = None, **spec: Any) -> None:
    pods = {"matchLabels": selector} if selector else {}
    world.create("networking.k8s.io/v1", "NetworkPolicy", name, spec={"podSelector": pods, **spec})


def talks(world: World, source: Namespace, target: Namespace, port: int = 8080) -> bool:
    outcome = world.outcome(source, target.address, port)
    assert outcome in ("ConnectTimedOut", target.name.split("/")[-1])
    return outcome != "ConnectTimedOut"


def test_default_deny_keeps_everybody_out_but_lets_everything_go(world: World) -> None:
    web, client = world.server("web"), world.pod("client", node=2)
    world.create("v1", "Namespace", "other", namespace="")
    elsewhere = world.server("free", namespace="other")
    assert talks(world, client, web)
    policy(world, "deny", policyTypes=["Ingress"])
    assert not talks(world, client, web)
    assert talks(world, web, elsewhere)
    found = world.client.get("networkpolicies.networking.k8s.io", "demo", "deny")
    assert found is not None
    world.client.delete(found)
    assert talks(world, client, web)


def test_pods_are_let_in_by_label_and_policies_add_up(world: World) -> None:
    db, api, job, other = world.server("db"), world.pod("api"), world.pod("job"), world.pod("other")
    for name in ("api", "job"):
        rule = {"from": [{"podSelector": {"matchLabels": {"app": name}}}]}
        policy(world, name, {"app": "db"}, ingress=[rule])
    assert [talks(world, each, db) for each in (api, job, other)] == [True, True, False]


def test_a_pod_selector_means_the_policys_own_namespace(world: World) -> None:
    world.create("v1", "Namespace", "prod", namespace="", metadata={"labels": {"env": "prod"}})
    db = world.server("db")
    ours, theirs = world.pod("api"), world.pod("api", namespace="prod")
    policy(world, "p", {"app": "db"}, ingress=[{"from": [{"podSelector": {"matchLabels": {"app": "api"}}}]}])
    assert [talks(world, each, db) for each in (ours, theirs)] == [True, False]
    both = {
        "namespaceSelector": {"matchLabels": {"env": "prod"}},
        "podSelector": {"matchLabels": {"app": "api"}},
    }
    policy(world, "q", {"app": "db"}, ingress=[{"from": [both]}])
    assert talks(world, theirs, db)
    assert not talks(world, world.pod("bad", namespace="prod"), db)


def test_blocks_of_addresses_have_exceptions(world: World) -> None:
    db = world.server("db")
    block = {"cidr": "10.244.0.0/16", "except": ["10.244.2.0/24"]}
    policy(world, "p", {"app": "db"}, ingress=[{"from": [{"ipBlock": block}]}])
    assert talks(world, world.pod("near"), db)
    assert not talks(world, world.pod("far", node=2), db)
    assert not talks(world, world.machines[2].host.namespace, db)


def test_ports_by_number_range_and_name(world: World) -> None:
    named = [{"name": "c", "image": "x", "ports": [{"name": "web", "containerPort": 9000}]}]
    db, client = world.server("db", containers=named), world.pod("client", node=2)
    for port in (8081, 8090, 8091, 9000):
        db.listen(port, "http")
    ports = [{"port": 8081, "endPort": 8090}, {"port": "web"}, {"port": 8091, "protocol": "UDP"}]
    policy(world, "p", {"app": "db"}, ingress=[{"ports": ports}])
    assert [talks(world, client, db, port) for port in (8080, 8081, 8090, 8091, 9000)] == [
        False,
        True,
        True,
        False,
        True,
    ]


def test_egress_is_judged_behind_the_service(world: World) -> None:
    web, client = world.server("web"), world.pod("client")
    world.service("web", "10.96.7.7")
    world.endpoints("web", web)
    world.settle()
    policy(world, "none", {"app": "client"}, policyTypes=["Egress"])
    assert world.outcome(client, "10.96.7.7") == "ConnectTimedOut"
    rule = {"to": [{"podSelector": {"matchLabels": {"app": "web"}}}], "ports": [{"port": 8080}]}
    policy(world, "web", {"app": "client"}, policyTypes=["Egress"], egress=[rule])
    assert world.outcome(client, "10.96.7.7") == "web"
    assert world.outcome(client, world.server("else").address, 8080) == "ConnectTimedOut"


def test_a_node_reaches_its_own_pods_whatever_the_policy(world: World) -> None:
    web = world.server("web", node=1)
    policy(world, "deny")
    assert talks(world, world.machines[1].host.namespace, web)
    assert not talks(world, world.machines[2].host.namespace, web)
    assert talks(world, web, web)


def test_answers_to_datagrams_pass_and_new_ones_do_not(world: World) -> None:
    server, client = world.pod("server"), world.pod("client")
    policy(world, "quiet", {"app": "client"}, policyTypes=["Ingress"])
    there, here = server.bind(53, "raw"), client.bind(4000, "raw")
    there.send_to(client.address, 4000, "unasked")
    world.settle()
    assert here.unread_bytes == 0
    there.on_datagram = lambda datagram: there.send_to(*datagram.source, "answer")
    here.send_to(server.address, 53, "question")
    world.settle()
    assert here.unread_bytes > 0


def test_connections_that_stand_outlive_a_new_policy(world: World) -> None:
    web, client = world.server("web"), world.pod("client")
    connection = world.run(client.dial(web.address, 8080, "http"))
    policy(world, "deny")
    connection.send("still here")
    world.settle()
    assert connection.peer.bytes_received > 0


def test_a_pod_that_gets_the_label_is_selected_from_then_on(world: World) -> None:
    web, client = world.server("web"), world.pod("client")
    policy(world, "deny", {"locked": "yes"})
    assert talks(world, client, web)
    pod = world.client.get("pods", "demo", "web")
    assert pod is not None
    world.client.edit(pod, lambda pod: pod["metadata"].update(labels={"locked": "yes"}))
    assert not talks(world, client, web)
