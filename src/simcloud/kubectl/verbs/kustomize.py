"""``kubectl kustomize``: print what a kustomization builds."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.kustomize import build
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubectl.session import Kubectl
from simcloud.machine.files import FileError

EXAMPLES: Final = ("kubectl kustomize overlays/production", "kubectl kustomize . > all.yaml")


@command("kustomize", "Build objects from a kustomization", examples=EXAMPLES)
async def kustomize(kubectl: Kubectl) -> None:
    """Print the objects."""
    if len(kubectl.args) > 1:
        raise KubectlError("specify one path to kustomization.yaml")
    objects = await build(kubectl, kubectl.args[0] if kubectl.args else ".")
    text = "---\n".join(as_yaml(obj) for obj in objects)
    path = kubectl.flags["output"]
    if not path:
        await kubectl.out(text)
        return
    try:
        kubectl.ctx.files.write(path, text.encode())
    except FileError as error:
        raise KubectlError(f"open {path}: {error.strerror.lower()}") from None
