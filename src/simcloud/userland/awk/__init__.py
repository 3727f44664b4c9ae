"""Awk: an interpreter for the whole language, as a program on simulated machines.

``command`` parses the command line; ``lexer`` and ``parser`` build a tree; ``analysis`` finds which expressions may wait
and which names are arrays; ``compiler`` and the ``*_code`` modules compile the tree to Python functions; ``interpreter``
runs them over ``records``. The interpreter is our own so that it streams, runs its commands in our shell and in virtual
time, and stops after a fixed number of steps.

The reference is gawk 5.2. Differences are listed in ``docs/differences/awk.md``.
"""

from simcloud.exports import export_lazily
from simcloud.machine.process import Context
from simcloud.userland.commands.registry import command

with export_lazily(globals()):
    from simcloud.userland.awk.flat import (
        invoke as invoke,
        run_flat as run_flat,
    )


@command("awk", "gawk", "mawk", "nawk")
async def awk(ctx: Context) -> int:
    """Run an awk program over files."""
    from simcloud.userland.awk.command import run_awk  # every machine has the command, few run it

    return await run_awk(ctx)
