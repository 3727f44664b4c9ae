"""What survives what, and how mongod ends when its disk fails."""

from __future__ import annotations

from typing import Any

from simcloud.datastores.mongodb.driver import MongoClient
from simcloud.machine.files import Files
from simcloud.machine.process import Signal
from tests.simcloud.datastores.mongodb.world import MongoWorld


def insert(*ids: int, journaled: bool = False) -> Any:
    body: dict[str, Any] = {"insert": "kept", "documents": [{"_id": id} for id in ids]}
    if journaled:
        body["writeConcern"] = {"w": 1, "j": True}
    return lambda client: client.run("test", body)


def ids(world: MongoWorld) -> list[int]:
    found = world.run(lambda client: client.collection("test", "kept").find().all())
    return [each["_id"] for each in found]


def test_a_clean_stop_keeps_everything_and_says_goodbye() -> None:
    world = MongoWorld()
    world.run(insert(1, 2))
    world.process.send(Signal.TERM)
    world.kernel.run_for(1)
    assert world.process.status == 0
    assert [each["msg"] for each in world.logged(23377)] == ["Received signal"]
    assert world.logged(23138)[-1]["attr"] == {"exitCode": 0}
    world.start()
    assert ids(world) == [1, 2]


def test_a_kill_takes_at_most_what_was_not_in_the_journal() -> None:
    world = MongoWorld()
    world.run(insert(1))
    world.kernel.run_for(0.2)
    world.run(insert(2, journaled=True))
    world.run(insert(3))
    world.process.send(Signal.KILL, outside=True)
    world.start()
    assert ids(world) == [1, 2]
    assert world.logged(22271)[0]["msg"] == "Detected unclean shutdown - Lock file is not empty"


def test_a_power_loss_keeps_what_was_journaled() -> None:
    world = MongoWorld()
    world.run(insert(1, 2, journaled=True))
    world.run(insert(3))
    world.machine.lose()
    world.kernel.run_for(1)
    world.machine.boot()
    world.start()
    assert ids(world) == [1, 2]


def test_data_indexes_and_drops_survive_checkpoints() -> None:
    world = MongoWorld()

    async def work(client: MongoClient) -> None:
        await client.collection("test", "kept").ensure_index("a", unique=True)
        await client.collection("test", "kept").insert({"_id": 1, "a": 1}, {"_id": 2, "a": 2})
        await client.collection("test", "gone").insert({"_id": 1})

    world.run(work)
    world.kernel.run_for(120)
    world.run(lambda client: client.run("test", {"drop": "gone"}))
    world.run(lambda client: client.collection("test", "kept").remove({"_id": 2}))
    world.kernel.run_for(1)
    world.process.send(Signal.KILL, outside=True)
    world.start()
    assert ids(world) == [1]
    duplicate = world.run(lambda client: client.collection("test", "kept").insert({"_id": 9, "a": 1}))
    assert duplicate.code == 11000
    listed = world.command("test", {"listCollections": 1, "nameOnly": True})
    assert [each["name"] for each in listed["cursor"]["firstBatch"]] == ["kept"]


def test_a_checkpoint_after_a_replayed_journal_has_the_file_and_the_journal() -> None:
    world = MongoWorld()
    world.run(insert(1, 2, 3))
    world.kernel.run_for(120)
    world.run(lambda client: client.collection("test", "kept").remove({"_id": 2}))
    world.run(insert(4))
    world.kernel.run_for(1)
    for more in (5, 6):
        world.process.send(Signal.KILL, outside=True)
        world.start()
        world.run(insert(more))
        world.kernel.run_for(120)
    world.process.send(Signal.KILL, outside=True)
    world.start()
    assert ids(world) == [1, 3, 4, 5, 6]


def test_the_folder_looks_like_wiredtigers() -> None:
    world = MongoWorld()
    world.run(insert(1))
    names = world.machine.containers["store"].files.listdir("/data/db")
    assert {"WiredTiger", "WiredTiger.lock", "WiredTiger.turtle", "WiredTiger.wt", "mongod.lock", "journal", "storage.bson", "sizeStorer.wt", "diagnostic.data"} <= set(names)  # fmt: skip
    numbered = [name.split("-")[:2] for name in names if name.endswith(".wt") and "-" in name]
    kinds = [kind for kind, _ in sorted(numbered, key=lambda each: int(each[1]))]
    assert kinds == [
        "collection",
        "index",
        "collection",
        "index",
        "collection",
        "index",
        "index",
        "collection",
        "index",
    ]
    world.run(lambda client: client.collection("test", "kept").ensure_index("a"))
    world.run(lambda client: client.run("test", {"dropIndexes": "kept", "index": "a_1"}))
    assert world.machine.containers["store"].files.listdir("/data/db") == names


def test_a_disk_that_fails_ends_mongod_with_wiredtigers_words() -> None:
    world = MongoWorld()
    world.disk.fail_writes = lambda path: "journal" in path
    world.run(insert(1))
    world.kernel.run_for(1)
    assert world.process.status == 134
    first, *_, last = world.logged(22435)
    assert first["attr"]["error"] == 5
    assert "handle-write: pwrite: failed to write" in first["attr"]["message"]
    assert first["attr"]["message"].endswith("Input/output error")
    assert last["attr"]["message"].endswith("WT_PANIC: WiredTiger library panic")
    assert world.logged(23089)[0]["attr"]["msgid"] == 50853


def test_a_full_disk_ends_mongod() -> None:
    world = MongoWorld()
    world.disk.capacity_bytes = world.disk.used_bytes
    big = {"insert": "kept", "documents": [{"_id": 1, "text": "x" * 100_000}]}
    error = world.command("test", big)
    assert (error.code, error.message) == (8, "28: No space left on device")
    world.run(
        lambda client: client.run(
            "admin", {"insert": "system.version", "documents": [{"text": "x" * 100_000}]}
        )
    )
    world.kernel.run_for(1)
    assert world.process.status == 134
    assert world.logged(22435)[0]["attr"]["error"] == 28


def test_on_a_full_disk_mongod_does_not_start() -> None:
    world = MongoWorld()
    world.process.send(Signal.KILL, outside=True)
    world.kernel.run_for(1)
    world.disk.capacity_bytes = world.disk.used_bytes
    world.start()
    assert world.process.status == 14
    failure_message = world.logged(22435)[-1]["attr"]["message"]
    assert "/data/db/WiredTiger.turtle.set: handle-write: pwrite: failed to write" in failure_message
    assert failure_message.endswith("No space left on device")
    assert world.logged(28595)[-1]["attr"] == {"reason": "28: No space left on device"}
    world.disk.capacity_bytes *= 2
    world.start()
    assert world.command("admin", {"ping": 1})["ok"] == 1.0


def test_a_read_only_disk_keeps_mongod_from_starting() -> None:
    world = MongoWorld()
    world.process.send(Signal.TERM)
    world.kernel.run_for(1)
    world.disk.fail_writes = True
    world.start()
    assert world.process.status == 100
    assert "DBException in initAndListen, terminating" in world.logged(20557)[0]["msg"]


def test_a_damaged_file_keeps_mongod_from_starting() -> None:
    world = MongoWorld()
    world.run(insert(1))
    world.process.send(Signal.TERM)
    world.kernel.run_for(1)
    files = Files(world.volume)
    for name in files.listdir("/"):
        if name.startswith("collection-"):
            files.write(f"/{name}", b"\0" * 8192)
    world.start()
    assert world.process.status == 14
    assert world.logged(22435)[0]["attr"]["error"] == -31802


def test_a_second_mongod_stays_out_of_the_folder() -> None:
    world = MongoWorld()
    container = world.machine.create_container("second", world.image, address="10.1.0.9")
    container.files.mount("/data/db", world.volume)
    assert container.log is not None
    process = container.start(["mongod", "--bind_ip_all"], streams={1: container.log.stream("stdout")})
    world.kernel.run_for(5)
    assert process.status == 100
    text = "\n".join(line.text for line in world.emitter.logs if line.source == "second")
    assert (
        "DBPathInUse: Unable to lock the lock file: /data/db/mongod.lock (Resource temporarily unavailable)"
        in text
    )
    assert world.command("admin", {"ping": 1})["ok"] == 1.0


def test_the_shutdown_command_stops_it_like_a_signal() -> None:
    world = MongoWorld()
    world.run(insert(1))
    world.command("admin", {"shutdown": 1})
    world.kernel.run_for(1)
    assert (world.process.alive, world.process.status) == (False, 0)
    assert world.logged(20565)[0]["ctx"] == "conn2"
