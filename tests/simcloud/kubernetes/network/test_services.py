"""Services as pods, nodes and strangers meet them."""

from __future__ import annotations

from collections import Counter

from simcloud.kubernetes.api.objects import copy
from simcloud.machine.computer import Machine
from simcloud.machine.network import Namespace
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.network.conftest import World

ADDRESS = "10.96.7.7"


def web(world: World, nodes: tuple[int, ...] = (1, 2), **spec: object) -> list[Namespace]:
    """A Service of some pods on these nodes, and its rules in force."""
    pods = [world.server(f"web-{number}", node) for number, node in enumerate(nodes)]
    world.service("web", ADDRESS, **spec)
    world.endpoints("web", *pods)
    world.settle()
    return pods


def spread(world: World, source: Namespace, address: str, port: int = 80, count: int = 200) -> Counter[str]:
    return Counter(world.reaches(source, address, port) for _ in range(count))


def test_connections_to_a_service_are_spread_over_its_endpoints(world: World) -> None:
    web(world, (1, 1, 2))
    counts = spread(world, world.pod("client"), ADDRESS, count=300)
    assert sorted(counts) == ["web-0", "web-1", "web-2"]
    assert all(70 < count < 130 for count in counts.values())


def test_the_same_seed_gives_the_same_choices() -> None:
    runs = []
    for seed in (5, 5, 6):
        world = World(seed)
        web(world, (1, 1, 2))
        client = world.pod("client")
        runs.append([world.reaches(client, ADDRESS) for _ in range(30)])
    assert runs[0] == runs[1] != runs[2]


def test_the_client_sees_the_services_address_and_a_node_may_use_it_too(world: World) -> None:
    web(world)
    connection = world.run(world.pod("client").dial(ADDRESS, 80, "http"))
    assert connection.remote == (ADDRESS, 80)
    assert world.outcome(world.machines[2].host.namespace, ADDRESS).startswith("web-")


def test_without_endpoints_it_refuses_and_another_port_of_it_is_silent(world: World) -> None:
    world.service("web", ADDRESS)
    world.settle()
    client = world.pod("client")
    assert world.outcome(client, ADDRESS) == "ConnectionRefused"
    assert world.outcome(client, ADDRESS, 81) == "ConnectTimedOut"
    assert world.outcome(client, "10.96.1.1") == "ConnectTimedOut"


def test_an_endpoint_where_nothing_listens_refuses(world: World) -> None:
    world.service("web", ADDRESS)
    world.endpoints("web", world.pod("idle"))
    world.settle()
    assert world.outcome(world.pod("client"), ADDRESS) == "ConnectionRefused"


def test_endpoints_that_are_not_ready_get_nothing(world: World) -> None:
    pods = [world.server("a"), world.server("b")]
    world.service("web", ADDRESS)
    world.endpoints("web", pods[0])
    world.endpoints("web", pods[1], name="web-y", conditions={"ready": False, "serving": False})
    world.settle()
    assert set(spread(world, world.pod("client"), ADDRESS, count=20)) == {"a"}


def test_terminating_endpoints_serve_only_when_nobody_else_does(world: World) -> None:
    ending = {"ready": False, "serving": True, "terminating": True}
    old, new = world.server("old"), world.server("new")
    world.service("web", ADDRESS)
    world.endpoints("web", old, name="web-old", conditions=ending)
    world.settle()
    client = world.pod("client")
    assert world.outcome(client, ADDRESS) == "old"
    world.endpoints("web", new, name="web-new")
    world.settle()
    assert set(spread(world, client, ADDRESS, count=20)) == {"new"}


def test_ports_are_matched_by_name(world: World) -> None:
    pod = world.server("web", port=9000)
    ports = [
        {"name": "http", "port": 80, "targetPort": "named"},
        {"name": "other", "port": 81, "targetPort": "gone"},
    ]
    world.service("web", ADDRESS, ports=ports)
    world.endpoints("web", pod, ports=[{"name": "http", "port": 9000, "protocol": "TCP"}])
    world.settle()
    client = world.pod("client")
    assert world.outcome(client, ADDRESS) == "web"
    assert world.outcome(client, ADDRESS, 81) == "ConnectionRefused"


def test_node_ports_answer_on_every_node_and_on_its_loopback(world: World) -> None:
    web(world, (1,), type="NodePort", ports=[{"port": 80, "targetPort": 8080, "nodePort": 30080}])
    client, host = world.pod("client", node=2), world.machines[0].host.namespace
    for number in (2, 3, 4):
        assert world.outcome(client, f"172.18.0.{number}", 30080) == "web-0"
    assert world.outcome(host, "127.0.0.1", 30080) == "web-0"
    assert world.outcome(client, "127.0.0.1", 30080) == "ConnectionRefused"
    assert world.outcome(client, "172.18.0.2", 30081) == "ConnectionRefused"


def test_strangers_use_node_ports_and_balancers_but_no_cluster_address(world: World) -> None:
    web(world, (1,), type="LoadBalancer", ports=[{"port": 80, "targetPort": 8080, "nodePort": 30080}])
    give_balancer(world, "198.51.100.7")
    user = Machine(world.kernel, world.network, "user", "192.0.2.1", operator_image()).host.namespace
    assert world.outcome(user, "172.18.0.4", 30080) == "web-0"
    assert world.outcome(user, "198.51.100.7") == "web-0"
    assert world.outcome(user, ADDRESS) == "ConnectTimedOut"


def give_balancer(world: World, address: str) -> None:
    service = copy(world.client.get("services", "demo", "web"))
    service["status"] = {"loadBalancer": {"ingress": [{"ip": address, "ipMode": "VIP"}]}}
    world.client.update_status(service)
    world.settle()


def test_a_balancer_may_be_closed_to_some_sources(world: World) -> None:
    web(world, (1,), type="LoadBalancer", loadBalancerSourceRanges=["203.0.113.0/24"])
    give_balancer(world, "198.51.100.7")
    user = Machine(world.kernel, world.network, "user", "192.0.2.1", operator_image()).host.namespace
    friend = Machine(world.kernel, world.network, "friend", "203.0.113.9", operator_image()).host.namespace
    assert world.outcome(user, "198.51.100.7") == "ConnectTimedOut"
    assert world.outcome(friend, "198.51.100.7") == "web-0"


def test_external_addresses_lead_to_the_service(world: World) -> None:
    web(world, (1,), externalIPs=["198.51.100.9"])
    assert world.outcome(world.pod("client"), "198.51.100.9") == "web-0"


def test_the_internal_policy_local_keeps_to_the_node(world: World) -> None:
    web(world, (1, 2), internalTrafficPolicy="Local")
    assert set(spread(world, world.pod("near", node=2), ADDRESS, count=20)) == {"web-1"}
    assert world.outcome(world.pod("far", node=0), ADDRESS) == "ConnectTimedOut"


def test_the_external_policy_local_keeps_strangers_to_the_node(world: World) -> None:
    ports = [{"port": 80, "targetPort": 8080, "nodePort": 30080}]
    web(world, (1,), type="NodePort", externalTrafficPolicy="Local", ports=ports)
    user = Machine(world.kernel, world.network, "user", "192.0.2.1", operator_image()).host.namespace
    assert world.outcome(user, "172.18.0.3", 30080) == "web-0"
    assert world.outcome(user, "172.18.0.4", 30080) == "ConnectTimedOut"
    assert world.outcome(world.pod("pod", node=2), "172.18.0.4", 30080) == "web-0"


def test_affinity_keeps_a_client_with_its_endpoint_until_it_was_away_too_long(world: World) -> None:
    config = {"clientIP": {"timeoutSeconds": 60}}
    web(world, (1, 1, 2, 2), sessionAffinity="ClientIP", sessionAffinityConfig=config)
    client = world.pod("client")
    assert len(spread(world, client, ADDRESS, count=20)) == 1
    seen = set()
    for _ in range(20):
        world.settle(61)
        seen.add(world.reaches(client, ADDRESS))
    assert len(seen) > 1


def test_a_pod_reaches_itself_through_its_service(world: World) -> None:
    (pod,) = web(world, (1,))
    assert world.outcome(pod, ADDRESS) == "web-0"


def test_rules_follow_a_moment_later_and_connections_stay(world: World) -> None:
    web(world, (1,))
    client = world.pod("client")
    connection = world.run(client.dial(ADDRESS, 80, "http"))
    slices = world.client.get("endpointslices.discovery.k8s.io", "demo", "web-x")
    assert slices is not None
    world.client.delete(slices)
    assert world.outcome(client, ADDRESS) == "web-0"
    world.settle()
    assert world.outcome(client, ADDRESS) == "ConnectionRefused"
    assert connection.state == "ESTAB" and not connection.closed


def test_a_deleted_service_is_gone(world: World) -> None:
    web(world, (1,))
    service = world.client.get("services", "demo", "web")
    assert service is not None
    world.client.delete(service)
    world.settle()
    assert world.outcome(world.pod("client"), ADDRESS) == "ConnectTimedOut"


def test_a_node_without_its_proxy_keeps_old_rules_and_one_that_never_had_it_has_none(world: World) -> None:
    web(world, (1,))
    world.services.stop_on("kind-worker2")
    slices = copy(world.client.get("endpointslices.discovery.k8s.io", "demo", "web-x"))
    other = world.server("other")
    slices["endpoints"][0]["addresses"] = [other.address]
    world.client.update(slices)
    world.settle()
    stale, fresh = world.pod("stale", node=2), world.pod("fresh", node=1)
    assert (world.outcome(stale, ADDRESS), world.outcome(fresh, ADDRESS)) == ("web-0", "other")
    world.services.run_on("kind-worker2")
    assert world.outcome(stale, ADDRESS) == "other"


def test_datagrams_go_through_services_and_answers_come_back(world: World) -> None:
    pod, client = world.pod("dns"), world.pod("client")
    server = pod.bind(5353, "raw")
    server.on_datagram = lambda datagram: server.send_to(*datagram.source, "pong")
    world.service("dns", ADDRESS, ports=[{"port": 53, "protocol": "UDP", "targetPort": 5353}])
    world.endpoints("dns", pod, ports=[{"name": "", "port": 5353, "protocol": "UDP"}])
    world.settle()
    socket = client.bind(0, "raw")
    socket.connect(ADDRESS, 53)
    socket.send("ping")
    assert world.run(receive(socket)).message == "pong"


async def receive(socket: object) -> object:
    return await socket.receive(1.0)


def test_host_ports_lead_into_their_pod(world: World) -> None:
    containers = [
        {"name": "c", "image": "x", "ports": [{"containerPort": 8080, "hostPort": 80, "protocol": "TCP"}]}
    ]
    world.server("ingress", node=1, containers=containers)
    client = world.pod("client", node=2)
    assert world.outcome(client, "172.18.0.3") == "ingress"
    pod = world.client.get("pods", "demo", "ingress")
    assert pod is not None
    world.pods.release(pod["metadata"]["uid"])
    assert world.outcome(client, "172.18.0.3") == "ConnectionRefused"
