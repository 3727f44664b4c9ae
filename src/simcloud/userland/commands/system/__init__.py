"""Commands on the machine itself: clock, processes, memory, services, users."""

from simcloud.userland.commands.system import (
    block_devices as block_devices,
    chroot as chroot,
    date as date,
    environment as environment,
    identity as identity,
    journal as journal,
    kernel as kernel,
    launchers as launchers,
    lookup as lookup,
    memory as memory,
    mounts as mounts,
    open_files as open_files,
    power as power,
    processes as processes,
    services as services,
    sleep as sleep,
    stress as stress,
    uptime as uptime,
    vi as vi,
    watch as watch,
)
