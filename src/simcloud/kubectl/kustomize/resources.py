"""A resource during a build: its object and its former names."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct, field

from simcloud.kubectl.errors import KubectlError
from simcloud.kubernetes.api import Catalogue, Object

FIRST: Final = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
    "CronJob", "PodDisruptionBudget",
)  # fmt: skip
LAST: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


class Res(Struct):
    """One resource."""

    obj: Object
    names: list[str] = field(default_factory=list)
    """Every name it has had, the first one first."""
    hashed: bool = False
    """Whether its name shall end in the hash of its contents."""

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.obj["kind"])

    @property
    def name(self) -> str:
        """Its present name."""
        return str(self.obj["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its present namespace; empty if none is said."""
        return str(self.obj["metadata"].get("namespace") or "")

    def rename(self, name: str) -> None:
        """Give it another name, and remember this one."""
        if name != self.name:
            self.names.append(self.name)
            self.obj["metadata"]["name"] = name

    def has_name(self, name: str) -> bool:
        """Whether it has or had this name."""
        return name == self.name or name in self.names

    def format_identity(self) -> str:
        """``Deployment.v1.apps/web.[noNs]``: how errors name it."""
        return format_id(self.obj)


def format_id(obj: Object) -> str:
    """Format a resource's identity as in errors."""
    group, _, version = str(obj["apiVersion"]).rpartition("/")
    metadata = obj.get("metadata") or {}
    place = f"{metadata.get('name') or '[noName]'}.{metadata.get('namespace') or '[noNs]'}"
    return f"{obj['kind']}.{version or '[noVer]'}.{group or '[noGrp]'}/{place}"


def check_object(obj: Any, source: str) -> Object:
    """Check and normalise an object of a resource file."""
    if not isinstance(obj, dict) or not obj.get("kind"):
        raise KubectlError(f"missing Resource metadata: kind is not set in {source}")
    if not isinstance(obj.get("metadata"), dict) or not obj["metadata"].get("name"):
        raise KubectlError(
            f"missing metadata.name in object {{{{{obj.get('apiVersion', '')} {obj['kind']}}} {{{{ }}}} }}"
        )
    obj.setdefault("apiVersion", "v1")
    for part in ("labels", "annotations"):
        if obj["metadata"].get(part) is None:
            obj["metadata"].pop(part, None)
    return obj


def is_namespaced(catalogue: Catalogue, obj: Object) -> bool:
    """Whether objects of this kind have namespaces; unknown kinds are taken to have them."""
    resource = catalogue.of_kind(str(obj["apiVersion"]), str(obj["kind"]))
    return resource is None or resource.namespaced


def in_order(resources: list[Res]) -> list[Res]:
    """The order in which a cluster can take them: namespaces and what others need first."""

    def place(one: Res) -> tuple[int, str, str, str]:
        group, _, version = str(one.obj["apiVersion"]).rpartition("/")
        at = 0
        if one.kind in FIRST:
            at = FIRST.index(one.kind) - len(FIRST)
        elif one.kind in LAST:
            at = 1 + LAST.index(one.kind)
        return at, f"{group or '~G'}_{version}_{one.kind}", one.namespace, one.name

    return sorted(resources, key=place)
