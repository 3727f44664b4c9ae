"""The document store: what it keeps, and what survives what."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver, Network
from simcloud.machine.process import Context, Process, Signal
from simcloud.services.documents import Collection, document_store
from simcloud.services.rpc import FixedAddresses, GrpcChannel, GrpcError
from simcloud.sim import Kernel, gather

BARE = Image("bare", {})


class StoreOnMachine:
    """A store on one machine, asked from another."""

    def __init__(self) -> None:
        self.kernel = Kernel(1)
        self.network = Network(self.kernel)
        self.resolver = HostsResolver({"store": "10.1.0.1"})
        self.machine = self._machine("left", "10.0.0.1")
        self.client = self._machine("right", "10.0.0.2").create_container("client", BARE, address="10.1.0.2")
        self.process = self.start()

    def _machine(self, name: str, address: str) -> Machine:
        return Machine(self.kernel, self.network, name, address, BARE, resolver=self.resolver)

    def start(self) -> Process:
        if "store" in self.machine.containers:
            self.machine.remove_container("store").namespace.destroy()
        container = self.machine.create_container("store", BARE, address="10.1.0.1")
        container.files.mkdir("/data")
        container.files.mount("/data", self.machine.volume("store"))
        env = {"PORT": "6000", "DATA_DIR": "/data"}
        self.process = container.start(["store"], program=document_store, env=env)
        self.kernel.run_for(1.0)
        return self.process

    def ask(self, *calls: tuple[str, Any]) -> list[Any]:
        answers: list[Any] = []

        async def program(ctx: Context) -> int:
            where = FixedAddresses("store:6000")
            channel = GrpcChannel(ctx, None, where, timeout_s=1.0, waits_for_connection=True)

            async def one(method: str, payload: Any) -> Any:
                try:
                    return await channel.call(method, payload)
                except GrpcError as error:
                    return str(error)

            answers.extend(await gather(ctx.kernel, (one(*call) for call in calls), "ask"))
            return 0

        process = self.client.start(["client"], program=program)
        self.kernel.run_task(self.kernel.spawn(process.wait(), "ask"))
        return answers


def put(name: str, **document: Any) -> tuple[str, Any]:
    return "put", ("orders", name, document)


def get(name: str) -> tuple[str, Any]:
    return "get", ("orders", name)


@pytest.fixture
def store() -> StoreOnMachine:
    return StoreOnMachine()


def test_documents_are_kept_and_found(store: StoreOnMachine) -> None:
    store.ask(put("1", user="ann"), put("2", user="bob"), put("3", user="ann"))
    assert store.ask(get("2"), get("9")) == [{"user": "bob"}, None]
    assert store.ask(("find", ("orders", "user", "ann"))) == [[{"user": "ann"}, {"user": "ann"}]]
    store.ask(("put", ("orders", "1", None)))
    assert store.ask(("find", ("orders", "user", "ann"))) == [[{"user": "ann"}]]


@pytest.mark.parametrize("ending", ["kill", "term", "power"])
def test_acknowledged_writes_survive(store: StoreOnMachine, ending: str) -> None:
    store.ask(put("1", user="ann"))
    if ending == "power":
        store.machine.lose()
        store.machine.boot()
    else:
        store.process.send(Signal.KILL if ending == "kill" else Signal.TERM, outside=True)
    store.start()
    assert store.ask(get("1")) == [{"user": "ann"}]


def test_a_failing_disk_refuses_writes_and_changes_nothing(store: StoreOnMachine) -> None:
    store.ask(put("1", user="ann"))
    store.machine.disk.fail_writes = True
    assert store.ask(put("1", user="eve")) == [
        "rpc error: code = Internal desc = journal write failed: Read-only file system"
    ]
    assert store.ask(get("1")) == [{"user": "ann"}]
    store.machine.disk.fail_writes = False
    store.ask(put("1", user="eve"))
    store.start()
    assert store.ask(get("1")) == [{"user": "eve"}]


def test_a_full_disk_refuses_writes(store: StoreOnMachine) -> None:
    store.machine.disk.capacity_bytes = store.machine.disk.used_bytes
    answer = store.ask(put("1", text="x" * 9000))[0]
    assert answer == "rpc error: code = Internal desc = journal write failed: No space left on device"


def test_many_changes_of_one_document_do_not_fill_the_disk(store: StoreOnMachine) -> None:
    before = store.machine.disk.used_bytes
    for _ in range(8):
        store.ask(*(put("1", text="x" * 100_000) for _ in range(10)))
    assert store.machine.disk.used_bytes - before < 6 * 1024 * 1024
    store.start()
    assert store.ask(get("1")) == [{"text": "x" * 100_000}]


def test_an_index_and_a_scan_find_the_same() -> None:
    indexed, plain = Collection(("user",)), Collection()
    for collection in (indexed, plain):
        collection.put("1", {"user": "ann"})
        collection.put("2", {"user": "bob"})
        collection.put("1", {"user": "bob"})
        collection.put("2", None)
    assert indexed.find("user", "bob") == plain.find("user", "bob") == [{"user": "bob"}]
    assert indexed.find("user", "ann") == plain.find("user", "ann") == []
