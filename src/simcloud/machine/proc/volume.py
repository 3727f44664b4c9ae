"""The /proc of a container: its own processes, and what it may know of its machine.

From the host all processes of the machine are seen, by the numbers they have there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simcloud.machine.files import VirtualDirectory, VirtualEntry, VirtualLink, VirtualVolume
from simcloud.machine.proc.entries import fact_file, fact_folder, folder_of
from simcloud.machine.proc.network import NETWORK, TRACKING
from simcloud.machine.proc.system import FACTS, PRESSURE, SETTINGS, setting_file
from simcloud.machine.proc.tasks import process_folder
from simcloud.machine.process.container import Container
from simcloud.machine.process.pids import MAX_PID


def proc_volume(container: Container) -> VirtualVolume:
    """A volume to be mounted at /proc. Entries are made when they are looked up: few containers ever look."""
    made: dict[str, Callable[[], VirtualEntry]] = {
        "net": lambda: fact_folder(NETWORK, container),
        "self": lambda: VirtualLink(lambda: str(_reader(container))),
        "pressure": lambda: fact_folder(PRESSURE, container),
        "sys": lambda: folder_of(
            {name: setting_file(name, make, container) for name, make in (SETTINGS | TRACKING).items()}
            | {"kernel/pid_max": setting_file("kernel/pid_max", lambda _: f"{MAX_PID}\n", container)}
        ),
    }

    def names() -> Iterable[str]:
        return [*FACTS, *made, *map(str, container.visible())]

    def find(name: str) -> VirtualEntry | None:
        if name in FACTS:
            return fact_file(FACTS[name], container)
        if name in made:
            return made[name]()
        if name.isdecimal() and name.isascii():
            process = container.visible().get(int(name[:9]))
            return None if process is None else process_folder(container, process)
        return None

    return VirtualVolume(VirtualDirectory(names, find), container.machine.clock)


def _reader(container: Container) -> int:
    """The process whose task runs now: ``/proc/self`` is the reader's own folder."""
    task = container.kernel.current
    while task is not None and task.parent is not None:
        task = task.parent
    return next((pid for pid, process in container.visible().items() if process.main is task), 1)
