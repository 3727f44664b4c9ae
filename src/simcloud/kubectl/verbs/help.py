"""``kubectl help COMMAND``, and the commands of the genuine tool that this host answers in a sentence."""

from __future__ import annotations

from simcloud.kubectl.command import ROOT, command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.help.pages import help_of, usage_of
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


@command("alpha", "Commands that are still being tried out", hidden=True)
async def alpha(kubectl: Kubectl) -> None:
    """There are none."""
    await kubectl.err("No alpha commands are available in this version of kubectl\n")


@command("completion", "Print completions for a shell")
async def completion(kubectl: Kubectl) -> None:
    """The shell here completes by itself."""
    raise KubectlError("there is no completion to print here: this terminal completes commands by itself")


@command("plugin", "Work with plugins")
async def plugin(kubectl: Kubectl) -> None:
    """A bastion has none."""
    raise KubectlError("there are no plugins on this host: use the commands that 'kubectl help' lists")


@command("kuberc", "Work with preferences")
async def kuberc(kubectl: Kubectl) -> None:
    """A bastion keeps none."""
    raise KubectlError(
        "no preferences are kept on this host: set a namespace by 'kubectl config set-context'"
    )


@command("proxy", "Serve the API on a local port")
async def proxy(kubectl: Kubectl) -> None:
    """Nothing is served from a bastion."""
    raise KubectlError("no proxy runs on this host: use 'kubectl get --raw /PATH' or 'kubectl port-forward'")


@command("auth reconcile", "Bring roles and bindings to what files say")
async def reconcile(kubectl: Kubectl) -> None:
    """The genuine one of this release panics."""
    raise KubectlError("roles and bindings are not reconciled on this host: use 'kubectl apply -f FILE'")
