"""One process as a folder of /proc."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.files import VirtualDirectory, VirtualEntry, VirtualFile, VirtualLink, virtual_directory
from simcloud.machine.proc.entries import text_file
from simcloud.machine.proc.system import KIB, TICKS_PER_S, mounts_text

if TYPE_CHECKING:
    from simcloud.machine.process import Container, Process, Stream
    from simcloud.machine.process.process import ProcessContainer

PAGE_BYTES: Final = 4096
VIRTUAL_SHARE: Final = 2
STATES: Final = {"R": "running", "S": "sleeping", "T": "stopped"}


def state_letter(process: Process) -> str:
    """T for stopped, else S: a process that can be looked at is waiting for something."""
    return "T" if process.stopped else "S"


def process_folder(container: Container, process: Process) -> VirtualDirectory:
    """What those in a container see of a process."""
    uid = process.uid
    entries: dict[str, VirtualEntry] = {
        "cgroup": text_file(lambda: "0::/\n"),
        "cmdline": text_file(lambda: "".join(f"{word}\0" for word in process.argv)),
        "comm": text_file(lambda: f"{process.name}\n"),
        "cwd": VirtualLink(lambda: process.files.cwd),
        "environ": text_file(lambda: "".join(f"{k}={v}\0" for k, v in process.env.items()), 0o400, uid),
        "exe": VirtualLink(lambda: _executable(container, process)),
        "fd": virtual_directory({str(n): _descriptor(process.streams[n]) for n in sorted(process.streams)}),
        "limits": text_file(lambda: _limits(process.container)),
        "mounts": text_file(lambda: mounts_text(process.container)),
        "oom_score": text_file(lambda: f"{_badness(process)}\n"),
        "oom_score_adj": text_file(lambda: "0\n", 0o644, uid),
        "root": VirtualLink(lambda: "/"),
        "stat": text_file(lambda: _stat(container, process)),
        "statm": text_file(lambda: _statm(process)),
        "status": text_file(lambda: _status(container, process)),
    }
    return virtual_directory(entries)


def _executable(container: Container, process: Process) -> str:
    name = process.argv[0] if process.argv else ""
    return name if name.startswith("/") else f"/usr/bin/{name.rpartition('/')[2]}"


def _parent_pid(container: Container, process: Process) -> int:
    parent = process.parent
    return container.pid_seen(parent) if parent is not None else 0


def _pages(process: Process) -> int:
    return process.memory.resident_bytes // PAGE_BYTES


def _badness(process: Process) -> int:
    return 1000 * process.memory.resident_bytes // process.container.machine.memory_bytes


def _status(container: Container, process: Process) -> str:
    pid, state = container.pid_seen(process), state_letter(process)
    kib, uid, gid = process.memory.resident_bytes // KIB, process.uid, process.files.gid
    rows = {
        "Name": process.name,
        "Umask": f"{process.files.umask:04o}",
        "State": f"{state} ({STATES[state]})",
        "Tgid": str(pid),
        "Ngid": "0",
        "Pid": str(pid),
        "PPid": str(_parent_pid(container, process)),
        "TracerPid": "0",
        "Uid": "\t".join([str(uid)] * 4),
        "Gid": "\t".join([str(gid)] * 4),
        "FDSize": "64",
        "Groups": f"{gid} ",
        "VmPeak": f"{kib * VIRTUAL_SHARE:8d} kB",
        "VmSize": f"{kib * VIRTUAL_SHARE:8d} kB",
        "VmHWM": f"{kib:8d} kB",
        "VmRSS": f"{kib:8d} kB",
        "RssAnon": f"{kib:8d} kB",
        "VmSwap": f"{0:8d} kB",
        "Threads": "1",
    }
    return "".join(f"{name}:\t{value}\n" for name, value in rows.items())


def _stat(container: Container, process: Process) -> str:
    """The 52 numbers of proc(5); those that have no meaning here are zero."""
    ticks = int(process.cpu_s * TICKS_PER_S)
    start = int((process.started_at - container.machine.booted_at) * TICKS_PER_S)
    pages = _pages(process)
    numbers = [
        _parent_pid(container, process), process.group, process.group, 0, -1, 4194304, 0, 0, 0, 0, ticks, 0, 0, 0, 20, 0,
        1, 0, start, pages * PAGE_BYTES * VIRTUAL_SHARE, pages, 18446744073709551615,
    ]  # fmt: skip
    numbers += [0] * (52 - 3 - len(numbers))
    head = f"{container.pid_seen(process)} ({process.name}) {state_letter(process)}"
    return f"{head} {' '.join(map(str, numbers))}\n"


def _statm(process: Process) -> str:
    pages = _pages(process)
    return f"{pages * VIRTUAL_SHARE} {pages} 0 0 0 {pages} 0\n"


def _limits(container: ProcessContainer) -> str:
    limits = container.limits
    unlimited, files, tasks = ("unlimited",) * 2, (str(limits.open_files),) * 2, (str(limits.processes),) * 2
    rows = (
        ("Max cpu time", *unlimited, "seconds"),
        ("Max file size", *unlimited, "bytes"),
        ("Max data size", *unlimited, "bytes"),
        ("Max stack size", "8388608", "unlimited", "bytes"),
        ("Max core file size", "0", "unlimited", "bytes"),
        ("Max resident set", *unlimited, "bytes"),
        ("Max processes", *tasks, "processes"),
        ("Max open files", *files, "files"),
        ("Max address space", *unlimited, "bytes"),
    )
    lines = [f"{'Limit':<25} {'Soft Limit':<20} {'Hard Limit':<20} {'Units':<10}"]
    lines += [f"{name:<25} {soft:<20} {hard:<20} {unit:<10}" for name, soft, hard, unit in rows]
    return "".join(f"{line}\n" for line in lines)


def _descriptor(stream: Stream) -> VirtualEntry:
    """A file shows as a link to it; a pipe as a thing of its own, there to be found but not read here."""
    if stream.describe().startswith("/"):
        return VirtualLink(stream.describe)
    return VirtualFile(bytes, mode=0o600)
