"""DefaultStorageClass and DefaultIngressClass: set the newest default class on objects that name none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import CLAIMS, Quiet, creates
from simcloud.kubernetes.api.objects import at

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_OLD_DEFAULT_CLASS: Final = "storageclass.beta.kubernetes.io/is-default-class"
DEFAULT_INGRESS_CLASS: Final = "ingressclass.kubernetes.io/is-default-class"


class DefaultStorageClass(Quiet):
    """A claim that names no class gets the default one."""

    resources = (CLAIMS,)

    def admit(self, write: Write) -> None:
        if not creates(write, CLAIMS):
            return
        spec = write.new["spec"]
        annotated = at(write.new, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class")
        if spec.get("storageClassName") is not None or annotated is not None:
            return
        default = _newest_default(
            write, ("storage.k8s.io", "storageclasses"), (DEFAULT_CLASS, _OLD_DEFAULT_CLASS)
        )
        if default is not None:
            spec["storageClassName"] = default


class DefaultIngressClass(Quiet):
    """An Ingress that names no class gets the default one."""

    resources = (("networking.k8s.io", "ingresses"),)

    def admit(self, write: Write) -> None:
        if not creates(write, ("networking.k8s.io", "ingresses")):
            return
        annotated = at(write.new, "metadata", "annotations", "kubernetes.io/ingress.class")
        if write.new["spec"].get("ingressClassName") is not None or annotated is not None:
            return
        default = _newest_default(write, ("networking.k8s.io", "ingressclasses"), (DEFAULT_INGRESS_CLASS,))
        if default is not None:
            write.new["spec"]["ingressClassName"] = default


def _newest_default(write: Write, key: tuple[str, str], annotations: tuple[str, ...]) -> str | None:
    marked = [
        candidate["metadata"]
        for candidate in write.api.log.objects(*key)
        if any(at(candidate, "metadata", "annotations", name) == "true" for name in annotations)
    ]
    if not marked:
        return None
    newest = max(metadata["creationTimestamp"] for metadata in marked)
    return min(str(metadata["name"]) for metadata in marked if metadata["creationTimestamp"] == newest)
