"""jq: a JSON reader, a parser and compiler for the language, and the machine that runs programs.

Importing the package registers the command.
"""

from simcloud.machine.process import Context
from simcloud.userland.commands.registry import command


@command("jq")
async def jq(ctx: Context) -> int:
    """Filter and change JSON."""
    from simcloud.userland.jq.command import run_jq  # every machine has the command, few run it

    return await run_jq(ctx)
