"""``kubectl options``: the flags of every command."""

from __future__ import annotations

from aiopslab.kubectl.command import command
from aiopslab.kubectl.helping import options_text
from aiopslab.kubectl.session import Kubectl


@command("options", "Print the flags that every command takes", hidden=True)
async def options(kubectl: Kubectl) -> None:
    """Print them."""
    await kubectl.out(options_text())
