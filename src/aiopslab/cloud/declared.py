"""What people have declared in a cluster, at one moment; and what has changed between two.

Only what somebody wrote counts: not what the cluster works out from it (pods, endpoints, statuses, revisions), nor marks
that a restart or the noted cause of a change leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from simcloud.kubernetes.api.objects import LAST_APPLIED, Object, at
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.api import Api

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
"""The type of the Secrets in which helm writes down what it did: history, which a repair by helm goes on writing."""

Declared = Mapping[Key, Object]

_OWN_METADATA: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink", "finalizers"}
)
_OWN_ANNOTATIONS: Final = (
    "deployment.kubernetes.io/", "kubectl.kubernetes.io/", "pv.kubernetes.io/", "node.alpha.kubernetes.io/",
    "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "kubernetes.io/change-cause",
)  # fmt: skip
_GIVEN: Final = frozenset({"clusterIP", "clusterIPs", "claimRef", "volumeName"})
"""What the cluster fills in where nobody said anything, and what binding does."""


def declared(api: Api) -> Declared:
    """All that is declared now."""
    found: dict[Key, Object] = {}
    for group, plural in KINDS:
        for obj in api.log.objects(group, plural):
            if obj.get("type") == RELEASE_RECORD:
                continue
            metadata = obj["metadata"]
            found[Key(group, plural, metadata.get("namespace", ""), metadata["name"])] = obj
    return found


def changes(before: Declared, after: Declared) -> dict[Key, str]:
    """What became of each object that is not as it was: ``added``, ``removed`` or ``changed``."""
    told: dict[Key, str] = {}
    if before is after:
        return told
    for key, obj in before.items():
        now = after.get(key)
        if now is None:
            told[key] = "removed"
        elif now is not obj and _words(now) != _words(obj):
            told[key] = "changed"
    told.update((key, "added") for key in after if key not in before)
    return told


def differences(before: Object, after: Object) -> list[str]:
    """The paths at which the words of two objects differ, as ``spec.replicas``."""
    return list(_paths(_words(before), _words(after), ""))


def _paths(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                yield from _paths(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            if one != other:
                yield from _paths(one, other, f"{path}[{number}]")
    else:
        yield path


def _words(obj: Object) -> dict[str, Any]:
    """An object's own words."""
    kept = {name: value for name, value in obj.items() if name not in ("metadata", "status")}
    kept["metadata"] = _metadata(obj["metadata"])
    spec = kept.get("spec")
    if isinstance(spec, dict):
        spec = {name: value for name, value in spec.items() if name not in _GIVEN}
        if spec.get("type") == "NodePort":
            spec["ports"] = _asked_for(spec["ports"], obj["metadata"])
        template = spec.get("template")
        if isinstance(template, dict):
            spec["template"] = template | {"metadata": _metadata(template.get("metadata") or {})}
        kept["spec"] = spec
    return kept


def _asked_for(ports: list[dict[str, Any]], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Ports without those numbers on nodes that the cluster chose, as far as what was applied tells."""
    applied: str = at(metadata, "annotations", LAST_APPLIED, default="")
    if not applied or '"nodePort"' in applied:
        return ports
    return [{name: value for name, value in port.items() if name != "nodePort"} for port in ports]


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in metadata.items() if name not in _OWN_METADATA}
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(_OWN_ANNOTATIONS)
    }
    kept.pop("annotations", None)
    return kept | ({"annotations": annotations} if annotations else {})
