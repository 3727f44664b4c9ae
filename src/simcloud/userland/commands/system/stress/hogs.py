"""The workers of stress and stress-ng: each is a process that uses one resource without end.

A worker costs the simulation a few events for each second of its life, whatever its size: processor time is charged
in slices, memory is counted and not filled, a file is reserved and not written.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, Process, Program

SLICE_S: Final = 0.1
TURN_S: Final = 0.01
"""So long a worker has its processor before others get a turn: their work waits in line behind it."""
TOUCH_BYTES_S: Final = 4 << 30
"""So fast memory is filled."""
STEP_BYTES: Final = 64 << 20
WRITE_BYTES_S: Final = 400 << 20
MOST_WORKERS: Final = 256


class Workload(Struct, frozen=True):
    """The numbers of workers and their settings."""

    cpu: int = 0
    io: int = 0
    vm: int = 0
    hdd: int = 0
    cpu_load: float = 1.0
    vm_bytes: int = 256 << 20
    vm_keep: bool = False
    vm_hang_s: float | None = None
    """Time before memory is released; 0 is for ever, None not at all."""
    hdd_bytes: int = 1 << 30

    def workers(self) -> list[tuple[str, Program]]:
        """A name and a program for each worker."""
        kinds = (
            ("cpu", self.cpu, _cpu(self)),
            ("io", self.io, _io),
            ("vm", self.vm, _vm(self)),
            ("hdd", self.hdd, _hdd(self)),
        )
        return [(name, program) for name, count, program in kinds for _ in range(count)]

    @property
    def counts(self) -> dict[str, int]:
        """The number of workers of each kind."""
        return {"cpu": self.cpu, "io": self.io, "vm": self.vm, "hdd": self.hdd}


def start_workers(ctx: Context, wanted: Workload) -> list[Process]:
    """Start all workers. Raises ``ForkFailed`` when the process limit is reached."""
    return [ctx.start([*ctx.args], program=program) for _, program in wanted.workers()]


def _cpu(wanted: Workload) -> Program:
    async def hog(ctx: Context) -> int:
        while True:
            await ctx.cpu(TURN_S * wanted.cpu_load)
            if wanted.cpu_load < 1:
                await ctx.sleep(TURN_S * (1 - wanted.cpu_load))

    return hog


async def _io(ctx: Context) -> int:
    while True:
        ctx.files.sync()
        await ctx.cpu(SLICE_S / 10)
        await ctx.sleep(SLICE_S)


def _vm(wanted: Workload) -> Program:
    async def hog(ctx: Context) -> int:
        own = ctx.memory.resident_bytes
        while True:
            left = wanted.vm_bytes
            while left > 0:
                step = min(left, max(STEP_BYTES, wanted.vm_bytes // 64))
                await ctx.cpu(step / TOUCH_BYTES_S)
                ctx.memory.grow(step)
                left -= step
            if wanted.vm_hang_s is not None:
                await ctx.sleep(wanted.vm_hang_s or 1e9)
            while wanted.vm_keep:
                await ctx.cpu(TURN_S)
            await ctx.cpu(TURN_S)
            ctx.memory.use(own)

    return hog


def _hdd(wanted: Workload) -> Program:
    async def hog(ctx: Context) -> int:
        path = f"./stress.{ctx.process.host_pid}"
        while True:
            try:
                ctx.files.write(path, b"", mode=0o600)
                ctx.files.allocate(path, wanted.hdd_bytes)
                await ctx.sleep(max(SLICE_S, wanted.hdd_bytes / WRITE_BYTES_S))
                ctx.files.remove(path)
            except FileError as error:
                await ctx.err(f"stress: FAIL: [{ctx.process.pid}] (591) write failed: {error.strerror}\n")
                return 1

    return hog
