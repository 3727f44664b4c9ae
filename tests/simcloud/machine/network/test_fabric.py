"""The network as a whole: machines, addresses, sameness, copies."""

import json
import os

import pytest

from simcloud.machine.network import ConnectTimedOut, NetworkError
from simcloud.sim import TimedOut
from tests.simcloud.machine.network.conftest import World


def test_machines_and_addresses_are_unique_and_must_exist(world):
    with pytest.raises(ValueError, match="already"):
        world.network.add_machine("node-1")
    with pytest.raises(ValueError, match="belongs to 'server'"):
        world.network.namespace("other", "10.0.0.2", "node-1")
    with pytest.raises(ValueError, match="no machine 'node-9'"):
        world.network.namespace("other", "10.0.0.9", "node-9")
    with pytest.raises(ValueError, match="no machine"):
        world.network.link("node-1", "node-9")


def test_a_link_is_the_same_from_both_ends(world):
    assert world.network.link("node-2", "node-1") is world.link
    assert world.network.link("node-1", "node-1") is not world.link


def test_find_knows_who_answers(world):
    assert world.network.find("10.0.0.2") is world.server
    world.server.down()
    assert world.network.find("10.0.0.2") is None
    assert world.network.find("10.9.9.9") is None


def test_a_card_cuts_off_all_namespaces_of_its_machine_but_not_from_each_other(world):
    neighbour = world.network.namespace("neighbour", "10.0.0.3", "node-2")
    for namespace in (world.server, neighbour):
        namespace.listen(80, "http")
    world.network.machines["node-2"].ingress.partitioned = True
    for host in ("10.0.0.2", "10.0.0.3"):
        with pytest.raises(ConnectTimedOut):
            world.run(world.client.dial(host, 80, "http", timeout_s=5))
    world.run(world.server.dial("10.0.0.3", 80, "http"))


def busy_world(seed):
    """A world in the middle of trouble: loss, jitter, a gap under repair, datagrams, a dial under way."""
    world = World(seed)
    ours, theirs, _ = world.connect()
    log = []
    theirs.on_message = lambda message: (log.append([world.now, message]), theirs.send(message))
    ours.on_message = lambda message: log.append([world.now, "echo", message])
    ours.on_close = lambda error: log.append([world.now, str(error)])
    world.link.loss, world.link.jitter_s, world.link.corruption = 0.3, 0.02, 0.05

    def tick(number):
        if number < 400 and not ours.closed:
            ours.send(number, size_bytes=100 + number)
            world.kernel.call_later(0.05, tick, number + 1)

    async def dial_and_ping():
        while True:
            try:
                await world.client.dial("10.0.0.2", 80, "http", timeout_s=2)
                log.append([world.now, "connected", await world.client.ping("10.0.0.2")])
            except (NetworkError, TimedOut) as error:
                log.append([world.now, str(error)])

    tick(0)
    world.start(dial_and_ping())
    return world, log


def finish(world, log):
    world.kernel.run_for(5)
    world.link.partitioned = True
    world.kernel.run_for(3)
    world.link.partitioned = False
    world.kernel.run_for(5)
    world.server.destroy(silent=True)
    world.kernel.run_for(1000)
    return json.dumps([log, [str(info) for info in world.client.sockets()], world.link.dropped])


def test_the_same_seed_gives_the_same_history_and_another_one_another():
    assert finish(*busy_world(1)) == finish(*busy_world(1))
    assert finish(*busy_world(1)) != finish(*busy_world(2))


def test_a_forked_copy_goes_on_exactly_as_the_original():
    world, log = busy_world(3)
    world.kernel.run_for(5)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writable, "w") as pipe:
                pipe.write(finish(world, log))
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as pipe:
        copy = pipe.read()
    os.waitpid(child, 0)
    original = finish(world, log)
    assert copy == original
    assert len(original) > 10_000
