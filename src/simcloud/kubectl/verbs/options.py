"""``kubectl options``: the flags of every command."""

from __future__ import annotations

from simcloud.kubectl.command import command
from simcloud.kubectl.help.pages import options_text
from simcloud.kubectl.session import Kubectl


@command("options", "Print the flags that every command takes", hidden=True)
async def options(kubectl: Kubectl) -> None:
    """Print them."""
    await kubectl.out(options_text())
