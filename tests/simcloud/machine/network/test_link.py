"""The physics: what delay, jitter, loss, corruption, bandwidth and partition do to messages."""

import pytest
from hypothesis import given, settings, strategies as st

from tests.simcloud.machine.network.conftest import Recorder, World

ONE_WAY_S = 250e-6
DISTURBANCES = ("delay_s", "jitter_s", "loss", "corruption", "bandwidth_bytes_s", "partitioned")


def one_way(world, size_bytes=256):
    """How long one message takes, on a connection of its own."""
    ours, theirs, listener = world.connect()
    listener.close()
    world.kernel.run_for(1)
    recorder = Recorder(world)
    theirs.on_message = recorder
    sent_at = world.now
    ours.send("x", size_bytes)
    world.kernel.run_for(1000)
    return recorder.times[0] - sent_at


def places(world):
    """Everywhere a message from the client to the server passes."""
    return {
        "interface out": world.client.impairment,
        "card out": world.network.machines["node-1"].impairment,
        "link": world.link,
        "card in": world.network.machines["node-2"].ingress,
        "interface in": world.server.ingress,
    }


@pytest.mark.parametrize("place", ["interface out", "card out", "link", "card in", "interface in"])
def test_every_place_on_the_way_adds_its_delay(world, place):
    places(world)[place].delay_s += 0.1
    assert one_way(world) == pytest.approx(ONE_WAY_S + 0.1)


def test_delays_add_up(world):
    for impairment in places(world).values():
        impairment.delay_s += 0.1
    assert one_way(world) == pytest.approx(ONE_WAY_S + 0.5)


def test_the_way_back_has_its_own_impairments(world):
    world.server.impairment.delay_s = world.client.ingress.delay_s = 0.1
    assert one_way(world) == pytest.approx(ONE_WAY_S)


def test_jitter_comes_on_top_of_the_delay(world):
    ours, theirs, _ = world.connect()
    recorder = Recorder(world)
    theirs.on_message = recorder
    world.link.jitter_s = 0.01
    delays = []
    for _ in range(200):
        sent_at = world.now
        ours.send("x")
        world.kernel.run_for(1)
        delays.append(recorder.times[-1] - sent_at)
    assert min(delays) >= ONE_WAY_S - 1e-12
    assert max(delays) <= ONE_WAY_S + 0.01
    assert max(delays) - min(delays) > 0.008


def test_healthy_links_draw_nothing(world):
    before = world.kernel.random("network/client/server").getstate()
    one_way(world)
    assert world.kernel.random("network/client/server").getstate() == before


def test_bandwidth_makes_messages_queue(world, recorder):
    ours, theirs, _ = world.connect()
    theirs.on_message = recorder
    world.link.bandwidth_bytes_s = 1000
    start = world.now
    for _ in range(3):
        ours.send("x", size_bytes=500)
    world.kernel.run_for(10)
    assert [time - start for time in recorder.times] == pytest.approx(
        [0.5 + ONE_WAY_S, 1.0 + ONE_WAY_S, 1.5 + ONE_WAY_S]
    )


def test_bandwidth_is_shared_by_all_connections_of_a_link_but_not_by_its_directions(world, recorder):
    ours, theirs, _ = world.connect()
    others, their_others, _ = world.connect(port=81)
    for end in (theirs, their_others, ours):
        end.on_message = recorder
    world.link.bandwidth_bytes_s = 1000
    start = world.now
    ours.send("first", size_bytes=1000)
    others.send("behind it", size_bytes=1000)
    theirs.send("the other way", size_bytes=900)
    world.kernel.run_for(10)
    assert recorder.calls == ["the other way", "first", "behind it"]
    assert [time - start for time in recorder.times] == pytest.approx([0.9, 1.0, 2.0], abs=0.001)


@pytest.mark.parametrize(("field", "counter"), [("loss", "dropped"), ("corruption", "corrupted")])
def test_lost_packets_are_repeated_and_counted(world, field, counter):
    ours, theirs, _ = world.connect()
    setattr(world.link, field, 0.2)
    received = []
    theirs.on_message = received.append
    delays = set()
    for number in range(100):
        before = world.now
        ours.send(number)
        while len(received) == number:
            world.kernel.run_for(0.1)
        delays.add(round(world.now - before, 1))
    assert received == list(range(100))
    assert getattr(world.link, counter) == ours.retransmits == world.link.retransmits > 10
    assert {0.1, 0.3} <= delays  # at once, or after the first repeat


def test_counters_of_a_link(world):
    ours, _, _ = world.connect()
    packets, size_bytes = world.link.packets, world.link.bytes
    assert packets == 3  # the handshake
    ours.send("x", size_bytes=1000)
    assert (world.link.packets, world.link.bytes) == (packets + 1, size_bytes + 1000)
    world.server.destroy()
    assert world.link.bytes > size_bytes + 1000  # its end was told; nothing counted is forgotten


@pytest.mark.parametrize(
    ("field", "value"),
    [("loss", 1.1), ("loss", -0.1), ("corruption", 2), ("delay_s", -1), ("jitter_s", float("nan")),
     ("bandwidth_bytes_s", 0), ("delay_s", None)],
)  # fmt: skip
def test_impossible_physics_is_refused(world, field, value):
    with pytest.raises(ValueError, match=field):
        setattr(world.link, field, value)


# -- what holds whatever is done to the link ------------------------------------------------------

changes = st.one_of(
    st.tuples(st.just("delay_s"), st.sampled_from([0.0, 250e-6, 0.05, 2.0])),
    st.tuples(st.just("jitter_s"), st.sampled_from([0.0, 0.01, 1.0])),
    st.tuples(st.just("loss"), st.sampled_from([0.0, 0.3, 1.0])),
    st.tuples(st.just("corruption"), st.sampled_from([0.0, 0.3])),
    st.tuples(st.just("bandwidth_bytes_s"), st.sampled_from([None, 500.0, 1e6])),
    st.tuples(st.just("partitioned"), st.booleans()),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(1, 2000)),
        st.tuples(st.just("wait"), st.sampled_from([1e-4, 0.01, 0.2, 1.0, 30.0])),
        st.tuples(st.just("change"), st.tuples(st.integers(0, 4), changes)),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(steps=steps, seed=st.integers(0, 3))
def test_messages_arrive_in_order_never_early_and_never_across_a_partition(steps, seed):
    world = World(seed)
    ours, theirs, _ = world.connect()
    arrived, sent_at, least = [], [], []
    everywhere = list(places(world).values())

    def on_message(number):
        assert not any(place.partitioned for place in everywhere), "crossed a partition"
        assert world.now - sent_at[number] >= least[number] - 1e-9, "came before the link's delay"
        arrived.append(number)

    theirs.on_message = on_message
    for kind, value in steps:
        if kind == "send":
            sent_at.append(world.now)
            least.append(sum(place.delay_s for place in everywhere))
            ours.send(len(sent_at) - 1, size_bytes=value)
        elif kind == "wait":
            world.kernel.run_for(value)
        else:
            number, (field, setting) = value
            setattr(everywhere[number], field, setting)
        assert arrived == list(range(len(arrived))), "out of order"
    for place in everywhere:
        place.partitioned, place.loss, place.corruption = False, 0.0, 0.0
    world.kernel.run_for(1000)
    assert arrived == list(range(len(sent_at))), "something was lost although the link healed in time"
