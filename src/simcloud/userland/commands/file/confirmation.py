"""Prompts before files are overwritten or removed."""

from __future__ import annotations

from simcloud.machine.process import Context


async def is_agreed(ctx: Context, question: str) -> bool:
    """Put a question on stderr and read a line from stdin: only what begins with a y agrees."""
    await ctx.err(f"{ctx.args[0]}: {question}? ")
    answer = b""
    while (byte := await ctx.stdin.read(1)) not in (b"", b"\n"):
        ctx.spend_bytes(1)
        answer += byte
    return answer[:1] in (b"y", b"Y")
