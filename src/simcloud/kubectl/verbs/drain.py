"""``kubectl drain``: removes the pods of nodes before maintenance."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.drain import send_away, sort_pods
from simcloud.kubectl.errors import KubectlError, PlainError
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.cordon import SUFFIXES, nodes_named, set_cordon
from simcloud.kubernetes.api import ApiError, meta, selectors

EXAMPLES: Final = ("kubectl drain worker --ignore-daemonsets --delete-emptydir-data",)


@command("drain", "Send the pods of nodes away", examples=EXAMPLES)
async def drain(kubectl: Kubectl) -> None:
    """Cordon the nodes, then empty one after the other."""
    if kubectl.flags["pod-selector"]:
        try:
            selectors.parse_labels(kubectl.flags["pod-selector"])
        except (ApiError, ValueError):
            raise KubectlError("--pod-selector=<pod_selector> must be a valid label selector") from None
    infos = await nodes_named(kubectl)
    await set_cordon(kubectl, infos, True)
    faults: list[str] = []
    pending: list[str] = []
    for info in infos:
        wrong = await _empty(kubectl, info)
        if not wrong:
            await kubectl.out(f"node/{info.name} drained{SUFFIXES[dry_run(kubectl)]}\n")
            continue
        message = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
        await kubectl.err(
            f'error: unable to drain node "{info.name}" due to error: {message}, continuing command...\n'
        )
        faults += wrong
        pending.append(info.name)
    if pending:
        await kubectl.err(
            "There are pending nodes to be drained:\n" + "".join(f" {name}\n" for name in pending)
        )
        raise PlainError("\n".join(faults))


async def _empty(kubectl: Kubectl, info: Info) -> list[str]:
    """Send the pods of one node away; the answer is what went wrong."""
    found = await sort_pods(kubectl, info.name)
    if found.faults:
        return found.refusals()
    if found.warnings:
        await kubectl.err(f"Warning: {found.warning()}\n")
    if dry_run(kubectl) is DryRun.CLIENT:
        doing = "deleting" if kubectl.flags["disable-eviction"] else "evicting"
        for pod in found.leaving:
            await kubectl.out(f"{doing} pod {meta(pod)['namespace']}/{meta(pod)['name']} (dry run)\n")
        return []
    wrong = await send_away(kubectl, found.leaving)
    if wrong:
        left = (await sort_pods(kubectl, info.name)).leaving
        message = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
        if left:
            await kubectl.err(
                f'There are pending pods in node "{info.name}" when an error occurred: {message}\n'
            )
            for pod in left:
                await kubectl.err(f"pod/{meta(pod)['name']}\n")
    return wrong
