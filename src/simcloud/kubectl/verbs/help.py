"""``kubectl help``, ``kubectl options``, and ``kubectl completion``."""

from __future__ import annotations

from simcloud.golang import quote
from simcloud.kubectl.command import ROOT, command
from simcloud.kubectl.errors import UsageError
from simcloud.kubectl.help.pages import help_of, options_text, usage_of
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.tree import child

SHELLS = ("bash", "zsh", "fish", "powershell")


@command("help", "Show the help of a command", examples=("kubectl help get",), hidden=True)
async def help_command(kubectl: Kubectl) -> None:
    """The help of the command that the words lead to."""
    here = ROOT
    for word in kubectl.args:
        below = child(here, word)
        if below is None:
            break
        here = below
    if here is ROOT and kubectl.args:
        named = " ".join(f"`{word}`" for word in kubectl.args)
        await kubectl.err(f"Unknown help topic [{named}]\n\n{usage_of(ROOT)}")
        return
    await kubectl.out(help_of(here))


@command("completion", "Print completions for a shell")
async def completion(kubectl: Kubectl) -> None:
    """Print a script that a shell can source; the terminal completes by itself."""
    if not kubectl.args:
        raise UsageError("Shell not specified.", kubectl.command.full)
    if kubectl.args[0] not in SHELLS:
        raise UsageError(f"Unsupported shell type {quote(kubectl.args[0])}.", kubectl.command.full)
    await kubectl.out(f"# {kubectl.args[0]} completion for kubectl\n")


@command("options", "Print the flags that every command takes", hidden=True)
async def options(kubectl: Kubectl) -> None:
    """Print them."""
    await kubectl.out(options_text())
