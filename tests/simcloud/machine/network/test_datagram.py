import pytest

from simcloud.machine.network import (
    DROP,
    REFUSE,
    AddressInUse,
    Closed,
    ConnectionRefused,
    NetworkUnreachable,
    NotConnected,
    Route,
    datagram,
)
from simcloud.sim import TimedOut


@pytest.fixture
def sockets(world):
    return world.client.bind(0, "dns"), world.server.bind(53, "dns")


def receive(world, socket):
    return world.run(socket.receive(timeout_s=5))


def test_a_datagram_arrives_and_can_be_answered(world, sockets):
    ours, theirs = sockets
    ours.send_to("10.0.0.2", 53, "web?", size_bytes=40)
    question = receive(world, theirs)
    assert (question.message, question.size_bytes, question.source) == ("web?", 40, ("10.0.0.1", ours.port))
    assert world.now == pytest.approx(250e-6)
    theirs.send_to(*question.source, "10.0.0.9")
    assert receive(world, ours).message == "10.0.0.9"


def test_callbacks_take_datagrams_as_they_come(world, sockets, recorder):
    ours, theirs = sockets
    ours.send_to("10.0.0.2", 53, "early")
    world.kernel.run_for(1)
    theirs.on_datagram = recorder
    ours.send_to("10.0.0.2", 53, "late")
    world.kernel.run_for(1)
    assert [each.message for each in recorder.calls] == ["early", "late"]


def test_loopback_datagrams(world):
    here = world.server.bind(53, "dns", address="127.0.0.1")
    asking = world.server.bind(0, "dns")
    asking.send_to("127.0.0.1", 53, "hello")
    assert receive(world, here).source == ("127.0.0.1", asking.port)


def test_lost_datagrams_are_gone(world, sockets):
    ours, theirs = sockets
    world.link.loss = 0.5
    for number in range(100):
        ours.send_to("10.0.0.2", 53, number)
    world.kernel.run_for(100)
    world.link.loss = 0.0
    ours.send_to("10.0.0.2", 53, 100)
    got = []
    while not got or got[-1] != 100:
        got.append(receive(world, theirs).message)
    assert 30 < len(got) < 70
    assert world.link.dropped == 101 - len(got)


def test_jitter_may_change_their_order(world, sockets):
    ours, theirs = sockets
    world.link.jitter_s = 0.1
    for number in range(20):
        ours.send_to("10.0.0.2", 53, number)
    got = [receive(world, theirs).message for _ in range(20)]
    assert sorted(got) == list(range(20)) != got


def test_receive_times_out_and_ends_with_the_socket(world, sockets):
    _, theirs = sockets
    with pytest.raises(TimedOut):
        receive(world, theirs)

    async def wait():
        await theirs.receive()

    waiting = world.start(wait())
    world.kernel.run_for(1)
    theirs.close()
    theirs.close()
    with pytest.raises(Closed):
        world.kernel.run_task(waiting)
    with pytest.raises(Closed):
        theirs.send_to("10.0.0.1", 53, "x")
    world.server.bind(53, "dns")


def test_a_connected_socket_learns_that_nothing_listens(world, sockets):
    ours, _ = sockets
    ours.connect("10.0.0.2", 54)
    ours.send("hello")
    started = world.now
    with pytest.raises(ConnectionRefused):
        receive(world, ours)
    assert world.now - started == pytest.approx(500e-6)
    ours.send("again")
    world.kernel.run_for(1)
    with pytest.raises(ConnectionRefused):
        ours.send("once more")


def test_an_unconnected_socket_learns_nothing(world, sockets):
    ours, _ = sockets
    ours.send_to("10.0.0.2", 54, "hello")
    with pytest.raises(TimedOut):
        receive(world, ours)
    with pytest.raises(NotConnected):
        ours.send("to whom?")


def test_a_connected_socket_hears_its_peer_only(world, sockets):
    ours, theirs = sockets
    ours.connect("10.0.0.2", 53)
    stranger = world.server.bind(99, "dns")
    stranger.send_to("10.0.0.1", ours.port, "psst")
    theirs.send_to("10.0.0.1", ours.port, "answer")
    assert receive(world, ours).message == "answer"
    (info,) = world.client.sockets()
    assert (info.state, info.remote) == ("ESTAB", ("10.0.0.2", 53))


def test_answers_from_behind_a_service_address_seem_to_come_from_it(world, sockets):
    ours, theirs = sockets

    class Router:
        def route(self, source, address, port, transport):
            assert transport == "udp"
            return Route.deliver("10.0.0.2", 53) if address == "10.96.0.10" else Route.deliver(address, port)

    world.network.router = Router()
    ours.connect("10.96.0.10", 53)
    ours.send("web?")
    theirs.send_to(*receive(world, theirs).source, "10.0.0.9")
    assert receive(world, ours).source == ("10.96.0.10", 53)
    theirs.close()
    ours.send("still there?")
    with pytest.raises(ConnectionRefused):
        receive(world, ours)


def test_only_so_many_rewritten_destinations_are_remembered(world, sockets, monkeypatch):
    ours, theirs = sockets

    class Router:
        def route(self, source, address, port, transport):
            return (
                Route.deliver("10.0.0.2", port) if address == "10.96.0.10" else Route.deliver(address, port)
            )

    world.network.router = Router()
    monkeypatch.setattr(datagram, "TRANSLATIONS", 2)
    for port in (53, 54, 55):
        ours.send_to("10.96.0.10", port, "web?")
    theirs.send_to("10.0.0.1", ours.port, "too late")
    assert receive(world, ours).source == ("10.0.0.2", 53)


@pytest.mark.parametrize(("route", "error"), [(REFUSE, ConnectionRefused), (DROP, TimedOut)])
def test_routers_refuse_and_drop_datagrams(world, sockets, route, error):
    class Router:
        def route(self, source, address, port, transport):
            return route

    ours, _ = sockets
    world.network.router = Router()
    ours.connect("10.0.0.2", 53)
    ours.send("hello")
    with pytest.raises(error):
        receive(world, ours)


def test_garbage_is_not_delivered(world, sockets):
    _, theirs = sockets
    world.client.bind(0, "statsd").send_to("10.0.0.2", 53, "a:1|c")
    with pytest.raises(TimedOut):
        receive(world, theirs)


def test_a_full_buffer_drops(world, sockets):
    ours, theirs = sockets
    for number in range(1000):
        ours.send_to("10.0.0.2", 53, number, size_bytes=512)
    world.kernel.run_for(1)
    assert theirs.dropped == 1000 - 208
    assert theirs.unread_bytes == 208 * 1024
    assert receive(world, theirs).message == 0


def test_nobody_there_no_network_no_port(world, sockets):
    ours, _ = sockets
    ours.send_to("10.9.9.9", 53, "hello")
    world.kernel.run_for(10)
    world.client.down()
    with pytest.raises(NetworkUnreachable):
        ours.send_to("10.0.0.2", 53, "hello")
    with pytest.raises(AddressInUse):
        world.server.bind(53, "dns")


def test_a_datagram_to_a_namespace_that_ends_is_lost(world, sockets):
    ours, _ = sockets
    ours.send_to("10.0.0.2", 53, "hello")
    world.server.destroy()
    world.kernel.run_for(10)
