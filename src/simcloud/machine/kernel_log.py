"""The kernel log of a machine: what happened to it, in the words of Linux 6.1.

Other code reports what happened; this module decides which lines the kernel prints about it. The messages of the boot
follow from the machine's hardware and are made when the log is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple

from simcloud.machine.files import FIRST_SECTOR, SECTOR_BYTES, CharacterDevice, FileError
from simcloud.machine.journal import CRITICAL, ERROR, INFO, KERNEL, WARNING, Entry
from simcloud.machine.process.container import Container, Host
from simcloud.machine.process.process import PAGE_BYTES, Process

RING_LINES: Final = 2_500
"""Number of lines that the ring buffer holds."""

RATE_WINDOW_S: Final = 5.0
RATE_BURST: Final = 10
"""At most this number of I/O errors is reported within a window; the rest is counted."""

HARDWARE: Final = "QEMU Standard PC (i440FX + PIIX, 1996), BIOS 1.16.2-debian-1.16.2-1 04/01/2014"
MOST_WRITTEN_BYTES: Final = 976
"""Maximum length of a line that a program writes to the log."""
_WRITTEN: Final = re.compile(r"(?:<([0-9]{1,3})>)?(.*)", re.DOTALL)
LEVELS: Final = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")

_OOM_PATH: Final = (
    "dump_stack_lvl+0x44/0x5c dump_header+0x4a/0x211 oom_kill_process.cold+0xb/0x10 out_of_memory+0x1fd/0x4c0"
)
_CGROUP_PATH: Final = (
    "mem_cgroup_out_of_memory+0x134/0x150 try_charge_memcg+0x696/0x780 __mem_cgroup_charge+0x28/0x80"
)
_GLOBAL_PATH: Final = (
    "__alloc_pages_slowpath.constprop.0+0xb6e/0xe10 __alloc_pages+0x305/0x330 vma_alloc_folio+0x9c/0x370"
)
_FAULT_PATH: Final = "handle_mm_fault+0xdb/0x2d0 do_user_addr_fault+0x191/0x550 exc_page_fault+0x70/0x170 asm_exc_page_fault+0x22/0x30"
"""The functions of a page fault that ends in the OOM killer, the innermost first."""

_ABORTED: Final = "ext4_journal_check_start:83: comm systemd-journal: Detected aborted journal"
JOURNAL_BLOCK: Final = 4_751_360
"""Where the journal begins."""

_CALLING: Final = (
    "Code: 1f 44 00 00 f3 0f 1e fa 41 57 41 56 41 55 41 54 55 53 48 81 ec 98 00 00 00 64 48 8b 04 25 28 00 00 00 48 89 "
    "84 24 88 00 00 00 <e8> 6b f2 ff ff 85 c0 0f 84 b3 01 00 00 48 8b 7d 08 48 85 ff 74 0a"
)
"""The machine code of a function that calls another; the call needs more stack."""

_TASK_COLUMNS: Final = "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name"


class Record(NamedTuple):
    """One message: seconds since the boot, the level as in syslog, and the text."""

    up_s: float
    level: int
    text: str


class KernelLog:
    """The kernel's messages since the last boot; ``list_boot`` makes those of the boot itself."""

    def __init__(self, machine: Host, list_boot: Callable[[], list[Record]]) -> None:
        self._machine = machine
        self._list_boot = list_boot
        self.restart()

    def restart(self) -> None:
        """Forget everything: the machine boots."""
        self._records: list[Record] = []
        self._boot: list[Record] = []
        self._cleared_at = -1.0
        self._window_at = -RATE_WINDOW_S
        self._window_errors = 0

    def say(self, text: str, level: int = INFO) -> None:
        """Add a line."""
        up_s = self._machine.kernel.now - self._machine.booted_at
        # Lines of one instant differ by microseconds, as they do where printing takes time.
        if self._records and up_s <= self._records[-1].up_s:
            up_s = self._records[-1].up_s + 0.000_002 + len(text) % 7 / 1e6
        self._records.append(Record(up_s, level, text))
        del self._records[:-RING_LINES]

    def clear(self) -> None:
        """Hide the present lines from ``dmesg``; the journal keeps them."""
        present = self.list_all()
        self._cleared_at = present[-1].up_s if present else -1.0

    def list_shown(self) -> list[Record]:
        """Return the lines since the last ``dmesg --clear``."""
        return [record for record in self.list_all() if record.up_s > self._cleared_at]

    def list_all(self) -> list[Record]:
        """Return the lines that the ring buffer holds."""
        if not self._boot:
            self._boot = self._list_boot()
        return [*self._boot, *self._records][-RING_LINES:]

    def list_entries(self) -> list[Entry]:
        """Return the lines as the journal stores them."""
        machine = self._machine
        if not machine.running:
            return []
        booted_s = machine.clock() - (machine.kernel.now - machine.booted_at)
        return [
            Entry(
                booted_s + record.up_s, record.up_s, machine.boot_id, "", KERNEL, 0, record.text, record.level
            )
            for record in self.list_all()
        ]

    # -- memory --------------------------------------------------------------------------------

    def report_oom(self, victim: Process, container: Container, *, cgroup: bool) -> None:
        """A process is killed because its container, or else the machine, is out of memory."""
        machine, name, pid, path = self._machine, victim.name, victim.host_pid, container.cgroup_path
        gfp = "0xcc0(GFP_KERNEL)" if cgroup else "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)"
        core, release = pid % machine.cpu.cores, machine.kernel_release
        trace = f"{_OOM_PATH} {_CGROUP_PATH if cgroup else _GLOBAL_PATH} {_FAULT_PATH}".split()
        processes = container.processes if cgroup else machine.processes
        for line in (
            f"{name} invoked oom-killer: gfp_mask={gfp}, order=0, oom_score_adj={container.oom_score_adj}",
            f"CPU: {core} PID: {pid} Comm: {name} Not tainted {release} #1  Debian 6.1.119-1",
            f"Hardware name: {HARDWARE}",
            "Call Trace:",
            " <TASK>",
            *(f" {function}" for function in trace),
            " </TASK>",
        ):
            self.say(line, WARNING)
        for line in self._describe_cgroup(container) if cgroup else self._describe_memory():
            self.say(line)
        self.say("Tasks state (memory values in pages):")
        self.say(_TASK_COLUMNS)
        for number in sorted(processes):
            self.say(_format_task(processes[number]))
        where = f"oom_memcg={path},task_memcg={path}" if cgroup else f"global_oom,task_memcg={path}"
        self.say(
            f"oom-kill:constraint=CONSTRAINT_{'MEMCG' if cgroup else 'NONE'},nodemask=(null),"
            f"cpuset={path.rpartition('/')[2]},mems_allowed=0,{where},task={name},pid={pid},uid={victim.uid}"
        )
        self._report_kill(victim, cgroup)
        if cgroup and container.oom_group:
            self.say(f"Tasks in {path} are going to be killed due to memory.oom.group set")
            for number in sorted(processes):
                self._report_kill(processes[number], cgroup)

    def _report_kill(self, process: Process, cgroup: bool) -> None:
        reason = "Memory cgroup out of memory" if cgroup else "Out of memory"
        rss_kib = process.memory.resident_bytes // 1024
        anon_kib = rss_kib * 9 // 10
        self.say(
            f"{reason}: Killed process {process.host_pid} ({process.name}) total-vm:{process.virtual_bytes // 1024}kB, "
            f"anon-rss:{anon_kib}kB, file-rss:{rss_kib - anon_kib}kB, shmem-rss:0kB, UID:{process.uid} "
            f"pgtables:{_table_bytes(process) // 1024}kB oom_score_adj:{process.container.oom_score_adj}",
            ERROR,
        )

    def _describe_cgroup(self, container: Container) -> list[str]:
        limit_kib, anon = (container.memory_limit_bytes or 0) // 1024, container.memory_bytes * 9 // 10
        tables = sum(_table_bytes(process) for process in container.processes.values())
        return [
            f"memory: usage {limit_kib}kB, limit {limit_kib}kB, failcnt {40 + container.oom_kills * 17}",
            "swap: usage 0kB, limit 0kB, failcnt 0",
            f"Memory cgroup stats for {container.cgroup_path}:",
            f"anon {anon}",
            f"file {container.memory_bytes - anon}",
            f"kernel_stack {16_384 * len(container.processes)}",
            f"pagetables {tables}",
        ]

    def _describe_memory(self) -> list[str]:
        processes = self._machine.processes.values()
        anon = sum(process.memory.resident_bytes for process in processes) // PAGE_BYTES
        pages = self._machine.memory_bytes // PAGE_BYTES
        return [
            "Mem-Info:",
            f"active_anon:{anon // 9} inactive_anon:{anon - anon // 9}",
            f"{pages} pages RAM",
        ]

    def report_mount_failure(self) -> None:
        """The kernel has no memory for another mount."""
        self.say("SLUB: Unable to allocate memory on node -1, gfp=0xdc0(GFP_KERNEL|__GFP_ZERO)", WARNING)
        self.say(
            "  cache: mnt_cache, object size: 328, buffer size: 384, default order: 1, min order: 0", WARNING
        )
        self.say("  node 0: slabs: 4762, objs: 100002, free: 0", WARNING)

    def report_fault(self, process: Process) -> None:
        """A process is killed because its stack has no room left. A SIGSEGV that another process sent is not reported."""
        draw = int.from_bytes(sha256(f"{self._machine.boot_id}/{process.host_pid}".encode()).digest()[:8])
        base, stack = 0x5555_0000_0000 + (draw % 0x0AAA_0000 << 12), 0x7FFC_0000_0000 + (draw >> 44 << 12)
        core = process.host_pid % self._machine.cpu.cores
        self.say(
            f"{process.name[:15]}[{process.host_pid}]: segfault at {stack - 8:x} ip {base + 0x46E29:016x} sp {stack:016x} "
            f"error 6 in {process.name}[{base:x}+d7000] likely on CPU {core} (core {core}, socket 0)"
        )
        self.say(_CALLING)

    # -- devices -------------------------------------------------------------------------------

    def report_disk_error(self, operation: str) -> None:
        """The disk failed a request; of many in a short time only the first are printed."""
        now = self._machine.kernel.now
        if now - self._window_at >= RATE_WINDOW_S:
            suppressed = self._window_errors - RATE_BURST
            if suppressed > 0:
                self.say(f"blk_print_req_error: {suppressed} callbacks suppressed", ERROR)
            self._window_at, self._window_errors = now, 0
        self._window_errors += 1
        lost = self._machine.disk.lost_directory
        if lost:
            block = lost.block
        else:
            draw = self._machine.kernel.random(f"{self._machine.name}/disk")
            sector = draw.randrange(FIRST_SECTOR, self._machine.disk.capacity_bytes // SECTOR_BYTES)
            block = (sector - FIRST_SECTOR) // 8
        if self._window_errors <= RATE_BURST:
            flags = {"WRITE": "0x800", "JOURNAL": "0x800", "READ": "0x80700"}.get(operation, "0x3000")
            self._report_request(block, operation in ("WRITE", "JOURNAL"), flags)
        if lost and operation == "LOOKUP":
            self.say(
                f"EXT4-fs error (device sda1): __ext4_find_entry:1682: inode #{lost.inode}: comm containerd: "
                "reading directory lblock 0",
                CRITICAL,
            )
        elif lost:
            self.say(
                f"EXT4-fs warning (device sda1): htree_dirblock_to_tree:1080: inode #{lost.inode}: lblock 0: comm ls: "
                "error -5 reading directory block",
                WARNING,
            )
        elif self._window_errors > RATE_BURST:
            return
        elif operation == "WRITE":
            inode = 131_073 + block % 400_000
            self.say(
                f"EXT4-fs warning (device sda1): ext4_end_bio:343: I/O error 10 writing to inode {inode} "
                f"starting block {block})",
                WARNING,
            )
            self.say(f"Buffer I/O error on device sda1, logical block {block}", ERROR)
        elif operation == "JOURNAL":
            self.say(f"Buffer I/O error on dev sda1, logical block {block}, lost sync page write", ERROR)
            self.say("Aborting journal on device sda1-8.", ERROR)
            self._report_request(JOURNAL_BLOCK, True, "0x9800")
            self.say(
                f"Buffer I/O error on dev sda1, logical block {JOURNAL_BLOCK}, lost sync page write", ERROR
            )
            self.say("JBD2: Error -5 detected when updating journal superblock for sda1-8.", ERROR)
            self.say(f"EXT4-fs error (device sda1): {_ABORTED}", CRITICAL)
            self.say("EXT4-fs (sda1): Remounting filesystem read-only", CRITICAL)

    def _report_request(self, block: int, write: bool, flags: str) -> None:
        sector = FIRST_SECTOR + block * 8
        tag = (block + self._machine.disk.errors * 37) % 256
        device = f"sd 2:0:0:0: [sda] tag#{tag}"
        self.say(f"{device} FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_OK cmd_age=0s")
        self.say(f"{device} Sense Key : Aborted Command [current] ")
        self.say(f"{device} Add. Sense: I/O process terminated")
        address = " ".join(f"{byte:02x}" for byte in sector.to_bytes(4, "big"))
        self.say(f"{device} CDB: {'Write(10) 2a' if write else 'Read(10) 28'} 00 {address} 00 00 08 00")
        self.say(
            f"I/O error, dev sda, sector {sector} op 0x{int(write)}:({'WRITE' if write else 'READ'}) flags {flags} phys_seg 1 prio class 2",
            ERROR,
        )

    def report_link(self, interface: str) -> None:
        """The host's end of a new pod's link comes up."""
        self.say("IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready")
        self.say(f"IPv6: ADDRCONF(NETDEV_CHANGE): {interface}: link becomes ready")


class KernelMessages(CharacterDevice):
    """/dev/kmsg: the kernel log, a record per read; what is written there becomes a line. It ends instead of waiting."""

    rdev = 0x10B

    def __init__(self, log: KernelLog) -> None:
        self._log = log
        self._path = ""
        self._next = 0

    def open(self, path: str) -> None:
        """Start with the oldest record."""
        self._path, self._next = path, 0

    def read(self, count: int) -> bytes:
        """The next record: level, number, microseconds since the boot, and the text. It must fit."""
        records = self._log.list_all()
        if self._next >= len(records):
            return b""
        record = records[self._next]
        text = f"{record.level},{self._next},{record.up_s * 1e6:.0f},-;{record.text}\n"
        data = text.encode("utf-8", "surrogateescape")
        if len(data) > count:
            raise FileError("EINVAL", self._path)
        self._next += 1
        return data

    def write(self, data: bytes) -> int:
        """Add a line; ``<3>`` before it is its level."""
        found = _WRITTEN.fullmatch(data.decode("utf-8", "replace").rstrip("\n"))
        if found is None or len(data) > MOST_WRITTEN_BYTES:
            raise FileError("EINVAL", self._path)
        self._log.say(found[2], int(found[1]) % 8 if found[1] else WARNING)
        return len(data)


def _table_bytes(process: Process) -> int:
    return (process.memory.resident_bytes // 512 // PAGE_BYTES + 24) * PAGE_BYTES


def _format_task(process: Process) -> str:
    pid = process.host_pid
    return (
        f"[{pid:7}] {process.uid:5} {pid:5} {process.virtual_bytes // PAGE_BYTES:8} "
        f"{process.memory.resident_bytes // PAGE_BYTES:8} {_table_bytes(process):8}        0 {process.container.oom_score_adj:13} {process.name}"
    )
