"""``kubectl cordon`` and ``kubectl uncordon``: mark nodes as unschedulable or schedulable."""

from __future__ import annotations

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import Exit, KubectlError, UsageError
from simcloud.kubectl.object_changes import send_difference
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.selection import Info, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object, at

SUFFIXES = {DryRun.NONE: "", DryRun.CLIENT: " (dry run)", DryRun.SERVER: " (server dry run)"}


@command("cordon", "Keep new pods away from nodes", examples=("kubectl cordon worker",))
async def cordon(kubectl: Kubectl) -> None:
    """Mark nodes unschedulable."""
    await set_cordon(kubectl, await nodes_named(kubectl), True)


@command("uncordon", "Let new pods come to nodes again", examples=("kubectl uncordon worker",))
async def uncordon(kubectl: Kubectl) -> None:
    """Mark nodes schedulable."""
    await set_cordon(kubectl, await nodes_named(kubectl), False)


async def nodes_named(kubectl: Kubectl) -> list[Info]:
    """The nodes that the command line means; if one is missing nothing is done at all."""
    full, name = kubectl.command.full, kubectl.command.name
    selected = kubectl.flags.is_given("selector")
    if not kubectl.args and not selected:
        raise UsageError(f"USAGE: {name} NODE [flags]", full)
    if kubectl.args and kubectl.flags["selector"]:
        raise UsageError("cannot specify both a node name and a --selector option", full)
    dry_run(kubectl)
    infos: list[Info] = []
    if selected:
        infos = await select(kubectl, ["nodes"], everything=True)
    for word in kubectl.args:
        infos += await select(kubectl, [word] if "/" in word else ["nodes", word])
    if kubectl.postponed:
        raise Exit(1)
    return infos


async def set_cordon(kubectl: Kubectl, infos: list[Info], wanted: bool) -> None:
    """Cordon nodes, or end that; and say so."""
    verb = "cordon" if wanted else "uncordon"
    suffix = SUFFIXES[dry_run(kubectl)]
    for info in infos:
        if info.resource.kind != "Node":
            raise KubectlError(
                f'unable to {verb} node "{info.name}": expected a node, got {info.resource.kind}'
            )
        if bool(at(info.obj, "spec", "unschedulable")) == wanted:
            await kubectl.out(f"node/{info.name} already {verb}ed{suffix}\n")
            continue
        change: Object = {"spec": {"unschedulable": True if wanted else None}}
        if dry_run(kubectl) is not DryRun.CLIENT:
            try:
                await send_difference(kubectl, info, change)
            except ApiError as error:
                kubectl.postpone(f'error: unable to {verb} node "{info.name}": {error.message}')
                continue
        await kubectl.out(f"node/{info.name} {verb}ed{suffix}\n")
