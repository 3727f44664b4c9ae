"""One process as a folder of /proc."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from simcloud.machine.files import (
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualLink,
    lazy_directory,
    virtual_directory,
)
from simcloud.machine.proc.entries import text_file
from simcloud.machine.proc.memory import vary
from simcloud.machine.proc.system import KIB, TICKS_PER_S, mounts_text
from simcloud.machine.process import PAGE_BYTES

if TYPE_CHECKING:
    from simcloud.machine.process import Container, Process, Stream

TASK_BYTES: Final = 262_144
"""A user may have one task for this much memory."""
OWN_SCORES: Final = {
    "containerd": -999,
    "containerd-shim": -998,
    "kube-proxy": -999,
    "kubelet": -999,
    "pause": -998,
}
"""Programs that are started with a score of their own, or set it themselves."""
STATES: Final = {"I": "idle", "R": "running", "S": "sleeping", "T": "stopped"}


def process_folder(container: Container, process: Process) -> VirtualDirectory:
    """What those in a container see of a process."""
    uid = process.uid
    entries: dict[str, VirtualEntry] = {
        "cgroup": text_file(lambda: f"0::{process.container.cgroup_path if container.is_host else '/'}\n"),
        "cmdline": text_file(lambda: "".join(f"{word}\0" for word in process.argv)),
        "comm": text_file(lambda: f"{process.name}\n"),
        "cwd": VirtualLink(lambda: process.files.cwd),
        "environ": text_file(lambda: "".join(f"{k}={v}\0" for k, v in process.env.items()), 0o400, uid),
        "exe": VirtualLink(lambda: _executable(container, process)),
        "fd": lazy_directory(lambda: _descriptors(process), 0o500),
        "limits": text_file(lambda: _limits(process)),
        "mounts": text_file(lambda: mounts_text(process.container)),
        "oom_score": text_file(lambda: f"{_badness(process)}\n"),
        "oom_score_adj": text_file(lambda: f"{_find_adjustment(process)}\n", 0o644, uid),
        "root": VirtualLink(lambda: "/"),
        "stat": text_file(lambda: _stat(container, process)),
        "statm": text_file(lambda: _statm(process)),
        "status": text_file(lambda: _status(container, process)),
    }
    return virtual_directory(entries)


def _find_adjustment(process: Process) -> int:
    return OWN_SCORES.get(process.name, process.container.oom_score_adj)


def _executable(container: Container, process: Process) -> str:
    name = process.argv[0] if process.argv else ""
    return name if name.startswith("/") else f"/usr/bin/{name.rpartition('/')[2]}"


def _parent_pid(container: Container, process: Process) -> int:
    parent = process.visible_parent
    return container.pid_seen(parent) if parent is not None and (container.is_host or process.parent) else 0


def _pages(process: Process) -> int:
    return process.memory.resident_bytes // PAGE_BYTES


def _badness(process: Process) -> int:
    return 1000 * process.memory.resident_bytes // process.container.machine.memory_bytes


def _status(container: Container, process: Process) -> str:
    pid, state = container.pid_seen(process), process.state
    kib, uid, gid = _pages(process) * PAGE_BYTES // KIB, process.uid, process.files.gid
    virtual_kib = process.virtual_bytes // KIB
    age_s = container.kernel.now - process.started_at
    switches = int(process.cpu_s * 640 + age_s * (process.threads - 1) * vary(process.name) / 8) + 11
    rows = {
        "Name": process.name, "Umask": f"{process.files.umask:04o}", "State": f"{state} ({STATES[state]})", "Tgid": pid,
        "Ngid": 0, "Pid": pid, "PPid": _parent_pid(container, process), "TracerPid": 0, "Uid": "\t".join([str(uid)] * 4),
        "Gid": "\t".join([str(gid)] * 4), "FDSize": 64, "Groups": f"{gid} ", "VmPeak": f"{virtual_kib:8d} kB",
        "VmSize": f"{virtual_kib:8d} kB", "VmHWM": f"{kib:8d} kB", "VmRSS": f"{kib:8d} kB",
        "RssAnon": f"{kib - kib * 2 // 5:8d} kB", "RssFile": f"{kib * 2 // 5:8d} kB", "RssShmem": f"{0:8d} kB",
        "VmSwap": f"{0:8d} kB", "Threads": process.threads, "Seccomp": 0 if process.container.is_host else 2,
        "Cpus_allowed_list": f"0-{container.machine.cpu.cores - 1}", "voluntary_ctxt_switches": switches,
        "nonvoluntary_ctxt_switches": int(process.cpu_s * 7),
    }  # fmt: skip
    has_memory = process.virtual_bytes > 0
    return "".join(
        f"{name}:\t{value}\n"
        for name, value in rows.items()
        if has_memory or not name.startswith(("Vm", "Rss"))
    )


def _stat(container: Container, process: Process) -> str:
    """The 52 numbers of proc(5); those that have no meaning here are zero."""
    ticks = int(process.cpu_s * TICKS_PER_S)
    start = int((process.started_at - container.machine.booted_at) * TICKS_PER_S)
    pages = _pages(process)
    numbers = [
        _parent_pid(container, process), process.group, process.group, 0, -1, 4194304, 0, 0, 0, 0, ticks, 0, 0, 0, 20 + process.nice, process.nice,
        process.threads, 0, start, process.virtual_bytes, pages, 18446744073709551615,
    ]  # fmt: skip
    numbers += [0] * (52 - 3 - len(numbers))
    head = f"{container.pid_seen(process)} ({process.name}) {process.state}"
    return f"{head} {' '.join(map(str, numbers))}\n"


def _statm(process: Process) -> str:
    pages = _pages(process)
    return f"{process.virtual_bytes // PAGE_BYTES} {pages} 0 0 0 {pages} 0\n"


def _limits(process: Process) -> str:
    unlimited, files = ("unlimited",) * 2, map(str, process.open_files)
    tasks = (str(process.container.machine.memory_bytes // TASK_BYTES),) * 2
    rows = (
        ("Max cpu time", *unlimited, "seconds"), ("Max file size", *unlimited, "bytes"), ("Max data size", *unlimited, "bytes"),
        ("Max stack size", "8388608", "unlimited", "bytes"), ("Max core file size", "0", "unlimited", "bytes"),
        ("Max resident set", *unlimited, "bytes"), ("Max processes", *tasks, "processes"), ("Max open files", *files, "files"),
        ("Max locked memory", "8388608", "8388608", "bytes"), ("Max address space", *unlimited, "bytes"),
        ("Max file locks", *unlimited, "locks"), ("Max pending signals", *tasks, "signals"),
        ("Max msgqueue size", "819200", "819200", "bytes"), ("Max nice priority", "0", "0", ""),
        ("Max realtime priority", "0", "0", ""), ("Max realtime timeout", *unlimited, "us"),
    )  # fmt: skip
    lines = [f"{'Limit':<25} {'Soft Limit':<20} {'Hard Limit':<20} {'Units':<10}"]
    lines += [f"{name:<25} {soft:<20} {hard:<20} {unit:<10}" for name, soft, hard, unit in rows]
    return "".join(f"{line}\n" for line in lines)


def _descriptors(process: Process) -> dict[str, VirtualEntry]:
    """Streams, then the means of the runtime to wait for events, and sockets."""
    found = {number: _descriptor(stream) for number, stream in sorted(process.streams.items())}
    for number in range(max([2, *found]) + 1, process.first_socket):
        found[number] = VirtualLink(lambda: "anon_inode:[eventpoll]")
    sockets = [socket for socket in process.container.namespace.sockets() if socket.owner is process]
    for number, socket in enumerate(sockets, process.first_socket):
        found[number] = VirtualLink(partial("socket:[{}]".format, 20_000 + sum(socket.local[1:])))
    return {str(number): entry for number, entry in found.items()}


def _descriptor(stream: Stream) -> VirtualEntry:
    """A file shows as a link to it; a pipe as a thing of its own, there to be found but not read here."""
    if stream.describe().startswith("/"):
        return VirtualLink(stream.describe)
    return VirtualFile(bytes, mode=0o600)
