"""/proc: the machine, its processes and its network as files, computed as they are read."""

from simcloud.machine.proc.system import CPU_MODEL, KERNEL_RELEASE, KERNEL_VERSION
from simcloud.machine.proc.tasks import state_letter
from simcloud.machine.proc.volume import proc_volume

__all__ = ["CPU_MODEL", "KERNEL_RELEASE", "KERNEL_VERSION", "proc_volume", "state_letter"]
