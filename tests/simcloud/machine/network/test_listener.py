import pytest

from simcloud.machine.network import Closed, ConnectionRefused, ConnectionReset
from simcloud.sim import TimedOut


def test_accept_waits_and_gives_connections_in_order(world):
    listener = world.server.listen(80, "http")

    async def accept_two():
        return [(await listener.accept()).remote for _ in range(2)]

    accepting = world.start(accept_two())
    ours = [world.run(world.client.dial("10.0.0.2", 80, "http")) for _ in range(2)]
    assert world.kernel.run_task(accepting) == [connection.local for connection in ours]


def test_accept_gives_up_after_its_time_out(world):
    listener = world.server.listen(80, "http")
    with pytest.raises(TimedOut):
        world.run(listener.accept(timeout_s=1))
    assert world.now == 1


def test_close_frees_the_port_wakes_acceptors_and_resets_who_waits(world):
    listener = world.server.listen(80, "http")
    waiting = world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(1)
    listener.close()
    listener.close()
    with pytest.raises(ConnectionReset):
        world.run(waiting.receive())
    with pytest.raises(Closed):
        world.run(listener.accept())
    with pytest.raises(ConnectionRefused):
        world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.server.listen(80, "http")


def test_an_acceptor_who_waits_sees_the_close(world):
    listener = world.server.listen(80, "http")

    async def accept():
        await listener.accept()

    accepting = world.start(accept())
    world.kernel.run_for(1)
    listener.close()
    with pytest.raises(Closed):
        world.kernel.run_task(accepting)


def test_accepted_connections_outlive_the_listener(world):
    ours, theirs, listener = world.connect()
    listener.close()
    ours.send("still here")
    assert world.run(theirs.receive()) == "still here"


def test_closing_during_a_handshake_resets_the_client(world):
    listener = world.server.listen(80, "http")
    ours = world.run(world.client.dial("10.0.0.2", 80, "http"))
    listener.close()  # the client is established, its last packet is still under way
    with pytest.raises(ConnectionReset):
        world.run(ours.receive())
    assert world.server.sockets() == []


def test_a_callback_set_late_gets_those_who_wait(world, recorder):
    listener = world.server.listen(80, "http")
    world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.kernel.run_for(1)
    listener.on_accept = recorder
    assert len(recorder.calls) == 1
    assert listener.waiting == 0
