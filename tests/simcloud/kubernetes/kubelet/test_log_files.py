"""Where logs lie on a node, and what becomes of long ones."""

from __future__ import annotations

import gzip

from simcloud.kubernetes.api.runtime import LogOptions
from simcloud.kubernetes.kubelet.logs.files import FollowedLog, log_labels
from simcloud.machine.emit import MemoryEmitter
from tests.simcloud.kubernetes.kubelet.world import NODE, World

SLEEP = "sleep 100000"


def log_of(world: World, name: str) -> FollowedLog:
    record = world.kubelet.node.runtime.pods[world.pod(name)["metadata"]["uid"]].containers[0]
    assert record.container is not None
    assert isinstance(record.container.log, FollowedLog)
    return record.container.log


def started(world: World, script: str = SLEEP) -> FollowedLog:
    world.run("app", "sh", "-c", script)
    world.run_until_ready(["app"])
    return log_of(world, "app")


def test_a_log_is_named_after_its_pod_and_linked_to(world: World) -> None:
    started(world, f"echo hello; {SLEEP}")
    pod = world.pod("app")
    path = f"/var/log/pods/lab_app_{pod['metadata']['uid']}/app/0.log"
    container_id = world.status("app")["containerID"].removeprefix("containerd://")
    link = f"/var/log/containers/app_lab_app-{container_id}.log"
    files = world.machine.host.files
    assert files.readlink(link) == path
    assert files.read(link).endswith(b" stdout F hello\n")


def test_every_run_has_its_own_file_and_a_removed_pod_none(world: World) -> None:
    world.run("app", "sh", "-c", "echo run; sleep 8; exit 1")
    world.kernel.run_for(14)
    files = world.machine.host.files
    folder = f"/var/log/pods/lab_app_{world.pod('app')['metadata']['uid']}"
    assert files.listdir(f"{folder}/app") == ["0.log", "1.log"]
    world.client.delete(world.pod("app"))
    world.kernel.run_for(60)
    assert files.listdir("/var/log/pods") == []
    assert files.listdir("/var/log/containers") == []


def fill(log: FollowedLog, mark: str) -> None:
    for number in range(700):
        log.line(f"{mark} {number} " + "x" * 15_600)


def test_long_logs_are_put_aside_packed_and_dropped(world: World) -> None:
    log = started(world)
    folder = log.path.removesuffix("/0.log")
    files = world.machine.host.files
    for mark in "abcdef":
        fill(log, mark)
        world.kernel.run_for(10)
    names = files.listdir(folder)
    assert [name.endswith(".gz") for name in names] == [False, True, True, True, False]
    assert names[0] == "0.log"
    assert names[1].startswith("0.log.20260105-09")
    firsts = [gzip.decompress(files.read(f"{folder}/{name}")).split()[3] for name in names[1:4]]
    assert firsts == [b"c", b"d", b"e"]
    assert files.read(f"{folder}/{names[4]}").split()[3] == b"f"


def test_only_the_present_file_is_shown_and_a_follower_misses_nothing(world: World) -> None:
    log = started(world)
    stream = world.fleet.logs(world.pod("app"), LogOptions(container="app", follow=True))
    got: list[bytes] = []
    stream.on_data = got.append
    world.kernel.run_for(0.1)
    fill(log, "before")
    world.kernel.run_for(10)
    log.line("after")
    assert world.logs("app") == "after\n"
    assert world.logs("app", timestamps=True, since_s=3600).endswith("Z after\n")
    assert len(got) == 701
    assert got[-1] == b"after\n"


def test_a_kubelet_that_is_not_there_rotates_nothing(world: World) -> None:
    log = started(world)
    world.kubelet.stop()
    fill(log, "x")
    world.kernel.run_for(30)
    assert log.size_bytes > 10 * 1024 * 1024
    assert log.used_bytes == log.size_bytes


def test_a_long_line_is_written_in_pieces_and_read_as_one(world: World) -> None:
    log = started(world)
    text = "".join(str(number) for number in range(10_000))
    log.line(text, "stderr")
    lines = world.machine.host.files.read(log.path).splitlines()
    assert [line.split(b" ")[2] for line in lines] == [b"P", b"P", b"F"]
    assert world.logs("app") == text + "\n"


def test_what_somebody_else_wrote_into_the_file_is_passed_over(world: World) -> None:
    log = started(world)
    log.line("mine")
    never = b"2026-99-99T99:99:99.000000000Z stdout F never\n"
    world.machine.host.files.append(log.path, b"garbage\n\xff\xfe \n2026 stdout F\n" + never)
    assert world.logs("app") == "mine\nnever\n"
    assert world.logs("app", since_s=60, timestamps=True).endswith(" mine\n")


def test_a_removed_file_is_begun_anew_when_the_kubelet_looks(world: World) -> None:
    log = started(world)
    log.line("lost")
    world.machine.host.files.remove(log.path)
    log.line("written to a file without a name")
    assert world.logs("app") == ""
    world.kernel.run_for(10)
    log.line("found")
    assert world.logs("app") == "found\n"


def test_what_a_collector_knows_of_a_line() -> None:
    emitter = MemoryEmitter()
    world = World(emitter=emitter)
    path = started(world, f"echo hello; {SLEEP}").path
    line = next(line for line in emitter.logs if line.text == "hello")
    assert dict(line.origin) == {
        "app": "app",
        "container": "app",
        "filename": path,
        "job": "lab/app",
        "namespace": "lab",
        "node_name": NODE,
        "pod": "app",
    }


def test_an_app_is_named_by_its_labels_or_by_who_made_the_pod() -> None:
    metadata = {
        "name": "web-5d9c7b8f6-x2x4z",
        "namespace": "shop",
        "ownerReferences": [{"name": "web-5d9c7b8f64", "controller": True}],
    }
    assert dict(log_labels({"metadata": metadata}, "c", "n", "p"))["app"] == "web"
    metadata["labels"] = {"app": "front", "app.kubernetes.io/component": "cart"}
    labels = dict(log_labels({"metadata": metadata}, "c", "n", "p"))
    assert (labels["app"], labels["job"], labels["component"]) == ("front", "shop/front", "cart")
    metadata["labels"]["app.kubernetes.io/name"] = "better"
    assert dict(log_labels({"metadata": metadata}, "c", "n", "p"))["app"] == "better"
