"""``openssl``: its commands on certificates."""

from __future__ import annotations

from simcloud.machine.process import Context
from simcloud.userland.commands.registry import command


@command("openssl")
async def openssl(ctx: Context) -> int:
    """Look at certificates."""
    words = ctx.args[1:]
    if not words or words[0] not in ("x509", "s_client", "version"):
        await ctx.err(f"Invalid command '{words[0] if words else ''}'; type \"help\" for a list.\n")
        return 1
    if words[0] == "version":
        await ctx.out("OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)\n")
        return 0
    # Reading certificates takes a library of eight megabytes; hardly anybody looks at one.
    from simcloud.userland.commands.net.certificates import look

    return await look(ctx, words[0], words[1:])
