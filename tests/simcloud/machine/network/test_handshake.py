"""Dialling: who answers, when, and with what."""

import pytest

from simcloud.machine.network import (
    DROP,
    REFUSE,
    UNREACHABLE,
    AddressNotAvailable,
    ConnectionRefused,
    ConnectTimedOut,
    HostsResolver,
    HostUnreachable,
    InvalidArgument,
    NameNotFound,
    NetworkUnreachable,
    ResolverFailure,
    Route,
)
from simcloud.sim import TimedOut

ONE_WAY_S = 250e-6


def fails_with(world, error, host="10.0.0.2", port=80, **options):
    """The virtual time a dial took to fail in this way."""
    started = world.now
    with pytest.raises(error) as caught:
        world.run(world.client.dial(host, port, "http", **options))
    assert type(caught.value) is error
    assert not [each for each in world.client.sockets() if each.state != "LISTEN"]
    return world.now - started


def test_dialling_takes_one_round_trip(world):
    world.server.listen(80, "http")
    connection = world.run(world.client.dial("10.0.0.2", 80, "http"))
    assert world.now == pytest.approx(2 * ONE_WAY_S)
    assert connection.opened_at == world.now
    assert connection.remote == ("10.0.0.2", 80)
    assert connection.local[0] == "10.0.0.1"
    assert connection.state == "ESTAB"
    assert not connection.closed


def test_the_server_sees_the_connection_half_a_round_trip_later(world, recorder):
    world.server.listen(80, "http").on_accept = recorder
    connection = world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(1)
    (accepted,) = recorder.calls
    assert recorder.times == [pytest.approx(3 * ONE_WAY_S)]
    assert (accepted.local, accepted.remote) == (connection.remote, connection.local)


def test_refused_after_one_round_trip_when_nothing_listens(world):
    assert fails_with(world, ConnectionRefused) == pytest.approx(2 * ONE_WAY_S)


def test_refused_on_the_wrong_address_of_the_right_machine(world):
    world.server.listen(80, "http", address="127.0.0.1")
    fails_with(world, ConnectionRefused)


def test_nobody_has_the_address(world):
    assert fails_with(world, HostUnreachable, host="10.9.9.9") == pytest.approx(3.06)


def test_a_lost_machine_is_unreachable(world):
    world.server.listen(80, "http")
    world.server.destroy(silent=True)
    assert fails_with(world, HostUnreachable) == pytest.approx(3.06)


def test_a_machine_that_comes_up_while_it_is_looked_for_answers(world):
    world.server.listen(80, "http")
    world.server.down()
    world.kernel.call_later(0.5, lambda _: world.server.up())
    world.run(world.client.dial("10.0.0.2", 80, "http"))
    assert world.now == pytest.approx(1.0 + 2 * ONE_WAY_S)


def test_a_partition_times_out_after_the_kernels_own_seven_tries(world):
    world.server.listen(80, "http")
    world.link.partitioned = True
    assert fails_with(world, ConnectTimedOut) == pytest.approx(127)


def test_a_partition_that_heals_lets_the_next_try_through(world):
    world.server.listen(80, "http")
    world.link.partitioned = True
    world.kernel.call_later(2.5, lambda _: setattr(world.link, "partitioned", False))
    world.run(world.client.dial("10.0.0.2", 80, "http"))
    assert world.now == pytest.approx(3.0 + 2 * ONE_WAY_S)


def test_lost_syns_are_sent_again(world):
    world.server.listen(80, "http")
    world.link.loss = 0.3
    times = []
    for _ in range(40):
        started = world.now
        world.run(world.client.dial("10.0.0.2", 80, "http", timeout_s=200))
        times.append(round(world.now - started, 2))
    assert 0.0 in times
    assert 1.0 in times
    assert 3.0 in times
    assert set(times) <= {0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0}


def test_the_time_out_caps_everything(world):
    world.link.partitioned = True
    assert fails_with(world, ConnectTimedOut, timeout_s=2.5) == pytest.approx(2.5)


def test_a_time_out_further_out_is_not_taken_for_ones_own(world):
    world.link.partitioned = True

    async def impatient():
        with world.kernel.timeout(1):
            await world.client.dial("10.0.0.2", 80, "http", timeout_s=5)

    with pytest.raises(TimedOut):
        world.run(impatient())
    assert world.now == pytest.approx(1)
    assert world.client.sockets() == []


def test_no_network_while_the_interface_is_down_but_loopback_works(world):
    world.client.listen(80, "http")
    world.client.down()
    assert fails_with(world, NetworkUnreachable) == 0
    world.run(world.client.dial("127.0.0.1", 80, "http"))
    world.client.up()
    with pytest.raises(ConnectionRefused):
        world.run(world.client.dial("10.0.0.2", 80, "http"))


def test_a_dropped_task_leaves_no_half_open_connection(world):
    world.link.partitioned = True
    task = world.start(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(1)
    assert [each.state for each in world.client.sockets()] == ["SYN-SENT"]
    task.drop()
    assert world.client.sockets() == []
    world.kernel.run_for(300)


def test_there_is_no_port_70000(world):
    fails_with(world, InvalidArgument, port=70000)


# -- loopback and local traffic -----------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "10.0.0.2"])
def test_loopback_never_leaves_the_namespace(world, host):
    world.server.listen(80, "http")
    world.server.impairment.partitioned = True
    world.link.partitioned = True
    connection = world.run(world.server.dial(host, 80, "http"))
    assert world.now == pytest.approx(2 * 20e-6)
    assert connection.local[0] == ("10.0.0.2" if host == "10.0.0.2" else "127.0.0.1")


def test_namespaces_of_one_machine_are_close(world):
    neighbour = world.network.namespace("neighbour", "10.0.0.3", "node-1")
    neighbour.listen(80, "http")
    world.run(world.client.dial("10.0.0.3", 80, "http"))
    assert world.now == pytest.approx(2 * 50e-6)


def test_a_distant_machine_is_far_from_all_others(world):
    world.network.add_machine("outside", link_delay_s=0.02)
    user = world.network.namespace("user", "192.0.2.1", "outside")
    world.server.listen(80, "http")
    world.run(user.dial("10.0.0.2", 80, "http"))
    assert world.now == pytest.approx(0.04)


# -- backlog ------------------------------------------------------------------------------------


def test_a_full_backlog_drops_syns_until_there_is_room(world):
    listener = world.server.listen(80, "http", backlog=1)
    for _ in range(2):  # Linux lets one more in than the backlog says
        world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(0.1)
    fails_with_full = world.start(world.client.dial("10.0.0.2", 80, "http", timeout_s=2.9))
    with pytest.raises(ConnectTimedOut):
        world.kernel.run_task(fails_with_full)
    waiting = world.start(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(0.5)
    world.run(listener.accept())
    started = world.now
    world.kernel.run_task(waiting)
    assert world.now - started == pytest.approx(0.5, abs=0.01)


def test_connections_racing_into_the_last_place_wait_outside(world):
    listener = world.server.listen(80, "http", backlog=0)
    dials = [world.start(world.client.dial("10.0.0.2", 80, "http")) for _ in range(2)]
    first, second = (world.kernel.run_task(dial) for dial in dials)
    assert (first.state, second.state) == ("ESTAB", "ESTAB")
    second.send("hello")
    world.kernel.run_for(1)
    states = sorted(each.state for each in world.server.sockets())
    assert states == ["ESTAB", "LISTEN", "SYN-RECV"]

    async def accept_both():
        await listener.accept()
        return await (await listener.accept()).receive()

    assert world.run(accept_both()) == "hello"


# -- names and routes ---------------------------------------------------------------------------


def test_names_are_resolved_and_their_addresses_tried_in_turn(world):
    world.client.resolver = HostsResolver({"web": ["10.9.9.9", "10.0.0.2"]})
    world.server.listen(80, "http")
    connection = world.run(world.client.dial("web", 80, "http"))
    assert connection.remote == ("10.0.0.2", 80)
    assert world.now == pytest.approx(3.06 + 2 * ONE_WAY_S)


def test_the_last_address_decides_the_error(world):
    world.client.resolver = HostsResolver({"web": ["10.9.9.9", "10.0.0.2"]})
    fails_with(world, ConnectionRefused, host="web")


def test_unknown_names(world):
    assert fails_with(world, NameNotFound, host="nowhere") == 0


class SlowResolver:
    async def resolve(self, namespace, name):
        await namespace.kernel.sleep(5)
        raise ResolverFailure(name)


def test_the_resolver_takes_its_time_and_its_errors_pass_through(world):
    world.client.resolver = SlowResolver()
    assert fails_with(world, ResolverFailure, host="web") == pytest.approx(5)
    assert fails_with(world, ConnectTimedOut, host="web", timeout_s=1) == pytest.approx(1)


class TableRouter:
    def __init__(self, table):
        self.table = table
        self.asked = []

    def route(self, source, address, port, transport):
        self.asked.append((source.name, address, port, transport))
        return self.table.get((address, port), Route.deliver(address, port))


def test_a_router_sends_a_service_address_to_a_real_one(world):
    router = world.network.router = TableRouter({("10.96.0.1", 80): Route.deliver("10.0.0.2", 8080)})
    listener = world.server.listen(8080, "http")
    connection = world.run(world.client.dial("10.96.0.1", 80, "http"))
    accepted = world.run(listener.accept())
    assert connection.remote == ("10.96.0.1", 80)
    assert accepted.local == ("10.0.0.2", 8080)
    assert router.asked == [("client", "10.96.0.1", 80, "tcp")]


@pytest.mark.parametrize(
    ("route", "error", "seconds"),
    [
        (REFUSE, ConnectionRefused, 0.00005),
        (DROP, ConnectTimedOut, 127),
        (UNREACHABLE, HostUnreachable, 0.00005),
    ],
)
def test_a_router_may_refuse_drop_or_know_no_way(world, route, error, seconds):
    world.network.router = TableRouter({("10.0.0.2", 80): route})
    world.server.listen(80, "http")
    assert fails_with(world, error) == pytest.approx(seconds)


# -- ephemeral ports ----------------------------------------------------------------------------


def test_ephemeral_ports_are_even_scattered_by_destination_and_free(world):
    for port in range(80, 90):
        world.server.listen(port, "http")
    dialled = [world.run(world.client.dial("10.0.0.2", port, "http")).local[1] for port in range(80, 90)]
    assert all(port % 2 == 0 and 32768 <= port < 61000 for port in dialled)
    assert dialled != sorted(dialled) and max(dialled) - min(dialled) > 5_000
    again = [world.run(world.client.dial("10.0.0.2", 80, "http")).local[1] for _ in range(50)]
    assert len({dialled[0], *again}) == 51


@pytest.mark.slow
def test_ports_run_out_and_come_back_a_minute_after_closing(world):
    listener = world.server.listen(80, "http")
    listener.on_accept = lambda connection: None
    world.client.listen(32768, "http")

    async def dial_all(number):
        return [await world.client.dial("10.0.0.2", 80, "http") for _ in range(number)]

    connections = world.run(dial_all(28_231))
    assert {connection.local[1] for connection in connections} == set(range(32769, 61000))
    fails = world.start(world.client.dial("10.0.0.2", 80, "http"))
    with pytest.raises(AddressNotAvailable):
        world.kernel.run_task(fails)
    connections[5].close()
    world.kernel.run_for(59)
    with pytest.raises(AddressNotAvailable):
        world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(2)
    assert world.run(world.client.dial("10.0.0.2", 80, "http")).local == connections[5].local
