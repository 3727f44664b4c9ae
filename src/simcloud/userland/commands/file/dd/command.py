"""dd: the command and the copying."""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.files import SEEK_CUR, FileError
from simcloud.machine.proc import vary
from simcloud.machine.process import Context, FileStream, Signal, Stream
from simcloud.userland.commands.file.dd.job import Job, read_job
from simcloud.userland.commands.file.dd.zeros import Zeros, is_disk, pours_nothing
from simcloud.userland.commands.file.names import complain
from simcloud.userland.commands.file.sizes import LETTERS
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.quoting import quote_name_always
from simcloud.userland.commands.text.tool import COREUTILS


class _Tally(Struct):
    whole_in: int = 0
    partial_in: int = 0
    whole_out: int = 0
    partial_out: int = 0
    copied_bytes: int = 0


@command("dd")
async def dd(ctx: Context) -> int:
    """Copy a file in blocks, with conversions."""
    if ctx.args[1:2] == ["--version"]:
        await ctx.out(f"dd {COREUTILS}\n")
        return 0
    if ctx.args[1:2] == ["--help"]:
        await ctx.out(
            f"Usage: {ctx.args[0]} [OPERAND]...\nCopy a file, converting it according to the operands.\n"
        )
        return 0
    return await _Copy(ctx, read_job(ctx)).run()


class _Copy:
    def __init__(self, ctx: Context, job: Job) -> None:
        self._ctx = ctx
        self._job = job
        self._tally = _Tally()
        self._begun_at = ctx.kernel.now
        self._pending = b""

    async def run(self) -> int:
        ctx, job = self._ctx, self._job
        try:
            source = await ctx.open(job.source) if job.source else ctx.stdin.dup()
        except FileError as error:
            return await complain(ctx, f"failed to open {quote_name_always(job.source)}", error)
        try:
            target = await self._open_target()
        except FileError as error:
            return await complain(ctx, f"failed to open {quote_name_always(job.target)}", error)
        ctx.signals.on(Signal.USR1, self._on_signal)
        status = await self._skip(source)
        pour = self._pour_zeros(target) if pours_nothing(job, target) else self._pour(source, target)
        status = await pour or status
        await self._take_time(target)
        source.close()
        target.close()
        if job.status != "none":
            await ctx.err(self._report())
        return status

    async def _take_time(self, target: Stream) -> None:
        """Let a copy last as long as the disk needs for it: past the page cache, to the disk, or in memory."""
        job, tally = self._job, self._tally
        blocks = tally.whole_out + tally.partial_out
        on_disk = isinstance(target, FileStream) and target.file.kind == "file"
        if on_disk and job.flags & {"direct", "dsync", "sync"}:
            each_s, bytes_per_s = 0.0012 if job.flags & {"dsync", "sync"} else 0.00016, 390e6
        elif on_disk and job.conversions & {"fsync", "fdatasync"}:
            each_s, bytes_per_s = 0.000003, 340e6
        else:
            each_s, bytes_per_s = 0.0000006, 2.6e9
        own = 0.8 + 0.4 * vary(f"{self._ctx.machine.name}/dd", self._ctx.kernel.now)
        needed_s = 0.00021 + own * (blocks * each_s + tally.copied_bytes / bytes_per_s)
        left_s = needed_s - (self._ctx.kernel.now - self._begun_at)
        if left_s > 0:
            await self._ctx.sleep(left_s)

    def _on_signal(self, _signal: Signal) -> None:
        self._ctx.spawn(self._ctx.err(self._report()), "dd report")

    async def _open_target(self) -> Stream:
        ctx, job = self._ctx, self._job
        if not job.target:
            return ctx.stdout.dup()
        create, exclusive = "nocreat" not in job.conversions, "excl" in job.conversions
        keep = bool(job.conversions & {"notrunc"}) or job.seek > 0
        target = await ctx.open(
            job.target, read=False, write=True, create=create, truncate=not keep, exclusive=exclusive,
            append="append" in job.flags,
        )  # fmt: skip
        if isinstance(target, FileStream) and job.seek:
            place = job.seek if "seek_bytes" in job.flags else job.seek * job.output_bytes
            if "notrunc" not in job.conversions and target.file.kind == "file":
                target.file.truncate(place)
            target.file.seek(place)
        return target

    async def _skip(self, source: Stream) -> int:
        job = self._job
        wanted = job.skip if "skip_bytes" in job.flags else job.skip * job.input_bytes
        if not wanted:
            return 0
        if isinstance(source, FileStream) and source.file.kind == "file":
            size = source.file.stat().size
            if source.file.seek(wanted, SEEK_CUR) <= size:
                return 0
        else:
            while wanted > 0:
                data = await source.read(min(wanted, job.input_bytes))
                if not data:
                    break
                self._ctx.spend_bytes(len(data))
                wanted -= len(data)
            if wanted <= 0:
                return 0
        await complain(self._ctx, f"{job.source or 'standard input'}: cannot skip to specified offset")
        return 0

    async def _pour(self, source: Stream, target: Stream) -> int:
        ctx, job, tally = self._ctx, self._job, self._tally
        left = job.count if "count_bytes" in job.flags else None
        while job.count is None or left is not None or tally.whole_in + tally.partial_in < job.count:
            size = job.input_bytes if left is None else min(left, job.input_bytes)
            if size == 0:
                break
            try:
                data = await self._block(source, size)
            except FileError as error:
                name = quote_name_always(job.source or "standard input")
                await complain(ctx, f"error reading {name}", error)
                return 1
            if not data:
                break
            ctx.spend_turn()
            ctx.spend_bytes(len(data))
            left = left - len(data) if left is not None else None
            if len(data) == job.input_bytes:
                tally.whole_in += 1
            else:
                tally.partial_in += 1
            try:
                await self._write(target, self._convert(data))
            except FileError as error:
                return await self._write_failed(error)
        try:
            await self._flush(target)
        except FileError as error:
            return await self._write_failed(error)
        return 0

    async def _pour_zeros(self, target: Stream) -> int:
        zeros, tally, size = Zeros(self._ctx, self._job, target), self._tally, self._job.input_bytes
        try:
            await zeros.pour()
            failed = 0
        except FileError as error:
            failed = await self._write_failed(error)
        tally.copied_bytes = zeros.copied_bytes
        tally.whole_out, rest = divmod(zeros.copied_bytes, size)
        tally.whole_in = tally.whole_out + bool(failed)  # the last block was read, and not written
        tally.partial_in = tally.partial_out = int(bool(rest) and not failed)
        return failed

    async def _write_failed(self, error: FileError) -> int:
        job = self._job
        if is_disk(job.source):  # it was the reading that failed
            return await complain(self._ctx, f"error reading {quote_name_always(job.source)}", error)
        return await complain(
            self._ctx, f"error writing {quote_name_always(job.target or 'standard output')}", error
        )

    async def _block(self, source: Stream, size: int) -> bytes:
        data = await source.read(size)
        while data and "fullblock" in self._job.flags and len(data) < size:
            more = await source.read(size - len(data))
            if not more:
                break
            data += more
        return data

    def _convert(self, data: bytes) -> bytes:
        conversions = self._job.conversions
        if "sync" in conversions:
            data = data.ljust(self._job.input_bytes, b"\0")
        if "swab" in conversions:
            pairs = bytearray(data)
            pairs[0 : len(data) // 2 * 2 : 2], pairs[1::2] = data[1::2], data[0 : len(data) // 2 * 2 : 2]
            data = bytes(pairs)
        if "ucase" in conversions:
            data = data.upper()
        return data.lower() if "lcase" in conversions else data

    async def _write(self, target: Stream, data: bytes) -> None:
        """Output blocks are filled before they are written, unless one size was given for both."""
        if not self._job.joined:
            await self._put(target, data)
            return
        size = self._job.output_bytes
        self._pending += data
        while len(self._pending) >= size:
            block, self._pending = self._pending[:size], self._pending[size:]
            await self._put(target, block)

    async def _flush(self, target: Stream) -> None:
        if self._pending:
            await self._put(target, self._pending)
        if isinstance(target, FileStream) and self._job.conversions & {"fsync", "fdatasync"}:
            target.file.sync()

    async def _put(self, target: Stream, block: bytes) -> None:
        tally = self._tally
        start = target.file.tell() if isinstance(target, FileStream) else 0
        try:
            await target.write(block)
        except FileError:
            if isinstance(target, FileStream):  # what fitted was written
                tally.copied_bytes += target.file.tell() - start
            raise
        tally.copied_bytes += len(block)
        if len(block) == self._job.output_bytes:
            tally.whole_out += 1
        else:
            tally.partial_out += 1

    def _report(self) -> str:
        tally = self._tally
        text = f"{tally.whole_in}+{tally.partial_in} records in\n{tally.whole_out}+{tally.partial_out} records out\n"
        if self._job.status == "noxfer":
            return text
        size, elapsed_s = tally.copied_bytes, self._ctx.kernel.now - self._begun_at
        both = (
            f" ({_human(size, 1000)}B, {_human(size, 1024)}iB)"
            if size >= 1024
            else f" ({_human(size, 1000)}B)"
        )
        plural = "s" if size != 1 else ""
        speed = f"{_human(int(size / elapsed_s), 1000)}B/s" if elapsed_s > 0 else "Infinity B/s"
        return (
            text + f"{size} byte{plural}{both if size >= 1000 else ''} copied, {elapsed_s:.6g} s, {speed}\n"
        )


def _human(size: int, base: int) -> str:
    """Rounded to the nearest, with a space before the unit."""
    power = 0
    value = float(size)
    while value >= base and power < len(LETTERS):
        value, power = value / base, power + 1
    if power == 0:
        return f"{size} " if base == 1024 else f"{value / 1000:.1f} k"
    letter = "k" if base == 1000 and power == 1 else LETTERS[power - 1]
    return f"{value:.1f} {letter}" if value < 9.95 else f"{value:.0f} {letter}"
