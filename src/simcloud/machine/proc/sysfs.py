"""/sys: the disk and its file system, the processors, and the control groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.files import (
    FIRST_SECTOR,
    SECTOR_BYTES,
    VirtualDirectory,
    VirtualEntry,
    VirtualFile,
    VirtualVolume,
    lazy_directory,
    virtual_directory,
)
from simcloud.machine.proc.block import (
    DEVICE,
    MODEL,
    PARTITION,
    device_bytes,
    measure_activity,
    partition_sectors,
)
from simcloud.machine.proc.entries import Fact, fact_file, fact_folder, folder_of

if TYPE_CHECKING:
    from simcloud.machine.process import Container

PATH: Final = "/sys"
FOLDERS: Final = ("bus", "class", "dev", "firmware", "hypervisor", "kernel", "module", "power")

EMPTY: Final = virtual_directory({})


def sys_volume(container: Container) -> VirtualVolume:
    """A volume to be mounted at /sys; control groups are mounted in it."""

    def find(name: str) -> VirtualEntry | None:
        if name in FOLDERS:
            return EMPTY
        if name == "block":
            disk: dict[str, VirtualEntry] = {name: fact_file(fact, container) for name, fact in _DISK.items()}
            disk["device/rescan"] = VirtualFile(bytes, lambda data: None, mode=0o200)
            return virtual_directory({DEVICE: folder_of(disk)})
        if name == "fs":
            fs: dict[str, VirtualEntry] = {"bpf": EMPTY, "cgroup": EMPTY}
            fs["ext4"] = lazy_directory(  # the folder is kept by what is mounted below it
                lambda: {PARTITION: fact_folder(_EXT4, container), "features": EMPTY}, 0o555
            )
            return virtual_directory(fs)
        return fact_folder(_DEVICES, container) if name == "devices" else None

    def names() -> list[str]:
        return ["block", "bus", "class", "dev", "devices", "firmware", "fs", "hypervisor", "kernel", "module",
            "power"]  # fmt: skip

    return VirtualVolume(VirtualDirectory(names, find), container.machine.clock, "sysfs")


def _stat(container: Container) -> str:
    return " ".join(f"{count:8d}" for count in measure_activity(container.machine).columns()) + "\n"


def _read_only(container: Container) -> str:
    return f"{int(container.machine.disk.read_only)}\n"


def _errors(container: Container) -> str:
    return f"{container.machine.disk.file_system_errors}\n"


def _lifetime_writes(container: Container) -> str:
    return f"{measure_activity(container.machine).write_sectors * SECTOR_BYTES // 1024}\n"


def _always(text: str) -> Fact:
    return lambda _container: f"{text}\n"


_DISK: Final[dict[str, Fact]] = {"dev": _always("8:0"), "device/model": _always(f"{MODEL}   "),
    "device/queue_depth": _always("32"), "device/rev": _always("2.5+"), "device/state": _always("running"),
    "device/timeout": _always("30"), "device/type": _always("0"), "device/vendor": _always("QEMU    "),
    "queue/hw_sector_size": _always("512"), "queue/logical_block_size": _always("512"),
    "queue/max_sectors_kb": _always("1280"), "queue/nr_requests": _always("64"),
    "queue/physical_block_size": _always("512"), "queue/read_ahead_kb": _always("128"),
    "queue/rotational": _always("0"), "queue/scheduler": _always("[none] mq-deadline"),
    "queue/write_cache": _always("write back"), "removable": _always("0"), "ro": _read_only,
    f"{PARTITION}/partition": _always("1"), f"{PARTITION}/ro": _read_only,
    f"{PARTITION}/size": lambda c: f"{partition_sectors(c.machine)}\n",
    f"{PARTITION}/start": _always(str(FIRST_SECTOR)), f"{PARTITION}/stat": _stat,
    "size": lambda c: f"{device_bytes(c.machine) // SECTOR_BYTES}\n", "stat": _stat}  # fmt: skip
_EXT4: Final[dict[str, Fact]] = {"delayed_allocation_blocks": _always("0"), "errors_count": _errors,
    "lifetime_write_kbytes": _lifetime_writes, "session_write_kbytes": _lifetime_writes,
    "warning_count": _always("0")}  # fmt: skip
_DEVICES: Final[dict[str, Fact]] = {"system/cpu/online": lambda c: f"0-{c.machine.cpu.cores - 1}\n"
    if c.machine.cpu.cores > 1 else "0\n", "system/cpu/possible": lambda c: f"0-{c.machine.cpu.cores - 1}\n"
    if c.machine.cpu.cores > 1 else "0\n", "system/node/online": _always("0"),
    "system/clocksource/clocksource0/current_clocksource": _always("kvm-clock"),
    "virtual/dmi/id/product_name": _always("Standard PC (Q35 + ICH9, 2009)"),
    "virtual/dmi/id/sys_vendor": _always("QEMU")}  # fmt: skip
