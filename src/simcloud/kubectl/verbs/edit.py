"""``kubectl edit``: refused, since these machines have no editor; the message names alternatives."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.selection import select
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import NOTHING_SAID

ADVICE: Final = (
    "there is no editor here. Change fields with 'kubectl patch {name} -p ...' or 'kubectl set ...', or write "
    "'kubectl get {name} -o yaml' to a file, change it with sed, and run 'kubectl apply -f' on it"
)
EXAMPLES: Final = ('kubectl patch deployment web -p \'{"spec":{"replicas":3}}\'',)


@command("edit", "Refused, as there is no editor here: use patch, set or apply", examples=EXAMPLES)
async def edit(kubectl: Kubectl) -> None:
    """Say how to change what was asked for."""
    flags = kubectl.flags
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        raise KubectlError(NOTHING_SAID)
    infos = await select(kubectl, kubectl.args, everything=True, fetch_files=True)
    if infos:
        raise KubectlError(ADVICE.format(name=infos[0].shown))
