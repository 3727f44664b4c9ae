"""``kubectl apply view-last-applied``."""

from __future__ import annotations

import json
from typing import Any, Final

from simcloud.golang import format_json
from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError, UsageError
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.selection import select
from simcloud.kubectl.session import Kubectl
from simcloud.kubectl.verbs.delete import NOTHING_SAID
from simcloud.kubernetes.api import LAST_APPLIED, at

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
        applied = _read(last)
        text = format_json(applied, indent=2) + "\n" if flags["output"] == "json" else as_yaml(applied)
        await kubectl.out(text)


def _read(annotation: str) -> Any:
    try:
        return json.loads(annotation)
    except (ValueError, RecursionError):
        raise KubectlError("the last-applied-configuration annotation is no JSON") from None
