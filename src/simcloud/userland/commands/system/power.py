"""Commands that stop the machine: shutdown, poweroff, reboot, halt.

They ask the init system, so they work for root from the machine's own root only. With ``-f`` they do not ask and need
the right to boot. In a container there is no init system to ask.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine import turn_off
from simcloud.machine.process import Context, ProgramMachine
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.dates import Moment, format_moment, zone_of
from simcloud.userland.commands.system.services import need_systemd
from simcloud.userland.commands.text.tool import tool

VERSION: Final = "252 (252.39-1~deb12u1)"
MINUTE_S: Final = 60
DAY_S: Final = 86_400
MOST_MINUTES: Final = 10_000_000


@tool(
    "poweroff",
    "reboot",
    "halt",
    options="f,force p,poweroff halt reboot w,wtmp-only d,no-wtmp n,no-sync no-wall",
    usage="[OPTIONS...]",
    version=VERSION,
)
async def poweroff(ctx: Context, options: Options) -> int:
    """Turn the machine off, or off and on again."""
    name = ctx.args[0].rpartition("/")[2]
    verb = next((each for each in ("reboot", "halt", "poweroff") if options.any(each)), name)
    if options.any("p"):
        verb = "poweroff"
    if options.any("w"):
        return 0
    if options.any("f"):
        if not ctx.capable("SYS_BOOT"):
            raise UsageError("Rebooting.\nFailed to reboot: Operation not permitted")
        turn_off(ctx.machine, again=verb == "reboot", orderly=False)
        return 0
    need_systemd(ctx)
    _need_root(ctx, verb)
    turn_off(ctx.machine, again=verb == "reboot")
    return 0


def _need_root(ctx: Context, verb: str) -> None:
    if ctx.files.uid != 0:
        raise UsageError(f"Failed to {verb} system via logind: Interactive authentication required.")


@tool("shutdown", options="H,halt P,poweroff r,reboot h k c no-wall show", usage="[OPTIONS...] [TIME] [WALL...]",
      version=VERSION)  # fmt: skip
async def shutdown(ctx: Context, options: Options) -> int:
    """Turn the machine off now or at a time, or call that off."""
    need_systemd(ctx)
    _need_root(ctx, "reboot" if options.any("r") else "poweroff")
    machine, again = ctx.machine, options.any("r")
    if options.any("c"):
        machine.off_at = None
        return 0
    wait_s = _wait_s(ctx, options.operands[0] if options.operands else "+1")
    if options.any("k"):
        return 0
    if not wait_s:
        turn_off(machine, again=again)
        return 0
    at = machine.kernel.now + wait_s
    machine.off_at = at
    machine.kernel.call_later(wait_s, _due, (machine, at, again))
    when = format_moment(Moment.of(ctx.now + wait_s), "%a %Y-%m-%d %H:%M:%S %Z", zone_of(ctx.env))
    what = "Reboot" if again else "Shutdown"
    await ctx.err(f"{what} scheduled for {when}, use 'shutdown -c' to cancel.\n")
    return 0


def _due(planned: tuple[ProgramMachine, float, bool]) -> None:
    machine, at, again = planned
    if machine.off_at == at and machine.running:
        machine.off_at = None
        turn_off(machine, again=again)


def _wait_s(ctx: Context, word: str) -> float:
    """``now``, ``+5`` (minutes) or a time of day."""
    if word == "now":
        return 0.0
    minutes = word.removeprefix("+")
    if minutes.isdecimal() and len(minutes) < 8:
        return float(MINUTE_S * min(int(minutes), MOST_MINUTES))
    hour, colon, minute = word.partition(":")
    if colon and hour.isdecimal() and minute.isdecimal() and int(hour[:3]) < 24 and int(minute[:3]) < 60:
        wanted = int(hour) * 3600 + int(minute) * MINUTE_S
        return (wanted - ctx.now % DAY_S) % DAY_S
    raise UsageError(f"Failed to parse time specification: {word}")
