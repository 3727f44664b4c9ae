import pytest

from simcloud.machine.network import (
    HostsResolver,
    NameNotFound,
    PlainRouter,
    Route,
    Verdict,
    is_address,
    is_loopback,
)


def resolve(world, resolver, name):
    return world.run(resolver.resolve(world.client, name))


def test_hosts_resolver_knows_its_table_and_localhost(world):
    resolver = HostsResolver({"web": "10.0.0.2", "db": ["10.0.0.3", "10.0.0.4"]})
    assert resolve(world, resolver, "localhost") == ["127.0.0.1"]
    assert resolve(world, resolver, "Web.") == ["10.0.0.2"]
    assert resolve(world, resolver, "db") == ["10.0.0.3", "10.0.0.4"]
    with pytest.raises(NameNotFound):
        resolve(world, resolver, "nowhere")


def test_addresses_need_no_resolver(world):
    world.client.resolver = HostsResolver()
    assert world.run(world.client.resolve("10.9.9.9")) == ["10.9.9.9"]


@pytest.mark.parametrize(
    ("host", "literal"),
    [
        ("10.0.0.1", True),
        ("::1", True),
        ("web", False),
        ("10.0.0", False),
        ("10.0.0.256", False),
        ("", False),
    ],
)
def test_which_hosts_are_addresses(host, literal):
    assert is_address(host) is literal


@pytest.mark.parametrize(
    ("address", "loops"), [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("10.0.0.1", False)]
)
def test_which_addresses_never_leave(address, loops):
    assert is_loopback(address) is loops


def test_the_plain_router_delivers_as_addressed(world):
    route = PlainRouter().route(world.client, "10.0.0.2", 80, "tcp")
    assert route == Route.deliver("10.0.0.2", 80)
    assert route.verdict is Verdict.DELIVER
