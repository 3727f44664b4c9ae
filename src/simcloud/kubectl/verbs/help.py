"""``kubectl help``, ``kubectl options``, and commands of the genuine tool that this host refuses."""

from __future__ import annotations

from simcloud.kubectl.command import ROOT, command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.help.pages import help_of, options_text, usage_of
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.tree import child


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
    """The shell here completes by itself."""
    raise KubectlError("there is no completion to print here: this terminal completes commands by itself")


@command("proxy", "Serve the API on a local port")
async def proxy(kubectl: Kubectl) -> None:
    """Refuse: a bastion serves no proxy."""
    raise KubectlError("no proxy runs on this host: use 'kubectl get --raw /PATH' or 'kubectl port-forward'")


@command("options", "Print the flags that every command takes", hidden=True)
async def options(kubectl: Kubectl) -> None:
    """Print them."""
    await kubectl.out(options_text())
