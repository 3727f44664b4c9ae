"""``kubectl apply``: bring the cluster to what manifests say."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.apply.client_side import apply_object
from simcloud.kubectl.apply.prune import check_prune, prune
from simcloud.kubectl.apply.server_side import MANAGER, apply_on_server
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, WithContext
from simcloud.kubectl.input.files import fail, need_files, read_given
from simcloud.kubectl.object_creation import field_validation
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.printing.lists import as_list
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object

EXAMPLES: Final = (
    "kubectl apply -f web.yaml",
    "kubectl apply -k overlays/production",
    "kubectl apply --server-side -f web.yaml",
    "kubectl apply -f manifests/ --prune -l app=web",
)


@command("apply", "Bring resources to what files say", examples=EXAMPLES)
async def apply(kubectl: Kubectl) -> None:
    """Apply every object of the files."""
    flags = kubectl.flags
    if flags["server-side"] and not flags.is_given("field-manager"):
        flags.values["field-manager"] = MANAGER
    _check(kubectl)
    teller = Teller(kubectl, "configured")
    found = await read_given(kubectl, validate=field_validation(kubectl) != "Ignore")
    failures, applied = found.failures, []
    if not found.infos and not failures:
        raise KubectlError("no objects passed to apply")
    whole = flags["output"] not in ("", "name")
    for info in found.infos:
        try:
            obj, done = await _apply(kubectl, info)
        except (ApiError, KubectlError, WithContext) as error:
            failures.append(error)
            continue
        applied.append((info, obj))
        if not whole:
            await teller.tell(info.resource, obj, done)
    if failures:
        fail(kubectl, failures)
        return
    if whole and applied:
        objects = [obj for _, obj in applied]
        await teller.tell(applied[0][0].resource, objects[0] if len(objects) == 1 else as_list(objects))
    if flags["prune"]:
        kept = [obj["metadata"].get("uid", "") for _, obj in applied]
        namespaces = list(dict.fromkeys(info.namespace for info, _ in applied if info.namespace))
        await prune(kubectl, teller, kept, namespaces)


async def _apply(kubectl: Kubectl, info: Info) -> tuple[Object, str]:
    if kubectl.flags["server-side"]:
        return await apply_on_server(kubectl, info), "serverside-applied"
    return await apply_object(kubectl, info)


def _check(kubectl: Kubectl) -> None:
    flags = kubectl.flags
    need_files(kubectl)
    on_server = flags["server-side"]
    if flags["force-conflicts"] and not on_server:
        raise KubectlError("--force-conflicts only works with --server-side")
    if flags["force"] and on_server:
        raise KubectlError("--force cannot be used with --server-side")
    if dry_run(kubectl) is DryRun.CLIENT and on_server:
        raise KubectlError(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)"
        )
    if flags["force"] and dry_run(kubectl) is DryRun.SERVER:
        raise KubectlError("--dry-run=server cannot be used with --force")
    check_prune(kubectl)
