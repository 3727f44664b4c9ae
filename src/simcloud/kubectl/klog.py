"""Lines of the genuine tool's own log: where it tells of a failure by its log, so do we."""

from __future__ import annotations

from simcloud.kubernetes.api.times import micro
from simcloud.machine.process import Context


def klog(ctx: Context, level: str, place: str, message: str) -> str:
    """``E1115 08:44:40.094264   15446 memcache.go:265] …``"""
    moment = micro(ctx.now)
    return f"{level}{moment[5:7]}{moment[8:10]} {moment[11:26]} {ctx.process.pid:7d} {place}] {message}\n"
