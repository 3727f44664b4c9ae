"""Machines: containers from images, volumes that outlive them, logs on disk, a disk's errors."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.machine.emit import MemoryEmitter
from simcloud.machine.files import FileError
from simcloud.machine.image import Image
from simcloud.machine.network import Network
from simcloud.machine.process import CommandNotFound, Context, NotExecutable
from simcloud.sim import Kernel


async def talk(ctx: Context) -> int:
    await ctx.out("first line\nsecond ")
    await ctx.out("line\nno newline")
    await ctx.err("trouble\n")
    ctx.log("at once")
    return 0


def machine(emitter: MemoryEmitter | None = None) -> Machine:
    kernel = Kernel(1)
    image = Image("test:1", {"talk": talk}, files={"/etc/app.conf": b"a=1\n"}, env={"MODE": "test"})
    return Machine(kernel, Network(kernel), "host-1", "10.0.0.1", image, emitter=emitter)


def test_containers_of_one_image_do_not_see_each_others_changes() -> None:
    host = machine()
    image = Image("app", {}, files={"/etc/app.conf": b"a=1\n"})
    one = host.create_container("one", image, address="10.1.0.1")
    two = host.create_container("two", image, address="10.1.0.2")
    one.files.write("/etc/app.conf", b"a=2\n")
    one.files.remove("/etc/os-release")
    assert two.files.read("/etc/app.conf") == b"a=1\n"
    assert two.files.exists("/etc/os-release")
    with pytest.raises(ValueError, match="has a container 'one' already"):
        host.create_container("one", image, address="10.1.0.3")


def test_removing_a_container_gives_its_space_back_and_keeps_the_volumes() -> None:
    host = machine()
    before = host.disk.used_bytes
    container = host.create_container("app", Image("app", {}), address="10.1.0.1")
    container.files.mkdir("/data")
    container.files.mount("/data", host.volume("data"))
    container.files.write("/data/kept", b"x" * 10_000)
    container.files.write("/scratch", b"x" * 100_000)
    host.remove_container("app")
    assert host.host.files.read("/var/lib/volumes/data/kept") == b"x" * 10_000
    assert host.disk.used_bytes - before < 50_000


def test_a_containers_output_is_a_file_of_its_machine_and_reaches_the_emitter() -> None:
    emitter = MemoryEmitter()
    host = machine(emitter)
    container = host.create_container("app", Image("app", {"talk": talk}), address="10.1.0.1")
    assert container.log is not None
    streams = {1: container.log.stream("stdout"), 2: container.log.stream("stderr")}
    container.start(["talk"], streams=streams)
    for stream in streams.values():
        stream.close()
    host.kernel.run_for(1.0)
    texts = [(line.stream, line.text) for line in emitter.logs]
    assert texts == [
        ("stdout", "first line"),
        ("stdout", "second line"),
        ("stderr", "trouble"),
        ("stdout", "at once"),
        ("stdout", "no newline"),
    ]
    first = host.host.files.read("/var/log/containers/app.log").decode().split("\n")[0]
    assert first.startswith("2026-01-05T09:00:00.0")
    assert first.endswith("Z stdout F first line")


def test_a_line_the_disk_does_not_take_is_lost() -> None:
    emitter = MemoryEmitter()
    host = machine(emitter)
    log = host.host.log
    assert log is not None
    log.line("kept")
    host.disk.fail_writes = True
    log.line("lost")
    host.disk.fail_writes = False
    log.line("kept too")
    assert [line.text for line in emitter.logs] == ["kept", "kept too"]
    assert any("I/O error, dev sda" in record.text for record in host.kernel_log.list_all())


def test_a_kernel_without_memory_for_mounts_says_so_until_it_is_booted() -> None:
    host = machine()
    host.need_mount()
    host.mounts_exhausted = True
    for _ in range(2):
        with pytest.raises(FileError, match="Cannot allocate memory"):
            host.need_mount()
    told = [record.text for record in host.kernel_log.list_all()][-6:]
    assert told[0].startswith("SLUB: Unable to allocate memory on node -1")
    assert told[1].startswith("  cache: mnt_cache")
    host.lose()
    host.boot()
    host.need_mount()


def test_a_long_log_is_rotated() -> None:
    host = machine()
    log = host.host.log
    assert log is not None
    for _ in range(260):
        log.line("x" * 50_000)
    sizes = [host.host.files.stat(f"/var/log/containers/host-1.log{end}").size for end in ("", ".1")]
    assert sizes[0] < sizes[1] < 11_000_000


def test_programs_are_files_that_can_be_moved_copied_and_removed() -> None:
    host = machine().host
    assert host.run(["talk"]).status == 0
    host.files.write("/tmp/copy", host.files.read("/usr/bin/talk"))
    with pytest.raises(NotExecutable, match="Permission denied"):
        host.run(["/tmp/copy"])
    host.files.chmod("/tmp/copy", 0o755)
    assert host.run(["/tmp/copy"]).stdout.startswith(b"first line")
    host.files.remove("/usr/bin/talk")
    with pytest.raises(CommandNotFound):
        host.run(["talk"])


def test_the_images_environment_is_the_processes_environment() -> None:
    seen = {}

    async def look(ctx: Context) -> int:
        seen.update(ctx.env)
        return 0

    host = machine().host
    host.start(["look"], program=look, env={"EXTRA": "1"})
    host.kernel.run_for(1.0)
    assert (seen["MODE"], seen["EXTRA"], seen["HOSTNAME"]) == ("test", "1", "host-1")


def test_a_machine_that_is_down_runs_nothing() -> None:
    host = machine()
    host.lose()
    with pytest.raises(NotExecutable, match="not running"):
        host.host.start(["talk"])
    with pytest.raises(FileError):
        host.host.files.read("/nothing")
    host.boot()
    assert host.host.run(["talk"]).status == 0


def test_a_container_reads_its_limits_in_its_cgroup() -> None:
    host = machine()
    host.create_container(
        "app", Image("app", {}), address="10.0.0.9", cpu_limit=0.5, memory_limit_bytes=32 * 1024**2
    )
    files = host.containers["app"].files
    assert files.read("/sys/fs/cgroup/memory.max") == b"33554432\n"
    assert files.read("/sys/fs/cgroup/cpu.max") == b"50000 100000\n"
    assert not host.host.files.exists("/sys/fs/cgroup/memory.max")  # the root of the hierarchy has no limits


def test_an_older_kernel_has_the_older_cgroups() -> None:
    kernel = Kernel(1)
    old = Machine(kernel, Network(kernel), "old", "10.0.0.1", Image("os", {}), cgroup_version=1)
    old.create_container("app", Image("app", {}), address="10.0.0.9", memory_limit_bytes=32 * 1024**2)
    files = old.containers["app"].files
    assert files.read("/sys/fs/cgroup/memory/memory.limit_in_bytes") == b"33554432\n"
    assert files.read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") == b"-1\n"


def test_a_flood_of_one_instant_is_kept_in_part() -> None:
    async def flood(ctx: Context) -> int:
        for _ in range(20):
            await ctx.out("y\n" * 50_000)
        await ctx.kernel.sleep(1.0)
        await ctx.out("later\n")
        return 0

    host = machine()
    container = host.create_container("web", Image("flood:1", {"flood": flood}), address="10.1.0.1")
    assert container.log is not None
    container.start(["flood"], streams={1: container.log.stream("stdout")})
    host.kernel.run_for(2)
    kept = host.host.files.read(container.log.path).count(b"\n")
    assert kept < 600_000
    assert host.host.files.read(container.log.path).endswith(b" stdout F later\n")
    assert container.log.lost_lines > 400_000
