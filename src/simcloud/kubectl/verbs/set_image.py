"""``kubectl set image``: sets the images of containers."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import Exit, KubectlError
from simcloud.kubectl.input.sources import read_pairs, split_pairs
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
from simcloud.kubernetes.api import Object

EXAMPLES: Final = (
    "kubectl set image deploy/web nginx=nginx:1.27",
    "kubectl set image deploy,ds --all '*=registry.local/app:2'",
)

group("set", "Change one aspect of workloads and bindings", silent=True)


@command("set image", "Set the images of containers", examples=EXAMPLES)
async def set_image(kubectl: Kubectl) -> None:
    """Set the image of each container named."""
    flags = kubectl.flags
    dry_run(kubectl)
    resources, words = split_pairs(kubectl.args, "image")
    images, _ = read_pairs(words, "image", removing=False)
    if flags["local"] and resources:
        raise KubectlError(LOCAL_NEEDS_FILES)
    infos = await all_found(kubectl, resources)
    _refuse_nonsense(kubectl, images)

    def change(info: Info, obj: Object) -> None:
        spec = pod_spec(info.resource, obj)
        containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        for name, image in images.items():
            named = [container for container in containers if name in ("*", container.get("name"))]
            for container in named:
                container["image"] = image
            if not named:
                kubectl.postpone(f'error: unable to find container named "{name}"')

    await change_all(kubectl, infos, "image", change, "failed to patch image update to pod template:")


def _refuse_nonsense(kubectl: Kubectl, images: dict[str, str]) -> None:
    flags = kubectl.flags
    if flags["all"] and flags["selector"]:
        kubectl.postpone(f"error: {ALL_AND_SELECTOR}")
    if not images:
        kubectl.postpone("error: at least one image update is required")
    elif len(images) > 1 and "*" in images:
        kubectl.postpone(
            "error: all containers are already specified by *, but saw more than one "
            "container_name=container_image pairs"
        )
    if flags["local"] and dry_run(kubectl) is DryRun.SERVER:
        kubectl.postpone(f"error: {LOCAL_AND_SERVER}")
    if kubectl.postponed:
        raise Exit(1)
