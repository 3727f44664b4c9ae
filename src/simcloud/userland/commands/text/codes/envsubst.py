"""``envsubst``: substitute environment variables in text."""

from __future__ import annotations

import re

from simcloud.machine.process import Context
from simcloud.userland.commands.options import Options
from simcloud.userland.commands.text.inputs import Inputs, Source, emit
from simcloud.userland.commands.text.tool import fail, tool

_VARIABLE = re.compile(rb"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")


@tool(
    "envsubst", options="v,variables", usage="[OPTION] [SHELL-FORMAT]", version="(GNU gettext-runtime) 0.21"
)
async def envsubst(ctx: Context, options: Options) -> int:
    """Replace $VARIABLE and ${VARIABLE} in standard input by their values."""
    operands = options.operands
    if "v" in options:
        if not operands:
            fail(ctx, "missing arguments")
        if len(operands) > 1:
            fail(ctx, "too many arguments")
        for name in _names(operands[0]):
            await ctx.out(f"{name.decode()}\n")
        return 0
    if len(operands) > 1:
        fail(ctx, "too many arguments")
    wanted = _names(operands[0]) if operands else None
    inputs = Inputs(ctx, [], cannot_read='error while reading "standard input": {why}')
    async for batch in Source(inputs, "-", ctx.stdin).batches():
        await emit(ctx, b"".join([_substitute(ctx, line, wanted) for line in batch]))
    return inputs.status


def _names(text: str) -> list[bytes]:
    data = text.encode("utf-8", "surrogateescape")
    return [found[1] or found[2] for found in _VARIABLE.finditer(data)]


def _substitute(ctx: Context, line: bytes, wanted: list[bytes] | None) -> bytes:
    parts: list[bytes] = []
    at = 0
    for found in _VARIABLE.finditer(line):
        name: bytes = found[1] or found[2]
        if wanted is not None and name not in wanted:
            continue
        parts.append(line[at : found.start()])
        parts.append(ctx.env.get(name.decode(), "").encode("utf-8", "surrogateescape"))
        at = found.end()
    return b"".join(parts) + line[at:]
