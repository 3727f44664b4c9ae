"""How processes end, and what their peers and files see of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.network import (
    Closed,
    ConnectionReset,
    HostsResolver,
    HostUnreachable,
    Network,
    NetworkError,
)
from simcloud.machine.process import Context, Process, Signal
from simcloud.sim import Event, Kernel, TimedOut

DATA = "/data/journal"
BARE = Image("bare", {})


class Cloud:
    """Two machines: a server on one, a client on the other that notes what it sees."""

    def __init__(self, server_memory: int | None = None) -> None:
        self.kernel = Kernel(1)
        network = Network(self.kernel)
        self.resolver = HostsResolver({"server": "10.1.0.1"})
        self.left = Machine(self.kernel, network, "left", "10.0.0.1", BARE, resolver=self.resolver)
        self.right = Machine(self.kernel, network, "right", "10.0.0.2", BARE, resolver=self.resolver)
        self.server = self.left.create_container(
            "server", BARE, address="10.1.0.1", memory_limit_bytes=server_memory
        )
        self.client = self.right.create_container("client", BARE, address="10.1.0.2")
        self.server.files.mkdir("/data")
        self.seen: list[tuple[float, str]] = []

    def serve(self, handles_term: bool = False, first: bool = False) -> Process:
        if not first:  # a first process that does nothing, so that the server is not number 1
            self.server.start(["pause"], program=pause)
        process = self.server.start(["server"], program=server_program(handles_term))
        self.client.start(["client"], program=self._client)
        self.kernel.run_for(5.0)
        assert self.seen == [(pytest.approx(1.0, abs=0.1), "hello")]
        return process

    async def _client(self, ctx: Context) -> int:
        await ctx.sleep(1.0)
        connection = await ctx.dial("server", 7000, "test")
        connection.send("hi")
        while True:
            try:
                message = await connection.receive(timeout_s=30.0)
            except (NetworkError, Closed) as error:
                self.seen.append((ctx.kernel.now, type(error).__name__))
                return 1
            except TimedOut:
                self.seen.append((ctx.kernel.now, "silence"))
                return 1
            self.seen.append((ctx.kernel.now, message))

    def file(self) -> bytes:
        return self.server.files.read(DATA)


async def pause(ctx: Context) -> int:
    while True:
        await ctx.sleep(1e6)


def server_program(handles_term: bool):
    async def program(ctx: Context) -> int:
        stop: Event[None] = Event(ctx.kernel)
        if handles_term:
            ctx.signals.on(Signal.TERM, lambda _signal: stop.set())
        listener = ctx.listen(7000, "test")
        buffered = b"in memory only\n"
        ctx.files.write(DATA, b"written\n")
        try:
            connection = await listener.accept()
            await connection.receive()
            connection.send("hello")
            await stop.wait()
            connection.send("goodbye")
            return 0
        finally:
            # What a program would do on its way out. The killed do not get to it.
            ctx.files.write(DATA, buffered, append=True)

    return program


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    yield Cloud()


def test_a_handled_sigterm_lets_the_program_say_goodbye_and_flush(cloud: Cloud) -> None:
    process = cloud.serve(handles_term=True)
    process.send(Signal.TERM)
    cloud.kernel.run_for(1.0)
    assert (process.alive, process.status) == (False, 0)
    assert [what for _, what in cloud.seen] == ["hello", "goodbye", "Closed"]
    assert cloud.file() == b"written\nin memory only\n"


def test_an_unhandled_sigterm_ends_the_process_at_once(cloud: Cloud) -> None:
    process = cloud.serve()
    process.send(Signal.TERM)
    cloud.kernel.run_for(1.0)
    assert (process.alive, process.status, process.ended_by) == (False, 143, Signal.TERM)
    assert [what for _, what in cloud.seen] == ["hello", "Closed"]
    assert cloud.file() == b"written\n"


def test_the_first_process_of_a_container_is_immune_to_what_it_does_not_handle(cloud: Cloud) -> None:
    process = cloud.serve(first=True)
    process.send(Signal.TERM)
    process.send(Signal.KILL)  # from inside
    cloud.kernel.run_for(1.0)
    assert process.alive
    process.send(Signal.KILL, outside=True)
    assert not process.alive


def test_sigkill_flushes_nothing_and_the_kernel_closes_the_connections(cloud: Cloud) -> None:
    process = cloud.serve(handles_term=True)
    process.send(Signal.KILL)
    cloud.kernel.run_for(1.0)
    assert process.status == 137
    assert [what for _, what in cloud.seen] == ["hello", "Closed"]
    assert cloud.file() == b"written\n"
    again = cloud.server.start(["again"], program=server_program(False))
    cloud.kernel.run_for(1.0)
    assert again.alive, "the port was not freed"


def test_the_end_of_the_first_process_ends_the_container(cloud: Cloud) -> None:
    process = cloud.serve()
    cloud.server.processes[1].send(Signal.KILL, outside=True)
    assert (process.alive, process.status) == (False, 137)
    assert cloud.server.processes == {}


def test_over_its_memory_limit_the_largest_process_is_killed() -> None:
    cloud = Cloud(server_memory=64 * 1024**2)
    process = cloud.serve()
    cloud.server.start(["small"], program=pause)
    process.memory.use(80 * 1024**2)
    cloud.kernel.run_for(1.0)
    assert (process.status, process.ended_by, cloud.server.oom_kills) == (137, Signal.KILL, 1)
    assert [p.name for p in cloud.server.processes.values()] == ["pause", "small"]
    assert [what for _, what in cloud.seen] == ["hello", "Closed"]
    assert cloud.file() == b"written\n"
    assert "Killed process" in cloud.left.kernel_log.list_all()[-1].text


def test_a_program_that_allocates_too_much_does_not_run_on() -> None:
    cloud = Cloud(server_memory=64 * 1024**2)
    reached = []

    async def greedy(ctx: Context) -> int:
        await ctx.sleep(1.0)
        ctx.memory.grow(1024**3)
        reached.append("after")
        return 0

    process = cloud.server.start(["greedy"], program=greedy)
    cloud.kernel.run_for(2.0)
    assert (process.status, reached) == (137, [])


def test_a_machine_without_memory_kills_its_largest_process(cloud: Cloud) -> None:
    process = cloud.serve()
    process.memory.use(cloud.left.memory_bytes)
    assert (process.alive, process.status) == (False, 137)
    assert cloud.left.memory_mismatch() is None
    assert "Out of memory" in cloud.left.kernel_log.list_all()[-1].text


def test_a_lost_machine_is_silent(cloud: Cloud) -> None:
    process = cloud.serve(handles_term=True)
    cloud.left.lose()
    cloud.kernel.run_for(60.0)
    assert not process.alive
    assert [what for _, what in cloud.seen] == ["hello", "silence"]


def test_dialling_a_lost_machine_finds_no_route(cloud: Cloud) -> None:
    cloud.serve()
    cloud.left.lose()
    found = []

    async def dial(ctx: Context) -> int:
        try:
            await ctx.dial("server", 7000, "test")
        except HostUnreachable as error:
            found.append(str(error))
        return 0

    cloud.client.start(["dial"], program=dial)
    cloud.kernel.run_for(10.0)
    assert found == ["No route to host"]


def test_power_loss_keeps_what_was_synced_and_forgets_what_was_not(cloud: Cloud) -> None:
    files = cloud.left.host.files
    files.write("/synced", b"one")
    files.sync("/synced")
    cloud.kernel.run_for(60.0)
    files.write("/synced", b"two")
    cloud.left.lose()
    cloud.left.boot()
    assert cloud.left.host.files.read("/synced") == b"one"
    assert cloud.left.host.processes[1].name == "systemd"


def test_a_stopped_process_stands_still_and_goes_on(cloud: Cloud) -> None:
    ticks = []

    async def ticking(ctx: Context) -> int:
        while True:
            await ctx.sleep(1.0)
            ticks.append(ctx.kernel.now)

    cloud.server.start(["pause"], program=pause)
    process = cloud.server.start(["tick"], program=ticking)
    cloud.kernel.run_for(3.5)
    process.send(Signal.STOP)
    cloud.kernel.run_for(10.0)
    assert ticks == [1.0, 2.0, 3.0]
    process.send(Signal.CONT)
    cloud.kernel.run_for(2.0)
    assert ticks == [1.0, 2.0, 3.0, 13.5, 14.5, 15.5]


def test_a_reset_reaches_a_peer_that_has_not_been_read(cloud: Cloud) -> None:
    """Unread data at the end of a process makes its kernel reset the connection, as in life."""
    seen = []

    async def deaf(ctx: Context) -> int:
        listener = ctx.listen(7001, "test")
        await listener.accept()
        await ctx.sleep(1e6)
        return 0

    async def talker(ctx: Context) -> int:
        connection = await ctx.dial("server", 7001, "test")
        connection.send("never read")
        try:
            await connection.receive()
        except ConnectionReset as error:
            seen.append(str(error))
        return 0

    cloud.server.start(["pause"], program=pause)
    process = cloud.server.start(["deaf"], program=deaf)
    cloud.kernel.run_for(1.0)
    cloud.client.start(["talker"], program=talker)
    cloud.kernel.run_for(1.0)
    process.send(Signal.KILL)
    cloud.kernel.run_for(1.0)
    assert seen == ["Connection reset by peer"]
