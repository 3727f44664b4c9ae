"""Names by way of name servers: which are asked, in what order, for how long."""

from __future__ import annotations

import pytest

from simcloud.machine.network import NameNotFound, Namespace, ResolverFailure
from simcloud.machine.network.dns import SERVFAIL, Question, Reply
from simcloud.machine.network.stub_resolver import DnsSettings, StubResolver, candidates, read_resolv_conf
from tests.simcloud.machine.network.conftest import World
from tests.simcloud.machine.network.name_server import NameServer


class Failing(NameServer):
    def answer(self, question: Question) -> Reply:
        return Reply(question, SERVFAIL)


def server(world: World, address: str) -> Namespace:
    return world.network.namespace(address, address, "node-2")


def resolve(world: World, settings: DnsSettings, name: str) -> list[str]:
    return world.run(StubResolver(settings).resolve(world.client, name))


def test_the_next_server_is_asked_when_one_fails_or_is_silent(world: World) -> None:
    Failing(server(world, "10.0.1.1"))
    silent = server(world, "10.0.1.2")
    silent.ingress.loss = 1.0
    NameServer(server(world, "10.0.1.3"), {"web.test": "10.5.5.5"})
    settings = DnsSettings(("10.0.1.1", "10.0.1.2", "10.0.1.3"))
    assert resolve(world, settings, "web.test") == ["10.5.5.5"]
    assert 5.0 <= world.now < 5.1


def test_no_such_name_is_final_for_a_server_but_not_for_the_search(world: World) -> None:
    NameServer(server(world, "10.0.1.1"), {"web.b.test": "10.5.5.5"})
    settings = DnsSettings(("10.0.1.1",), ("a.test", "b.test"), ndots=2)
    assert resolve(world, settings, "web") == ["10.5.5.5"]
    with pytest.raises(NameNotFound):
        resolve(world, settings, "nosuch")
    with pytest.raises(NameNotFound):
        resolve(world, settings, "web.")


def test_failures_are_no_answer(world: World) -> None:
    Failing(server(world, "10.0.1.1"))
    with pytest.raises(ResolverFailure):
        resolve(world, DnsSettings(("10.0.1.1",)), "web.test")
    server(world, "10.0.1.2")
    with pytest.raises(ResolverFailure):
        resolve(world, DnsSettings(("10.0.1.2",)), "web.test")
    assert world.now < 1


def test_silence_costs_every_attempt(world: World) -> None:
    server(world, "10.0.1.1").ingress.loss = 1.0
    with pytest.raises(ResolverFailure):
        resolve(world, DnsSettings(("10.0.1.1",), timeout_s=2.0, attempts=3), "web.test")
    assert world.now == pytest.approx(6.0)


def test_a_fourth_server_is_never_asked(world: World) -> None:
    for number in (1, 2, 3):
        Failing(server(world, f"10.0.1.{number}"))
    NameServer(server(world, "10.0.1.4"), {"web.test": "10.5.5.5"})
    with pytest.raises(ResolverFailure):
        resolve(world, DnsSettings(tuple(f"10.0.1.{number}" for number in (1, 2, 3, 4))), "web.test")


@pytest.mark.parametrize(
    ("name", "tried"),
    [
        ("web", ["web.a", "web.b", "web"]),
        ("x.y.z", ["x.y.z", "x.y.z.a", "x.y.z.b"]),
        ("web.", ["web."]),
    ],
)
def test_which_names_are_tried(name: str, tried: list[str]) -> None:
    settings = DnsSettings(searches=("a", "b"), ndots=2)
    assert [candidate for candidate, _ in candidates(name, settings)] == tried


def test_the_file_is_read() -> None:
    text = "# comment\nnameserver 10.0.0.1\nnameserver 10.0.0.2\nsearch a b\noptions ndots:3 timeout:1 attempts:4 rotate\n"
    assert read_resolv_conf(text) == DnsSettings(
        ("10.0.0.1", "10.0.0.2"), ("a", "b"), 3, 1.0, 4, ("ndots:3", "timeout:1", "attempts:4", "rotate")
    )
