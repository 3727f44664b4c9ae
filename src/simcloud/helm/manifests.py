"""Rendered text as manifests: split into documents, separated from hooks, in install order."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct, field

from simcloud.helm.errors import HelmError
from simcloud.helm.functions.encoding import json_kind
from simcloud.helm.goyaml import YamlError, read_yaml

INSTALL_ORDER: Final = (
    "PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy",
    "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass",
    "PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList",
    "ClusterRoleBinding", "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service",
    "DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler",
    "StatefulSet", "Job", "CronJob", "IngressClass", "Ingress", "APIService", "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
)  # fmt: skip
UNINSTALL_ORDER: Final = (
    "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService", "Ingress", "IngressClass",
    "Service", "CronJob", "Job", "StatefulSet", "HorizontalPodAutoscaler", "Deployment", "ReplicaSet",
    "ReplicationController", "Pod", "DaemonSet", "RoleBindingList", "RoleBinding", "RoleList", "Role",
    "ClusterRoleBindingList", "ClusterRoleBinding", "ClusterRoleList", "ClusterRole", "CustomResourceDefinition",
    "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "ConfigMap", "SecretList", "Secret",
    "ServiceAccount", "PodDisruptionBudget", "PodSecurityPolicy", "LimitRange", "ResourceQuota", "NetworkPolicy",
    "Namespace", "PriorityClass",
)  # fmt: skip
EVENTS: Final = (
    "pre-install", "post-install", "pre-delete", "post-delete", "pre-upgrade", "post-upgrade", "pre-rollback",
    "post-rollback", "test",
)  # fmt: skip
HOOK: Final = "helm.sh/hook"
WEIGHT: Final = "helm.sh/hook-weight"
DELETE_POLICY: Final = "helm.sh/hook-delete-policy"
KEEP: Final = "helm.sh/resource-policy"
_SEPARATOR: Final = re.compile(r"(?:^|\n)---\s*")


class Manifest(Struct):
    """One document, with the template it came from."""

    path: str
    text: str
    head: dict[str, Any]

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.head.get("kind") or "")

    @property
    def name(self) -> str:
        """The name in its metadata."""
        metadata = self.head.get("metadata")
        return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""

    @property
    def annotations(self) -> dict[str, Any]:
        """Its annotations."""
        metadata = self.head.get("metadata")
        found = metadata.get("annotations") if isinstance(metadata, dict) else None
        return found if isinstance(found, dict) else {}

    def format_document(self) -> str:
        """Format it as a document of a release's manifest."""
        return f"---\n# Source: {self.path}\n{self.text}\n"


class Hook(Struct):
    """A manifest that runs at certain moments of a release's life."""

    manifest: Manifest
    events: list[str]
    weight: int = 0
    delete_policies: list[str] = field(default_factory=list)
    last_run: dict[str, Any] = field(default_factory=dict)


def split(text: str) -> list[str]:
    """The documents of a text."""
    # The separator leaves the white space before it to ``strip``: matching it takes quadratic time in indented lines.
    return [part for piece in _SEPARATOR.split(text.strip()) if (part := piece.strip())]


def documents(text: str, path: str = "") -> list[Manifest]:
    """The manifests of a text; raises ``HelmError``."""
    found = []
    for part in split(text):
        head = _head(part, path)
        if head is not None:
            found.append(Manifest(path, part, head))
    return found


def _head(part: str, path: str) -> dict[str, Any] | None:
    try:
        document = read_yaml(part, exact=True)
    except YamlError as error:
        raise HelmError(f"YAML parse error on {path}: error converting YAML to JSON: {error}") from None
    if document is None:
        return {} if part else None
    if not isinstance(document, dict):
        raise HelmError(
            f"YAML parse error on {path}: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{json_kind(document)} into Go value of type releaseutil.SimpleHead"
        )
    return document


def sort_rendered(rendered: dict[str, str]) -> tuple[list[Hook], list[Manifest]]:
    """Hooks, and the rest in the order of installing."""
    hooks: list[Hook] = []
    rest: list[Manifest] = []
    for path in sorted(rendered):
        if path.rpartition("/")[2].startswith("_") or not rendered[path].strip():
            continue
        for manifest in documents(rendered[path], path):
            said = manifest.annotations.get(HOOK)
            if said is None:
                rest.append(manifest)
                continue
            hook = _hook(manifest, str(said))
            if hook is not None:
                hooks.append(hook)
    hooks.sort(key=lambda hook: _rank(hook.manifest.kind, INSTALL_ORDER))
    return hooks, in_order(rest, INSTALL_ORDER)


def _hook(manifest: Manifest, said: str) -> Hook | None:
    events = []
    for word in said.split(","):
        event = word.strip().lower()
        event = "test" if event == "test-success" else event
        if event not in EVENTS:
            return None
        events.append(event)
    try:
        weight = int(str(manifest.annotations.get(WEIGHT, 0)))
    except ValueError:
        weight = 0
    policies = str(manifest.annotations.get(DELETE_POLICY, "")).split(",")
    known = ("hook-succeeded", "hook-failed", "before-hook-creation")
    kept = [policy for word in policies if (policy := word.strip().lower()) in known]
    return Hook(manifest, events, weight, kept)


def _rank(kind: str, order: tuple[str, ...]) -> tuple[int, str]:
    return (order.index(kind), "") if kind in order else (len(order), kind)


def in_order(manifests: list[Manifest], order: tuple[str, ...]) -> list[Manifest]:
    """Manifests by their kinds; kinds that are not named come last, by name."""
    return sorted(manifests, key=lambda one: _rank(one.kind, order))
