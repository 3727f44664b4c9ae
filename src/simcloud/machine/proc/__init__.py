"""/proc: the machine, its processes and its network as files, computed as they are read."""

from simcloud.machine.proc.block import (
    DEVICE as DEVICE,
    MODEL as MODEL,
    PARTITION as PARTITION,
    device_bytes as device_bytes,
    file_system_id as file_system_id,
    measure_activity as measure_activity,
    partition_sectors as partition_sectors,
)
from simcloud.machine.proc.cgroups import SYSTEM_SHARE as SYSTEM_SHARE
from simcloud.machine.proc.memory import (
    RESERVED_MEMORY_BYTES as RESERVED_MEMORY_BYTES,
    MemoryUse as MemoryUse,
    measure_memory as measure_memory,
    vary as vary,
    whole_pages as whole_pages,
)
from simcloud.machine.proc.system import (
    CPU_MODEL as CPU_MODEL,
    KERNEL_RELEASE as KERNEL_RELEASE,
    KERNEL_VERSION as KERNEL_VERSION,
    TICKS_PER_S as TICKS_PER_S,
    cpu_times as cpu_times,
    event_counts as event_counts,
)
from simcloud.machine.proc.tasks import TASK_BYTES as TASK_BYTES
from simcloud.machine.proc.volume import proc_volume as proc_volume
