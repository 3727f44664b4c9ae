"""Services of the operating system: they run and log their start; their work is done elsewhere or not needed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from simcloud.machine.process import Context, Signal
from simcloud.machine.units import Unit

if TYPE_CHECKING:
    from simcloud.machine.computer import Machine

JOURNALD: Final = "systemd-journald.service"
SERVICES: Final = {
    JOURNALD: ("Journal Service", "/lib/systemd/systemd-journald", "man:systemd-journald.service(8) man:journald.conf(5)"),
    "systemd-udevd.service": ("Rule-based Manager for Device Events and Files", "/lib/systemd/systemd-udevd", "man:udev(7)"),
    "dbus.service": ("D-Bus System Message Bus", "/usr/bin/dbus-daemon --system --address=systemd: --nofork --nopidfile "
                     "--systemd-activation --syslog-only", "man:dbus-daemon(1)"),
    "cron.service": ("Regular background program processing daemon", "/usr/sbin/cron -f", "man:cron(8)"),
    "systemd-logind.service": ("User Login Management", "/lib/systemd/systemd-logind", "man:systemd-logind.service(8)"),
    "getty@tty1.service": ("Getty on tty1", "/sbin/agetty -o -p -- \\u --noclear - linux", "man:agetty(8)"),
}  # fmt: skip
"""Description, command line and manual pages."""


def install_services(machine: Machine, names: Iterable[str] = SERVICES) -> None:
    """Give a machine services and start them."""
    for name in names:
        description, command, manual = SERVICES[name]
        text = f"\n[Service]\nExecStart={command}\nRestart=always\nRestartSec=0\n"
        launch = partial(machine.host.start, command.split(), program=partial(_run, machine, name))
        Unit(machine, name, description, launch, documentation=manual, restart_s=0.1, text=text).start()


async def _run(machine: Machine, name: str, ctx: Context) -> int:
    if name == JOURNALD:
        log, folder = machine.units[name].log, f"/var/log/journal/{machine.machine_id}"
        log("Journal started")
        log(f"System Journal ({folder}) is 8.0M, max 4.0G, 3.9G free.")
    ctx.signals.on(Signal.TERM, lambda _: ctx.process.exit(0))
    while True:
        await ctx.sleep(1e9)
