"""``kubectl delete``: deletes objects by name, by selector, all of a kind, or from files, and waits until they are gone."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.flags import BOOLEANS
from simcloud.kubectl.input.files import Failures, fail, read_given, with_source
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.raw import raw
from simcloud.kubectl.selection import Info, info_of, list_requests
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.wait_loop import until_gone
from simcloud.kubernetes.api import ApiError, DeleteOptions, Object, at

EXAMPLES: Final = (
    "kubectl delete pod web-1",
    "kubectl delete deploy,svc -l app=web",
    "kubectl delete -f web.yaml --ignore-not-found",
    "kubectl delete pod stuck --grace-period=0 --force",
)
NOTHING_SAID: Final = (
    "You must provide one or more resources by argument or filename.\n"
    "Example resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n"
    "   '<resource>'"
)
IMMEDIATE: Final = (
    "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The "
    "resource may continue to run on the cluster indefinitely.\n"
)
CLUSTER_WIDE: Final = "Warning: deleting cluster-scoped resources, not scoped to the provided namespace\n"
CASCADES: Final = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}
SUFFIXES: Final = {DryRun.NONE: "", DryRun.CLIENT: " (dry run)", DryRun.SERVER: " (server dry run)"}


class Manner(Struct, frozen=True):
    """How objects are deleted."""

    options: DeleteOptions
    forced: bool
    wait: bool
    timeout_s: float
    ignore_missing: bool


@command("delete", "Delete resources by name, selector or file", examples=EXAMPLES)
async def delete(kubectl: Kubectl) -> None:
    """Delete what is named, and wait for it."""
    flags = kubectl.flags
    if kubectl.flags["raw"]:
        await kubectl.out(await raw(kubectl, kubectl.flags["raw"], "DELETE"))
        return
    _check(kubectl)
    manner = await manner_of(kubectl)
    failures: Failures = []
    infos = await _targets(kubectl, failures)
    if flags["interactive"] and infos and not await _confirm(kubectl, infos):
        await kubectl.out("deletion is cancelled\n")
        return
    if flags["force"] and manner.options.grace_s == 0:
        await kubectl.err(IMMEDIATE)
    await delete_all(kubectl, infos, manner, failures)
    fail(kubectl, failures)


async def _confirm(kubectl: Kubectl, infos: list[Info]) -> bool:
    """Ask whether to delete the objects."""
    names = "".join(f"{info.shown}\n" for info in infos)
    question = "Do you want to continue? (y/N): "
    await kubectl.out(f"You are about to delete the following {len(infos)} resource(s):\n{names}{question}")
    answer = await kubectl.ctx.stdin.read()
    return answer.decode(errors="replace").strip() in ("y", "Y")


def _check(kubectl: Kubectl) -> None:
    flags = kubectl.flags
    if flags["output"] not in ("", "name"):
        raise KubectlError(f"unexpected -o output mode: {flags['output']}. We only support '-o name'")
    if flags["all"] and flags["selector"]:
        raise KubectlError("setting 'all' parameter but found a non empty selector. ")
    if not kubectl.args and not flags["filename"] and not flags["kustomize"]:
        if flags["all"] or flags["selector"] or flags["field-selector"]:
            raise KubectlError("at least one resource must be specified to use a selector")
        raise KubectlError(NOTHING_SAID)


async def manner_of(kubectl: Kubectl) -> Manner:
    """What the flags say of how to delete."""
    flags = kubectl.flags
    grace: int = flags["grace-period"]
    if flags.get("now"):
        if grace != -1:
            raise KubectlError("--now and --grace-period cannot be specified together")
        grace = 1
    wait = bool(flags["wait"])
    if flags["force"]:
        if grace > 0:
            raise KubectlError("--force and --grace-period greater than 0 cannot be specified together")
        grace = 0
        wait = wait and flags.is_given("wait")
    elif grace == 0:
        grace = 1  # without --force the kubelet is waited for
    tried = dry_run(kubectl)
    selected = flags.get("all") or flags.get("selector") or flags.get("field-selector")
    ignore = bool(flags.get("ignore-not-found"))
    if selected and not flags.is_given("ignore-not-found"):
        ignore = True
    options = DeleteOptions(
        grace_s=grace if grace >= 0 else None,
        propagation=await _cascade(kubectl),
        dry_run=tried is DryRun.SERVER,
    )
    return Manner(
        options, bool(flags["force"]) and grace == 0, wait and tried is DryRun.NONE, flags["timeout"], ignore
    )


async def _cascade(kubectl: Kubectl) -> str:
    said = kubectl.flags["cascade"]
    if said in BOOLEANS:
        meant = "background" if BOOLEANS[said] else "orphan"
        await kubectl.err(
            f"warning: --cascade={said} is deprecated (boolean value) and can be replaced with --cascade={meant}.\n"
        )
        said = meant
    if said not in CASCADES:
        raise KubectlError(f'invalid cascade value ({said}). Must be "background", "foreground", or "orphan"')
    return CASCADES[said]


async def _targets(kubectl: Kubectl, failures: Failures) -> list[Info]:
    """What to delete; an object that is named is not looked at before."""
    flags = kubectl.flags
    if flags["filename"] or flags["kustomize"]:
        if kubectl.args:
            raise KubectlError(
                "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
            )
        found = await read_given(kubectl)
        failures.extend(found.failures)
        return found.infos
    wanted = await list_requests(kubectl)
    selected = flags["all"] or flags["selector"] or flags["field-selector"]
    if not selected and any(not request.name for request in wanted):
        raise KubectlError("resource(s) were provided, but no name was specified")
    connection = await kubectl.connect()
    infos: list[Info] = []
    for request in wanted:
        if request.name:
            infos.append(
                Info(
                    request.resource,
                    request.namespace or "",
                    request.name,
                    {"metadata": {"name": request.name}},
                )
            )
            continue
        try:
            listed = await connection.list(
                request.resource, request.namespace, labels=flags["selector"], fields=flags["field-selector"]
            )
        except ApiError as error:
            failures.append(error)
            continue
        infos.extend(info_of(request.resource, obj) for obj in listed)
    return infos


async def delete_all(kubectl: Kubectl, infos: list[Info], manner: Manner, failures: Failures) -> None:
    """Delete objects, tell each, and wait for all of them."""
    warned_of_scope = False
    waiting: list[tuple[Info, str]] = []
    for info in infos:
        if kubectl.flags.is_given("namespace") and not info.resource.namespaced and not warned_of_scope:
            await kubectl.err(CLUSTER_WIDE)
            warned_of_scope = True
        try:
            left = await _delete(kubectl, info, manner)
        except ApiError as error:
            if not (manner.ignore_missing and error.reason == "NotFound"):
                failures.append(with_source("deleting", info.source, error))
            continue
        await _tell(kubectl, info, manner)
        if manner.wait:
            waiting.append((info, at(left, "metadata", "uid") or at(left, "details", "uid") or ""))
    if not infos and not failures:
        await kubectl.out("No resources found\n")
    for info, uid in waiting:
        try:
            await until_gone(kubectl, info, manner.timeout_s, uid)
        except KubectlError as error:
            failures.append(error)


async def _delete(kubectl: Kubectl, info: Info, manner: Manner) -> Object:
    connection = await kubectl.connect()
    if dry_run(kubectl) is DryRun.CLIENT:
        return info.obj
    return await connection.delete(info.resource, info.namespace, info.name, manner.options)


async def _tell(kubectl: Kubectl, info: Info, manner: Manner) -> None:
    if kubectl.flags.get("quiet"):
        return
    if kubectl.flags.get("output") == "name" and kubectl.command.name == "delete":
        await kubectl.out(f"{info.shown}\n")
        return
    kind = info.shown.rpartition("/")[0]
    done = "force deleted" if manner.forced else "deleted"
    place = f" from {info.namespace} namespace" if info.resource.namespaced else ""
    await kubectl.out(f'{kind} "{info.name}" {done}{place}{SUFFIXES[dry_run(kubectl)]}\n')
