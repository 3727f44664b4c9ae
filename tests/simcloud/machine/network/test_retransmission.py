"""What is repeated, for how long, and what the peers of the lost and the restarted see."""

import pytest

from simcloud.machine.network import (
    BrokenPipe,
    Closed,
    ConnectionReset,
    ConnectionTimedOut,
    ConnectTimedOut,
)


def test_a_message_waits_for_a_partition_to_heal(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    start = world.now
    world.link.partitioned = True
    ours.send("one")
    world.kernel.run_for(1)
    ours.send("two")
    assert ours.unacknowledged_bytes == 512
    world.link.partitioned = False
    ours.send("three")
    world.kernel.run_for(0.3)
    assert recorder.calls == []
    world.kernel.run_for(10)
    assert recorder.calls == ["one", "two", "three"]
    # the repeats come 0.2, 0.6 and 1.4 s after the first try
    assert [time - start for time in recorder.times] == pytest.approx([1.4] * 3, abs=0.001)
    assert ours.retransmits == 3
    assert ours.unacknowledged_bytes == 0


def test_what_is_on_the_wire_when_a_partition_begins_is_repeated_in_order(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    world.link.delay_s = 0.1
    ours.send("first")
    world.kernel.run_for(0.06)
    ours.send("second")
    world.link.partitioned = True
    world.kernel.run_for(0.05)
    world.link.partitioned = False
    ours.send("third")
    world.kernel.run_for(10)
    assert recorder.calls == ["first", "second", "third"]


def test_the_kernel_gives_up_after_fifteen_repeats(world, recorder):
    ours, theirs, _ = world.connect()
    ours.on_close = recorder
    start = world.now
    world.link.partitioned = True
    ours.send("hello")
    world.kernel.run_for(924)
    assert recorder.calls == []
    world.kernel.run_for(1)
    assert [type(error) for error in recorder.calls] == [ConnectionTimedOut]
    assert str(recorder.calls[0]) == "Connection timed out"
    assert recorder.times[0] - start == pytest.approx(924.6, abs=0.01)
    assert world.client.sockets() == []
    with pytest.raises(BrokenPipe):
        ours.send("again")
    assert theirs.state == "ESTAB"  # nobody could tell it


def test_a_lost_machine_is_silent(world, recorder):
    ours, _, _ = world.connect()
    ours.on_close = recorder
    world.server.destroy(silent=True)
    world.kernel.run_for(5000)
    assert recorder.calls == []
    assert ours.state == "ESTAB"
    ours.send("hello?")
    world.kernel.run_for(925)
    assert [type(error) for error in recorder.calls] == [ConnectionTimedOut]


def test_a_reader_learns_of_the_time_out(world):
    ours, _, _ = world.connect()
    world.server.destroy(silent=True)

    async def ask():
        ours.send("hello?")
        return await ours.receive()

    with pytest.raises(ConnectionTimedOut):
        world.run(ask())


def test_what_a_lost_machine_had_on_the_wire_still_arrives_but_nothing_is_repeated(world):
    ours, theirs, _ = world.connect()
    ours.send("on the wire")
    world.client.destroy(silent=True)
    assert world.run(theirs.receive()) == "on the wire"
    world.kernel.run_for(5000)
    assert theirs.state == "ESTAB"


def test_a_lost_machine_repeats_nothing(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    world.link.partitioned = True
    ours.send("lost")
    world.kernel.run_for(1)
    world.client.destroy(silent=True)
    world.link.partitioned = False
    world.kernel.run_for(1000)
    assert recorder.calls == []


def test_a_machine_that_comes_back_without_memory_answers_with_a_reset(world, recorder):
    ours, _, _ = world.connect()
    ours.on_close = recorder
    world.server.destroy(silent=True)
    world.kernel.run_for(10)
    again = world.network.namespace("server", "10.0.0.2", "node-2")
    again.listen(80, "http")
    world.kernel.run_for(10)
    assert recorder.calls == []
    ours.send("hello?")
    world.kernel.run_for(1)
    assert [type(error) for error in recorder.calls] == [ConnectionReset]


def test_a_client_that_comes_back_without_memory_takes_its_old_connections_place(world):
    _, theirs, listener = world.connect()
    world.client.destroy(silent=True)
    world.kernel.run_for(10)
    again = world.network.namespace("client", "10.0.0.1", "node-1")
    ours = world.run(again.dial("10.0.0.2", 80, "http"))
    assert ours.local == theirs.remote
    with pytest.raises(ConnectionReset):
        world.run(theirs.receive())
    theirs.close()
    ours.send("hello")
    assert world.run(world.run(listener.accept()).receive()) == "hello"
    assert [each.state for each in world.server.sockets()] == ["LISTEN", "ESTAB"]


def test_a_peer_whose_resets_never_get_through_times_out(world, recorder):
    ours, theirs, _ = world.connect()
    ours.on_close = recorder
    world.server.impairment.partitioned = True
    theirs.reset()
    ours.send("hello")
    world.kernel.run_for(1000)
    assert [type(error) for error in recorder.calls] == [ConnectionTimedOut]


def test_keepalive_notices_a_silent_loss(world, recorder):
    ours, _, _ = world.connect()
    ours.on_close = recorder
    ours.keepalive(interval_s=15, probes=9)
    world.kernel.run_for(3600)
    assert recorder.calls == []
    lost_at = world.now
    world.server.destroy(silent=True)
    world.kernel.run_for(3600)
    assert [type(error) for error in recorder.calls] == [ConnectionTimedOut]
    assert recorder.times[0] - lost_at == pytest.approx(15 * 10, abs=15)


@pytest.mark.parametrize(("field", "value"), [("partitioned", True), ("loss", 1.0)])
def test_keepalive_notices_a_link_that_lets_nothing_through(world, recorder, field, value):
    ours, _, _ = world.connect()
    ours.on_close = recorder
    ours.keepalive(interval_s=15, probes=9)
    setattr(world.link, field, value)
    world.kernel.run_for(200)
    assert [type(error) for error in recorder.calls] == [ConnectionTimedOut]


def test_keepalive_forgives_a_short_partition(world, recorder):
    ours, theirs, _ = world.connect()
    ours.on_close = theirs.on_close = recorder
    ours.keepalive(interval_s=15, probes=9)
    for _ in range(3):
        world.link.partitioned = True
        world.kernel.run_for(100)
        world.link.partitioned = False
        world.kernel.run_for(100)
    assert recorder.calls == []


def test_keepalive_meets_a_restarted_machine_or_a_forgotten_connection(world, recorder):
    ours, _, _ = world.connect()
    others, their_others, _ = world.connect(port=81)
    for end in (ours, others):
        end.on_close = recorder
        end.keepalive(interval_s=15)
    world.link.partitioned = True
    their_others.reset()
    world.kernel.run_for(1)
    world.link.partitioned = False
    world.kernel.run_for(20)
    assert [type(error) for error in recorder.calls] == [ConnectionReset]
    world.server.destroy(silent=True)
    world.network.namespace("server", "10.0.0.2", "node-2")
    world.kernel.run_for(20)
    assert [type(error) for error in recorder.calls] == [ConnectionReset] * 2


def test_the_end_itself_is_repeated_until_it_gets_through(world):
    ours, theirs, _ = world.connect()
    world.link.partitioned = True
    ours.send("last words")
    ours.close()
    world.kernel.run_for(60)
    assert not theirs.closed
    world.link.partitioned = False
    world.kernel.run_for(60)
    assert world.run(theirs.receive()) == "last words"
    with pytest.raises(Closed):
        world.run(theirs.receive())


def test_an_end_that_never_gets_through_leaves_the_peer_half_open(world):
    ours, theirs, _ = world.connect()
    world.link.partitioned = True
    ours.close()
    world.kernel.run_for(2000)
    world.link.partitioned = False
    world.kernel.run_for(2000)
    assert theirs.state == "ESTAB"
    theirs.send("anybody there?")
    with pytest.raises(ConnectionReset):
        world.run(theirs.receive())


def test_a_one_way_partition_stalls_only_one_direction(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    world.server.impairment.partitioned = True
    ours.send("gets through")
    world.kernel.run_for(1)
    assert recorder.calls == ["gets through"]
    with pytest.raises(ConnectTimedOut):
        world.run(world.client.dial("10.0.0.2", 80, "http", timeout_s=10))


def test_an_interface_that_is_down_for_a_moment_loses_nothing(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    world.server.down()
    ours.send("hello")
    world.kernel.run_for(10)
    assert recorder.calls == []
    world.server.up()
    world.kernel.run_for(10)
    assert recorder.calls == ["hello"]


def test_a_half_made_connection_of_a_lost_client_is_forgotten(world):
    world.server.listen(80, "http").on_accept = lambda connection: None
    world.run(world.client.dial("10.0.0.2", 80, "http"))
    world.link.partitioned = True  # the last packet of the handshake is on the wire
    world.kernel.run_for(1)
    assert [each.state for each in world.server.sockets()] == ["LISTEN", "SYN-RECV"]
    world.client.destroy(silent=True)
    world.kernel.run_for(10)
    assert [each.state for each in world.server.sockets()] == ["LISTEN"]
