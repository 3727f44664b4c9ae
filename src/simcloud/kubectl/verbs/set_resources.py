"""``kubectl set resources``: sets requests and limits of containers."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_changes import (
    ALL_AND_SELECTOR,
    LOCAL_AND_SERVER,
    LOCAL_NEEDS_FILES,
    all_found,
    change_all,
    pod_spec,
)
from simcloud.kubectl.output import DryRun, dry_run
from simcloud.kubectl.selection import Info
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object, quantity

EXAMPLES: Final = (
    "kubectl set resources deploy/web --requests=cpu=100m,memory=128Mi --limits=memory=256Mi",
    "kubectl set resources deploy/web -c=nginx --limits=cpu=200m",
)


@command("set resources", "Set requests and limits of containers", examples=EXAMPLES)
async def set_resources(kubectl: Kubectl) -> None:
    """Set what is given; what is not given stays."""
    flags = kubectl.flags
    tried = dry_run(kubectl)
    if flags["local"] and kubectl.args:
        raise KubectlError(LOCAL_NEEDS_FILES)
    infos = await all_found(kubectl, kubectl.args)
    if flags["local"] and tried is DryRun.SERVER:
        raise KubectlError(LOCAL_AND_SERVER)
    if flags["all"] and flags["selector"]:
        raise KubectlError(ALL_AND_SELECTOR)
    if not flags["limits"] and not flags["requests"]:
        raise KubectlError(
            "you must specify an update to requests or limits (in the form of --requests/--limits)"
        )
    wanted = {key: amounts(flags[key]) for key in ("limits", "requests")}

    def change(info: Info, obj: Object) -> None:
        spec, pattern = pod_spec(info.resource, obj), flags["containers"]
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        named = [
            container for container in containers if fnmatchcase(str(container.get("name", "")), pattern)
        ]
        if not named:
            kubectl.postpone(f"error: unable to find container named {pattern}")
        for container in named:
            resources = container.setdefault("resources", {})
            for key, values in wanted.items():
                if values:
                    resources[key] = {**(resources.get(key) or {}), **values}

    await change_all(
        kubectl, infos, "resource requirements", change, "failed to patch resources update to pod template"
    )


def amounts(text: str) -> dict[str, str]:
    """Amounts by their resources, as ``cpu=100m,memory=1Gi`` gives them."""
    if not text:
        return {}
    found: dict[str, str] = {}
    for pair in text.split(","):
        parts = pair.split("=")
        if len(parts) != 2:
            raise KubectlError(f"Invalid argument syntax {pair}, expected <resource>=<value>")
        try:
            found[parts[0]] = quantity.canonical(parts[1])
        except ValueError as error:
            raise KubectlError(str(error)) from None
    return found
