"""A fast path of dd for large amounts of zeros from ``/dev/zero``, to a file or to ``/dev/null``.

The zeros are not generated: the file is given the space that they would take, in large steps that last as long as the
disk needs for them. Small copies take the normal path.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream, Stream
from simcloud.userland.commands.file.dd.job import Job

ZERO: Final = "/dev/zero"
NOWHERE: Final = "/dev/null"
STEP_BYTES: Final = 64 << 20
SMALL_BYTES: Final = 16 << 20
MOST_BYTES: Final = 1 << 50
COPY_BYTES_S: Final = 2 << 30
"""Throughput of one core."""
HARMLESS: Final = frozenset({"notrunc", "fsync", "fdatasync", "noerror", "excl", "nocreat"})


def pours_nothing(job: Job, target: Stream) -> bool:
    """Whether this is a large copy of zeros that need not be made."""
    plain = job.input_bytes == job.output_bytes and job.conversions <= HARMLESS and "append" not in job.flags
    if is_disk(job.source):
        return plain and target.describe() == NOWHERE
    if job.source != ZERO or not plain or not (job.target or target.describe() == NOWHERE):
        return False
    where = target.describe() == NOWHERE or (isinstance(target, FileStream) and target.file.kind == "file")
    return where and (job.count is None or _total(job) > SMALL_BYTES)


def is_disk(path: str) -> bool:
    """Whether a path is that of a disk, whose content cannot be seen: it reads as zeros."""
    return path.startswith("/dev/sd")


def _total(job: Job) -> int:
    blocks = job.count or 0
    return blocks if "count_bytes" in job.flags else blocks * job.input_bytes


class Zeros:
    """One copy of zeros. ``copied_bytes`` grows while it runs."""

    def __init__(self, ctx: Context, job: Job, target: Stream) -> None:
        self._ctx = ctx
        self._job = job
        self._target = target
        self.copied_bytes = 0

    async def pour(self) -> None:
        """Copy to the end, which never comes without a count; ``FileError`` when there is no room for more."""
        total = _total(self._job) if self._job.count is not None else None
        if is_disk(self._job.source):
            await self._read_disk(total)
            return
        while total is None or self.copied_bytes < total:
            step = STEP_BYTES if total is None else min(STEP_BYTES, total - self.copied_bytes)
            self._ctx.spend_turn()
            await self._ctx.cpu(step / COPY_BYTES_S)
            if isinstance(self._target, FileStream) and self._target.file.kind == "file":
                await self._extend(self._target, step)
            self.copied_bytes += step

    async def _read_disk(self, total: int | None) -> None:
        """Read a disk, which takes its time and may fail."""
        device = self._ctx.files.open(self._job.source)
        total = min(total if total is not None else MOST_BYTES, self._ctx.machine.disk.capacity_bytes)
        try:
            while self.copied_bytes < total:
                step = min(STEP_BYTES, total - self.copied_bytes)
                self._ctx.spend_turn()
                device.read(1)
                await self._ctx.sleep(device.io_delay_s(step))
                self.copied_bytes += step
        finally:
            device.close()

    async def _extend(self, target: FileStream, step: int) -> None:
        files, path, place = self._ctx.files, self._job.target, target.file.tell()
        try:
            files.allocate(path, max(place + step, target.file.stat().size))
        except FileError as error:
            if error.code == "ENOSPC":
                room = files.space(path).free_bytes
                files.allocate(path, place + room)
                self.copied_bytes += room
            raise
        target.file.seek(place + step)
        delay_s = target.file.io_delay_s(step)
        if delay_s:
            await self._ctx.sleep(delay_s)
