"""The declared objects of a cluster at one moment, and the changes between two moments.

Only what users or operators wrote counts: not what the cluster derives from it (pods, endpoints, statuses, revisions), nor the
annotations of restarts and change causes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api import LAST_APPLIED, Key, Object, at

if TYPE_CHECKING:
    from simcloud.kubernetes.api import Api

KINDS: Final = (
    ("apps", "daemonsets"), ("apps", "deployments"), ("apps", "statefulsets"),
    ("autoscaling", "horizontalpodautoscalers"), ("batch", "cronjobs"),
    ("", "configmaps"), ("", "limitranges"), ("", "namespaces"), ("", "nodes"), ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"), ("", "replicationcontrollers"), ("", "resourcequotas"), ("", "secrets"),
    ("", "serviceaccounts"), ("", "services"), ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("networking.k8s.io", "ingresses"), ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"), ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"), ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"), ("scheduling.k8s.io", "priorityclasses"), ("storage.k8s.io", "storageclasses"),
)  # fmt: skip

RELEASE_RECORD: Final = "helm.sh/release.v1"
"""Type of the Secrets with helm's release history, which a repair with helm also adds to."""

Declared = Mapping[Key, Object]

_OWN_METADATA: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink", "finalizers"}
)
_OWN_ANNOTATIONS: Final = (
    "deployment.kubernetes.io/", "kubectl.kubernetes.io/", "pv.kubernetes.io/", "node.alpha.kubernetes.io/",
    "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "kubernetes.io/change-cause",
)  # fmt: skip
_DEFAULTED: Final = frozenset({"clusterIP", "clusterIPs", "claimRef", "volumeName"})
"""Fields that the cluster fills in, by default or when a volume is bound."""


def read_declared(api: Api) -> Declared:
    """Return all objects that are declared now."""
    found: dict[Key, Object] = {}
    for group, plural in KINDS:
        for obj in api.log.objects(group, plural):
            if obj.get("type") == RELEASE_RECORD:
                continue
            metadata = obj["metadata"]
            found[Key(group, plural, metadata.get("namespace", ""), metadata["name"])] = obj
    return found


def find_changes(before: Declared, after: Declared) -> dict[Key, str]:
    """Return ``added``, ``removed`` or ``changed`` for each object that differs."""
    found: dict[Key, str] = {}
    if before is after:
        return found
    for key, obj in before.items():
        now = after.get(key)
        if now is None:
            found[key] = "removed"
        elif now is not obj and _select_declared(now) != _select_declared(obj):
            found[key] = "changed"
    found.update((key, "added") for key in after if key not in before)
    return found


def find_differences(before: Object, after: Object) -> list[str]:
    """Return the paths at which the declared parts of two objects differ, such as ``spec.replicas``."""
    return list(_compare(_select_declared(before), _select_declared(after), ""))


def _compare(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                yield from _compare(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            if old != new:
                yield from _compare(old, new, f"{path}[{number}]")
    else:
        yield path


def _select_declared(obj: Object) -> dict[str, Any]:
    """Return the parts of an object that its author wrote."""
    kept = {name: value for name, value in obj.items() if name not in ("metadata", "status")}
    kept["metadata"] = _select_metadata(obj["metadata"])
    spec = kept.get("spec")
    if isinstance(spec, dict):
        spec = {name: value for name, value in spec.items() if name not in _DEFAULTED}
        if spec.get("type") == "NodePort":
            spec["ports"] = _drop_chosen_ports(spec["ports"], obj["metadata"])
        template = spec.get("template")
        if isinstance(template, dict):
            spec["template"] = template | {"metadata": _select_metadata(template.get("metadata") or {})}
        kept["spec"] = spec
    return kept


def _drop_chosen_ports(ports: list[dict[str, Any]], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Drop the node ports that the cluster chose, as far as the last-applied annotation shows."""
    applied: str = at(metadata, "annotations", LAST_APPLIED, default="")
    if not applied or '"nodePort"' in applied:
        return ports
    return [{name: value for name, value in port.items() if name != "nodePort"} for port in ports]


def _select_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in metadata.items() if name not in _OWN_METADATA}
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(_OWN_ANNOTATIONS)
    }
    kept.pop("annotations", None)
    return kept | ({"annotations": annotations} if annotations else {})
