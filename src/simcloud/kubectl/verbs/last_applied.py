"""``kubectl apply view-last-applied``, ``set-last-applied`` and ``edit-last-applied``."""

from __future__ import annotations

import json
from typing import Any, Final

from simcloud.golang.json_text import json_text
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.input.files import fail, given
from simcloud.kubectl.object_creation import with_last_applied, with_namespace, write_options
from simcloud.kubectl.output import DryRun, Teller, dry_run
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.selection import Wanted, fetch, select
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import NOTHING_SAID
from simcloud.kubernetes.api.objects import LAST_APPLIED, Object, at
from simcloud.kubernetes.api.patch import PatchType
from simcloud.kubernetes.api.verbs.patches import Patch

FORMS: Final = ("yaml", "json", "")


@command(
    "apply view-last-applied",
    "Show what was last applied of resources",
    examples=("kubectl apply view-last-applied deployment/web",),
)
async def view(kubectl: Kubectl) -> None:
    """Print the last-applied annotations."""
    flags = kubectl.flags
    if flags["output"] not in FORMS:
        raise UsageError(
            f"Unexpected -o output mode: {flags['output']}, the flag 'output' must be one of yaml|json",
            kubectl.command.full,
        )
    if not kubectl.args and not flags["filename"] and not flags.get("kustomize"):
        raise KubectlError(NOTHING_SAID)
    for info in await select(kubectl, kubectl.args, everything=True, fetch_files=True):
        last = at(info.obj, "metadata", "annotations", LAST_APPLIED)
        if last is None:
            continue
        told = _read(last)
        text = json_text(told, indent=2) + "\n" if flags["output"] == "json" else as_yaml(told)
        await kubectl.out(text)


def _read(annotation: str) -> Any:
    try:
        return json.loads(annotation)
    except (ValueError, RecursionError):
        raise KubectlError("the last-applied-configuration annotation is no JSON") from None


@command(
    "apply set-last-applied",
    "Write a file's content down as what was last applied",
    examples=("kubectl apply set-last-applied -f web.yaml --create-annotation",),
)
async def set_annotation(kubectl: Kubectl) -> None:
    """Change the annotation, and nothing else."""
    flags = kubectl.flags
    teller = Teller(kubectl, "configured")
    found = await given(kubectl)
    connection = await kubectl.connect()
    for info in found.infos:
        live = await fetch(connection, Wanted(info.resource, info.namespace, info.name))
        last = at(live, "metadata", "annotations", LAST_APPLIED)
        if last is None and not flags["create-annotation"]:
            raise KubectlError(
                f"no last-applied-configuration annotation found on resource: {info.name}, to create the annotation, "
                "run the command with --create-annotation"
            )
        wanted = _annotation_of(with_namespace(info))
        if last == wanted:
            await kubectl.out(f"set-last-applied {info.name}: no changes required.\n")
            continue
        if dry_run(kubectl) is not DryRun.CLIENT:
            change = Patch(PatchType.MERGE, {"metadata": {"annotations": {LAST_APPLIED: wanted}}})
            live = await connection.patch(
                info.resource, info.namespace, info.name, change, write_options(kubectl)
            )
        await teller.tell(info.resource, live)
    fail(kubectl, found.failures)


def _annotation_of(obj: Object) -> str:
    """The object as it is written down; an empty map of annotations is not."""
    text: str = with_last_applied(obj, keep_order=True)["metadata"]["annotations"][LAST_APPLIED]
    return json_text(json.loads(text)) + "\n"


@command(
    "apply edit-last-applied",
    "Refused, as there is no editor here: use set-last-applied",
    examples=("kubectl apply set-last-applied -f web.yaml",),
)
async def edit_annotation(kubectl: Kubectl) -> None:
    """Say what to do instead."""
    raise KubectlError(
        "there is no editor here: write a file and use 'kubectl apply set-last-applied -f FILE'"
    )
