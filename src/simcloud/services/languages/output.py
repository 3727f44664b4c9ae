"""Unbuffered lines on the standard streams of a process."""

from __future__ import annotations

from simcloud.machine.process import Context, NullStream


def print_line(ctx: Context, text: str, descriptor: int = 1) -> None:
    """Write a line to stdout or stderr without waiting.

    A process that was started without streams writes to its container's log. Where a stream takes nothing now (a full
    pipe), the line follows later, unless the process ends before.
    """
    stream = ctx.process.streams.get(descriptor)
    if stream is None:
        return
    if isinstance(stream, NullStream):
        if ctx.container.log is not None:
            ctx.container.log.line(text, "stdout" if descriptor == 1 else "stderr")
        return
    data = f"{text}\n".encode("utf-8", "surrogateescape")
    if not stream.write_at_once(data):
        ctx.spawn(stream.write(data), "output")
