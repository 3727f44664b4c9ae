"""Ports, tables, pings, and what the operating system does when programs and machines end."""

import pytest

from simcloud.machine.network import (
    AddressInUse,
    AddressNotAvailable,
    Closed,
    ConnectionReset,
    HostUnreachable,
    InvalidArgument,
    NetworkUnreachable,
    ports,
)
from simcloud.machine.network.routing import DROP, UNREACHABLE
from simcloud.sim import TimedOut

# -- ports --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [("0.0.0.0", "0.0.0.0"), ("0.0.0.0", "10.0.0.2"), ("127.0.0.1", "0.0.0.0"), ("::", "0.0.0.0"),
     ("10.0.0.2", "10.0.0.2")],
)  # fmt: skip
def test_a_port_is_taken_once(world, first, second):
    world.server.listen(80, "http", address=first)
    with pytest.raises(AddressInUse):
        world.server.listen(80, "http", address=second)


def test_different_addresses_ports_and_transports_do_not_collide(world):
    world.server.listen(80, "http", address="127.0.0.1")
    world.server.listen(80, "http", address="10.0.0.2")
    world.server.listen(81, "http")
    world.server.bind(80, "dns")
    world.client.listen(80, "http")


def test_port_zero_is_any_free_one(world):
    first, second = (world.server.listen(0, "http").port for _ in range(2))
    assert first != second and {first, second} <= set(range(32768, 61000))


def test_only_own_addresses_and_real_ports_can_be_listened_on(world):
    with pytest.raises(AddressNotAvailable):
        world.server.listen(80, "http", address="10.0.0.1")
    with pytest.raises(InvalidArgument):
        world.server.listen(70_000, "http")


# -- programs end -------------------------------------------------------------------------------


def test_release_frees_what_the_owner_had_and_nothing_else(world):
    mine, other = object(), object()
    ours, theirs, _ = world.connect(server_owner=mine)
    _, other_end, _ = world.connect(port=81, server_owner=other)
    world.server.bind(53, "dns", owner=mine)
    world.server.release(mine)
    world.kernel.run_for(1)
    with pytest.raises(Closed):
        world.run(ours.receive())
    assert theirs.closed
    assert not other_end.closed
    assert [each.local[1] for each in world.server.sockets() if each.state == "LISTEN"] == [81]
    world.server.listen(80, "http")
    world.server.bind(53, "dns")


def test_a_killed_program_with_unread_requests_resets_its_clients(world):
    mine = object()
    ours, _, _ = world.connect(server_owner=mine)
    ours.send("request")
    world.kernel.run_for(1)
    world.server.release(mine)
    with pytest.raises(ConnectionReset):
        world.run(ours.receive())


def test_release_can_reset_on_purpose(world):
    mine = object()
    ours, _, _ = world.connect(server_owner=mine)
    world.server.release(mine, reset=True)
    with pytest.raises(ConnectionReset):
        world.run(ours.receive())


def test_release_ends_attempts_to_connect(world):
    mine = object()
    world.link.partitioned = True
    world.start(world.client.dial("10.0.0.2", 80, "http", owner=mine))
    world.kernel.run_for(1)
    world.client.release(mine)
    assert world.client.sockets() == []


def test_callbacks_of_a_released_program_are_never_called_again(world, recorder):
    mine = object()
    ours, theirs, _ = world.connect(server_owner=mine)
    theirs.on_message = theirs.on_close = recorder
    ours.send("too late")
    world.server.release(mine)
    ours.close()
    world.kernel.run_for(10)
    assert recorder.calls == []


def test_only_so_many_closed_connections_are_remembered(world, monkeypatch):
    monkeypatch.setattr(ports, "LINGERING", 3)
    world.server.listen(80, "http").on_accept = lambda connection: None
    connections = [world.run(world.client.dial("10.0.0.2", 80, "http")) for _ in range(5)]
    for connection in connections:
        connection.close()
    assert {each.local for each in world.client.sockets()} == {each.local for each in connections[2:]}


# -- namespaces end -----------------------------------------------------------------------------


def test_a_destroyed_namespace_says_goodbye(world):
    ours, _, _ = world.connect()
    world.server.destroy()
    world.kernel.run_for(1)
    with pytest.raises(Closed):
        world.run(ours.receive())
    with pytest.raises(HostUnreachable):
        world.run(world.client.dial("10.0.0.2", 80, "http"))
    assert world.server.sockets() == []
    world.server.destroy()


def test_a_destroyed_namespace_resets_those_it_left_unanswered(world):
    ours, _, listener = world.connect()
    waiting = world.run(world.client.dial("10.0.0.2", 80, "http"))
    ours.send("unread")
    world.kernel.run_for(1)
    assert listener.waiting == 1
    world.server.destroy()
    world.kernel.run_for(1)
    for connection in (ours, waiting):
        with pytest.raises(ConnectionReset):
            world.run(connection.receive())


def test_an_address_can_be_given_to_a_successor(world):
    world.server.destroy(silent=True)
    again = world.network.namespace("server-2", "10.0.0.2", "node-2")
    again.listen(80, "http")
    world.run(world.client.dial("10.0.0.2", 80, "http"))


# -- tables -------------------------------------------------------------------------------------


def test_sockets_are_listed_in_the_same_order_every_time(world):
    ours, theirs, _ = world.connect(owner="curl", server_owner="nginx")
    world.server.bind(53, "dns", owner="coredns")
    theirs.send("x", size_bytes=70)
    ours.send("y", size_bytes=50)
    world.kernel.run_for(1)
    theirs.send("z", size_bytes=30)
    table = [
        (info.transport, info.state, info.receive_queue, info.send_queue, info.local, info.remote, info.owner)
        for info in world.server.sockets()
    ]
    assert table == [
        ("tcp", "LISTEN", 0, 128, ("0.0.0.0", 80), ("0.0.0.0", 0), "nginx"),
        ("tcp", "ESTAB", 50, 30, ("10.0.0.2", 80), ours.local, "nginx"),
        ("udp", "UNCONN", 0, 0, ("0.0.0.0", 53), ("0.0.0.0", 0), "coredns"),
    ]
    (mine,) = world.client.sockets()
    assert (mine.receive_queue, mine.send_queue, mine.owner, mine.protocol) == (70, 0, "curl", "http")


def test_a_listeners_queue_shows_who_waits(world):
    world.server.listen(80, "http", backlog=5)
    world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(1)
    listening = world.server.sockets()[0]
    assert (listening.receive_queue, listening.send_queue) == (1, 5)


def test_interfaces_count_packets_bytes_drops_and_errors(world):
    ours, theirs, _ = world.connect()
    theirs.on_message = lambda _: None
    for stack in (world.client, world.server):
        assert [each.name for each in stack.interfaces()] == ["lo", "eth0"]
    before = world.client.interfaces()[1], world.server.interfaces()[1]
    world.server.ingress.corruption = 1.0
    ours.send("x", size_bytes=1000)
    world.kernel.run_for(0.5)
    world.server.ingress.corruption = 0.0
    world.kernel.run_for(10)
    after = world.client.interfaces()[1], world.server.interfaces()[1]
    # sent at 0, repeated at 0.2 (both corrupted) and at 0.6 s
    assert after[0].sent_packets - before[0].sent_packets == 3
    assert after[0].sent_bytes - before[0].sent_bytes == 3000
    assert after[0].retransmits == 2
    assert after[1].received_packets - before[1].received_packets == 1
    assert after[1].received_bytes - before[1].received_bytes == 1000
    assert after[1].receive_errors == 2
    assert after[1].address == "10.0.0.2"


def test_loopback_traffic_counts_on_lo_only(world):
    world.server.listen(80, "http")
    connection = world.run(world.server.dial("127.0.0.1", 80, "http"))
    connection.send("x", size_bytes=1000)
    lo, eth0 = world.server.interfaces()
    assert lo.sent_bytes == lo.received_bytes == 3 * 60 + 1000
    assert (eth0.sent_packets, eth0.received_packets) == (0, 0)


def test_counters_survive_the_end_of_a_peer(world):
    ours, _, _ = world.connect()
    ours.send("x", size_bytes=1000)
    sent = world.client.interfaces()[1].sent_bytes
    world.server.destroy(silent=True)
    assert world.client.interfaces()[1].sent_bytes == sent


# -- ping ---------------------------------------------------------------------------------------


def test_ping_measures_the_round_trip(world):
    world.server.impairment.delay_s = 0.1
    assert world.run(world.client.ping("10.0.0.2")) == pytest.approx(0.1005)
    assert world.run(world.client.ping("127.0.0.1")) == pytest.approx(40e-6)


def test_ping_times_out_or_is_told(world):
    with pytest.raises(HostUnreachable):
        world.run(world.client.ping("10.9.9.9"))
    world.link.partitioned = True
    started = world.now
    with pytest.raises(TimedOut):
        world.run(world.client.ping("10.0.0.2", timeout_s=2))
    assert world.now - started == pytest.approx(2)
    with pytest.raises(TimedOut):
        world.run(world.client.ping("10.9.9.9", timeout_s=1))
    world.client.down()
    with pytest.raises(NetworkUnreachable):
        world.run(world.client.ping("10.0.0.2"))


@pytest.mark.parametrize(("route", "error"), [(DROP, TimedOut), (UNREACHABLE, HostUnreachable)])
def test_routers_decide_about_pings(world, route, error):
    class Router:
        def route(self, source, address, port, transport):
            assert (port, transport) == (0, "icmp")
            return route

    world.network.router = Router()
    with pytest.raises(error):
        world.run(world.client.ping("10.0.0.2"))


def test_ping_over_a_lossy_link_sometimes_times_out(world):
    world.link.loss = 0.3
    answered = 0
    for _ in range(200):
        try:
            world.run(world.client.ping("10.0.0.2", timeout_s=1))
        except TimedOut:
            continue
        answered += 1
    assert 70 <= answered <= 125  # 0.49 of them on average
