"""yq (Mike Farah's): jq's language on YAML, on top of our jq.

Importing the package registers the command.
"""

from simcloud.machine.process import Context
from simcloud.userland.commands.registry import command


@command("yq")
async def yq(ctx: Context) -> int:
    """Filter and change YAML."""
    from simcloud.userland.yq.command import run_yq  # every machine has the command, few run it

    return await run_yq(ctx)
