"""Pipes, captures and lines."""

from __future__ import annotations

from hypothesis import given, strategies as st

from simcloud.machine.process import ByteSource, KilledBySignal, LineSink, Pipe, Signal, read_all, read_lines
from simcloud.machine.process.streams import PIPE_BYTES
from simcloud.sim import Kernel


def test_a_writer_waits_when_the_pipe_is_full() -> None:
    kernel = Kernel()
    pipe = Pipe(kernel)
    written = []

    async def write() -> None:
        await pipe.writer.write(b"x" * PIPE_BYTES)
        written.append("first")
        await pipe.writer.write(b"y")
        written.append("second")
        pipe.writer.close()

    kernel.spawn(write(), "writer")
    kernel.run_for(1.0)
    assert written == ["first"]
    data = kernel.run_task(kernel.spawn(read_all(pipe.reader), "reader"))
    assert (len(data), data[-1:], written) == (PIPE_BYTES + 1, b"y", ["first", "second"])


def test_writing_where_nobody_reads_is_a_broken_pipe() -> None:
    kernel = Kernel()
    pipe = Pipe(kernel)
    caught = []

    async def write() -> None:
        try:
            await pipe.writer.write(b"x" * (PIPE_BYTES + 1))
        except KilledBySignal as death:
            caught.append(death.signal)

    kernel.spawn(write(), "writer")
    kernel.run_for(1.0)
    pipe.reader.close()
    kernel.run_for(1.0)
    assert caught == [Signal.PIPE]


def test_a_pipe_ends_when_its_last_holder_lets_go() -> None:
    kernel = Kernel()
    pipe = Pipe(kernel)
    other = pipe.writer.dup()
    reader = kernel.spawn(read_all(pipe.reader), "reader")
    pipe.writer.close()
    kernel.run_for(1.0)
    assert not reader.done
    other.close()
    assert kernel.run_task(reader) == b""


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_lines_come_out_as_they_went_in(chunks: list[bytes]) -> None:
    kernel = Kernel()
    data = b"".join(chunks)
    taken: list[bytes] = []
    sink = LineSink(taken.append)

    async def copy() -> list[bytes]:
        for chunk in chunks:
            await sink.write(chunk)
        sink.close()
        return [line async for line in read_lines(ByteSource(data))]

    lines = kernel.run_task(kernel.spawn(copy(), "copy"))
    assert b"".join(lines) == data
    assert [line.removesuffix(b"\n") for line in lines] == taken
