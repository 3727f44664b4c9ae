from __future__ import annotations

import pytest

from simcloud.kubernetes.network.pod_network import DnsSettings, NetworkNotReady, NoAddressLeft
from simcloud.machine.network import ConnectionRefused
from tests.simcloud.kubernetes.network.conftest import World


def test_addresses_come_in_order_from_the_nodes_range(world: World) -> None:
    assert [world.pod(f"a{n}").address for n in range(3)] == ["10.244.1.2", "10.244.1.3", "10.244.1.4"]
    assert world.pod("b", node=2).address == "10.244.2.2"


def test_a_pod_on_the_hosts_network_has_the_machines_namespace(world: World) -> None:
    assert world.pod("agent", hostNetwork=True) is world.machines[1].host.namespace
    assert world.pod("plain").address == "10.244.1.2"


def test_a_released_address_comes_again_only_after_the_round(world: World) -> None:
    for number in range(4):
        world.pod(f"p{number}")
    pods = world.client.list("pods", "demo")
    world.pods.release(pods[1]["metadata"]["uid"])
    assert world.pod("later").address == "10.244.1.6"
    for number in range(7, 255):
        assert world.pod(f"q{number}").address == f"10.244.1.{number}"
    assert world.pod("wrapped").address == "10.244.1.3"
    with pytest.raises(NoAddressLeft, match=r"range set: 10\.244\.1\.1-10\.244\.1\.254"):
        world.pod("too-many")


def test_attaching_twice_gives_the_same_namespace_and_a_lost_one_is_replaced(world: World) -> None:
    first = world.pod("web")
    pod = world.client.get("pods", "demo", "web")
    assert pod is not None
    assert world.pods.attach(pod, world.machines[1]) is first
    first.destroy(silent=True)
    again = world.pods.attach(pod, world.machines[1])
    assert again is not first and again.address == "10.244.1.3"


def test_release_ends_the_namespace_and_may_come_twice(world: World) -> None:
    namespace = world.pod("web")
    pod = world.client.get("pods", "demo", "web")
    assert pod is not None and world.pods.pod_at(namespace.address) is not None
    world.pods.release(pod["metadata"]["uid"])
    world.pods.release(pod["metadata"]["uid"])
    assert namespace.gone and world.pods.pod_at(namespace.address) is None


def test_without_a_range_the_network_is_not_ready(world: World) -> None:
    node = world.client.get("nodes", "", "kind-worker")
    assert node is not None
    world.client.delete(node)
    with pytest.raises(NetworkNotReady):
        world.pod("web")


def test_pods_reach_each_other_by_address(world: World) -> None:
    one, other = world.pod("one"), world.pod("other", node=2)
    other.listen(80, "http")
    assert world.run(one.dial(other.address, 80, "http")).remote == (other.address, 80)
    with pytest.raises(ConnectionRefused):
        world.run(one.dial(other.address, 81, "http"))


def test_hosts_come_before_name_servers(world: World) -> None:
    one = world.pod("one")
    world.pods.set_dns(one, DnsSettings(hosts={"Db.Local": ("10.9.9.9",)}))
    assert world.run(one.resolve("db.local.")) == ["10.9.9.9"]
    assert world.run(one.resolve("localhost")) == ["127.0.0.1"]


def test_a_pod_on_the_hosts_network_does_not_change_how_the_host_finds_names(world: World) -> None:
    host = world.pod("agent", hostNetwork=True)
    before = host.resolver
    world.pods.set_dns(host, DnsSettings(("10.96.0.10",)))
    assert host.resolver is before
