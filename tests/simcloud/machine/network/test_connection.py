"""Messages on an established connection, its end, and what each side sees of it."""

import pytest

from simcloud.machine.network import (
    BrokenPipe,
    Closed,
    ConnectionReset,
    NetworkError,
    NoBufferSpace,
    ProtocolMismatch,
)
from simcloud.sim import TimedOut

ONE_WAY_S = 250e-6


def test_a_message_arrives_after_the_links_delay(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    sent_at = world.now
    ours.send({"get": "/"}, size_bytes=300)
    world.kernel.run_for(1)
    assert recorder.calls == [{"get": "/"}]
    assert recorder.times == [pytest.approx(sent_at + ONE_WAY_S)]
    assert (ours.bytes_sent, theirs.bytes_received, theirs.unread_bytes) == (300, 300, 0)


def test_receive_waits_for_messages_in_order(world):
    ours, theirs, _ = world.connect()

    async def read_three():
        return [await theirs.receive() for _ in range(3)]

    reading = world.start(read_three())
    for message in "abc":
        ours.send(message)
    assert world.kernel.run_task(reading) == ["a", "b", "c"]


def test_receive_gives_up_after_its_time_out_and_loses_nothing(world):
    ours, theirs, _ = world.connect()
    with pytest.raises(TimedOut):
        world.run(theirs.receive(timeout_s=2))
    ours.send("late")
    world.kernel.run_for(1)
    assert world.run(theirs.receive(timeout_s=2)) == "late"


def test_a_dropped_reader_takes_no_message_with_it(world):
    ours, theirs, _ = world.connect()

    async def read():
        return await theirs.receive()

    doomed, patient = world.start(read()), world.start(read())
    world.kernel.run_for(0.1)
    doomed.drop()
    ours.send("hello")
    assert world.kernel.run_task(patient) == "hello"


def test_messages_that_came_before_the_callback_go_to_the_callback(world, recorder):
    ours, theirs, _ = world.connect()
    ours.send("early")
    world.kernel.run_for(1)
    assert theirs.unread_bytes == 256
    theirs.on_message = recorder
    ours.send("late")
    world.kernel.run_for(1)
    assert recorder.calls == ["early", "late"]
    assert theirs.unread_bytes == 0


def test_both_directions_are_independent(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = lambda message: theirs.send(message.upper())
    ours.on_message = recorder
    ours.send("a")
    ours.send("b")
    world.kernel.run_for(1)
    assert recorder.calls == ["A", "B"]


# -- the orderly end ----------------------------------------------------------------------------


def test_close_lets_the_peer_read_all_and_then_see_the_end(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_close = recorder
    ours.send("last words")
    ours.close()
    assert ours.closed
    assert not theirs.closed
    world.kernel.run_for(1)
    assert theirs.closed
    assert [type(error) for error in recorder.calls] == [Closed]
    assert world.run(theirs.receive()) == "last words"
    for _ in range(2):
        with pytest.raises(Closed):
            world.run(theirs.receive())


def test_a_reader_who_waits_sees_the_end(world):
    ours, theirs, _ = world.connect()
    reading = world.start(_receive(theirs))
    world.kernel.run_for(1)
    ours.close()
    with pytest.raises(Closed):
        world.kernel.run_task(reading)


def test_states_of_an_orderly_end(world):
    ours, theirs, listener = world.connect()
    listener.close()

    def states():
        return [[each.state for each in namespace.sockets()] for namespace in (world.client, world.server)]

    assert states() == [["ESTAB"], ["ESTAB"]]
    ours.close()
    world.kernel.run_for(1)
    assert states() == [["FIN-WAIT-2"], ["CLOSE-WAIT"]]
    theirs.close()
    world.kernel.run_for(1)
    assert states() == [["TIME-WAIT"], []]
    world.kernel.run_for(58)
    assert states() == [["TIME-WAIT"], []]
    world.kernel.run_for(2)
    assert states() == [[], []]


def test_a_server_that_never_closes_its_end_stays_in_close_wait(world):
    ours, _, listener = world.connect()
    listener.close()
    ours.close()
    world.kernel.run_for(3600)
    assert [each.state for each in world.server.sockets()] == ["CLOSE-WAIT"]
    assert world.client.sockets() == []


def test_closing_at_the_same_time(world):
    ours, theirs, _ = world.connect()
    ours.close()
    theirs.close()
    world.kernel.run_for(1)
    assert [each.state for each in world.client.sockets()] == ["TIME-WAIT"]


def test_nothing_can_be_sent_or_read_after_ones_own_close(world):
    ours, _, _ = world.connect()
    ours.close()
    ours.close()
    with pytest.raises(Closed):
        ours.send("too late")
    with pytest.raises(Closed):
        world.run(ours.receive())


def test_the_first_send_to_a_closed_peer_is_lost_and_the_next_breaks(world):
    ours, theirs, _ = world.connect()
    theirs.close()
    world.kernel.run_for(1)
    ours.send("into the void")
    world.kernel.run_for(1)
    with pytest.raises(BrokenPipe) as caught:
        ours.send("again")
    assert isinstance(caught.value, ConnectionReset)
    with pytest.raises(Closed):
        world.run(ours.receive())


def test_a_message_that_crosses_the_end_is_answered_with_a_reset(world, recorder):
    ours, theirs, _ = world.connect()
    ours.on_close = recorder
    theirs.close()
    ours.send("crossing")
    world.kernel.run_for(1)
    assert [type(error) for error in recorder.calls] == [Closed]
    with pytest.raises(BrokenPipe):
        ours.send("again")


# -- resets -------------------------------------------------------------------------------------


def test_reset_is_seen_after_what_was_under_way(world):
    ours, theirs, _ = world.connect()
    ours.send("last words")
    ours.reset()
    world.kernel.run_for(1)
    assert world.run(theirs.receive()) == "last words"
    with pytest.raises(ConnectionReset):
        world.run(theirs.receive())
    with pytest.raises(BrokenPipe):
        theirs.send("answer")


def test_a_reset_is_first_reported_as_such_to_a_sender(world):
    ours, theirs, _ = world.connect()
    ours.reset()
    world.kernel.run_for(1)
    with pytest.raises(ConnectionReset) as caught:
        theirs.send("one")
    assert str(caught.value) == "Connection reset by peer"
    with pytest.raises(BrokenPipe) as caught:
        theirs.send("two")
    assert str(caught.value) == "Broken pipe"


def test_closing_with_unread_messages_resets_the_peer(world, recorder):
    ours, theirs, _ = world.connect()
    ours.on_close = recorder
    ours.send("never read")
    world.kernel.run_for(1)
    theirs.close()
    world.kernel.run_for(1)
    assert [type(error) for error in recorder.calls] == [ConnectionReset]
    assert world.client.sockets() == []


def test_on_close_set_after_the_end_is_called_at_once(world, recorder):
    ours, theirs, _ = world.connect()
    ours.close()
    world.kernel.run_for(1)
    theirs.on_close = recorder
    assert [type(error) for error in recorder.calls] == [Closed]


def test_ones_own_close_calls_nobody(world, recorder):
    ours, _, _ = world.connect()
    ours.on_close = recorder
    ours.close()
    world.kernel.run_for(1)
    assert recorder.calls == []


def test_a_reset_lost_on_the_way_comes_again_as_the_data_is_repeated(world, recorder):
    ours, theirs, _ = world.connect()
    ours.on_close = recorder
    world.server.impairment.partitioned = True  # neither the end nor the resets get out
    theirs.reset()
    ours.send("hello")
    world.kernel.run_for(1)
    assert recorder.calls == []
    world.server.impairment.partitioned = False
    world.kernel.run_for(2)
    assert [type(error) for error in recorder.calls] == [ConnectionReset]


# -- protocols ----------------------------------------------------------------------------------


def dial(world, spoken, expected):
    listener = world.server.listen(443, expected)

    async def both():
        ours = await world.client.dial("10.0.0.2", 443, spoken)
        return ours, await listener.accept(), listener

    return world.run(both())


def test_a_mismatch_shows_with_the_first_message(world, recorder):
    ours, theirs, listener = dial(world, "http", "grpc")
    listener.on_mismatch = recorder
    world.kernel.run_for(10)
    assert not ours.closed
    sent_at = world.now
    ours.send("GET /")
    with pytest.raises(ProtocolMismatch) as caught:
        world.run(ours.receive())
    assert (caught.value.spoken, caught.value.expected) == ("http", "grpc")
    assert world.now - sent_at == pytest.approx(2 * ONE_WAY_S)
    assert recorder.calls == ["http"]
    with pytest.raises(ProtocolMismatch):
        world.run(theirs.receive())
    assert theirs.bytes_received == 0
    for end in (ours, theirs):
        end.close()


def test_a_mismatch_reaches_the_callbacks_of_both_sides(world, recorder):
    ours, theirs, _ = dial(world, "http", "grpc")
    ours.on_close = theirs.on_close = recorder
    messages = []
    theirs.on_message = messages.append
    ours.send("GET /")
    ours.send("GET /again")
    world.kernel.run_for(1)
    assert [str(error) for error in recorder.calls] == ["http was spoken where grpc is expected"] * 2
    assert messages == []


def test_a_mismatch_gets_through_a_lossy_link(world, recorder):
    ours, theirs, _ = dial(world, "http", "grpc")
    ours.on_close = recorder
    theirs.on_close = lambda _: theirs.close()
    world.server.impairment.loss = 0.9
    ours.send("GET /")
    world.kernel.run_for(900)
    assert [type(error) for error in recorder.calls] == [ProtocolMismatch]


def test_a_server_that_speaks_first_is_not_understood_either(world):
    ours, theirs, _ = dial(world, "http", "mysql")
    theirs.send("greeting")
    with pytest.raises(ProtocolMismatch):
        world.run(ours.receive())
    with pytest.raises(ConnectionReset):
        world.run(theirs.receive())


def test_a_raw_client_may_listen_to_anybody(world):
    ours, theirs, _ = dial(world, "raw", "mysql")
    theirs.send("greeting")
    assert world.run(ours.receive()) == "greeting"


def test_a_raw_server_takes_anything(world):
    ours, theirs, _ = dial(world, "http", "tcp")
    ours.send("GET /")
    assert world.run(theirs.receive()) == "GET /"


def test_raw_bytes_make_no_sense_to_a_typed_server(world):
    ours, _, _ = dial(world, "raw", "http")
    world.kernel.run_for(10)
    assert not ours.closed
    ours.send(b"hello")
    with pytest.raises(ProtocolMismatch):
        world.run(ours.receive())


def test_a_raw_client_may_settle_on_a_protocol_before_it_speaks(world):
    ours, theirs, _ = dial(world, "raw", "http")
    ours.protocol = "http"
    ours.send("GET /")
    assert world.run(theirs.receive()) == "GET /"


# -- flow control -------------------------------------------------------------------------------


def test_drain_waits_until_the_peer_reads(world):
    ours, theirs, _ = world.connect()
    sent = []

    async def stream():
        for number in range(20):
            await ours.drain()
            ours.send(number, size_bytes=1 << 20)
            sent.append(number)

    world.start(stream())
    world.kernel.run_for(10)
    assert len(sent) == 5

    async def read(count):
        return [await theirs.receive() for _ in range(count)]

    assert world.run(read(3)) == [0, 1, 2]
    world.kernel.run_for(10)
    assert len(sent) == 8
    assert world.run(read(17)) == list(range(3, 20))


def test_drain_does_not_wait_for_a_peer_with_a_callback_or_one_that_is_gone(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder

    async def stream(count):
        for number in range(count):
            await ours.drain()
            ours.send(number, size_bytes=1 << 20)

    world.run(stream(20))
    theirs.on_message = None
    waiting = world.start(stream(20))
    world.kernel.run_for(10)
    theirs.close()
    with pytest.raises(NetworkError):
        world.kernel.run_task(waiting)


def test_sending_without_end_to_a_peer_that_does_not_read_is_stopped(world):
    ours, theirs, _ = world.connect()
    with pytest.raises(NoBufferSpace):
        for _ in range(100):
            ours.send("block", size_bytes=1 << 20)
    assert ours.bytes_sent == 65 << 20
    world.kernel.run_for(1)
    theirs.on_message = lambda _: None
    ours.send("goes again")


async def _receive(connection):
    return await connection.receive()
