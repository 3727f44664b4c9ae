"""/proc: the machine, its processes and its network as files, computed as they are read."""

from simcloud.machine.proc.system import (
    CPU_MODEL as CPU_MODEL,
    KERNEL_RELEASE as KERNEL_RELEASE,
    KERNEL_VERSION as KERNEL_VERSION,
)
from simcloud.machine.proc.tasks import state_letter as state_letter
from simcloud.machine.proc.volume import proc_volume as proc_volume
