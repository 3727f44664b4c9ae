"""The declared objects of a cluster at one moment, and the changes between two moments.

Only what users or operators wrote counts: not what the cluster derives from it (pods, endpoints, statuses, revisions), nor the
annotations of restarts and change causes.
"""

from __future__ import annotations

import json
import re
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
    ("networking.k8s.io", "ingressclasses"), ("networking.k8s.io", "ingresses"), ("networking.k8s.io", "networkpolicies"),
    ("policy", "poddisruptionbudgets"), ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"), ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"), ("scheduling.k8s.io", "priorityclasses"), ("storage.k8s.io", "storageclasses"),
)  # fmt: skip

CREATED_BY_CLUSTER: Final = frozenset({("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")})
"""Objects that the cluster creates in every namespace."""
RELEASE_RECORD: Final = "helm.sh/release.v1"
"""Type of the Secrets with helm's release history, which a repair with helm also adds to."""

Declared = Mapping[Key, Object]

_OWN_METADATA: Final = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink", "finalizers"}
)
_OWN_ANNOTATIONS: Final = (
    "deployment.kubernetes.io/", "deprecated.daemonset.", "kubectl.kubernetes.io/", "pv.kubernetes.io/", "node.alpha.kubernetes.io/",
    "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "kubernetes.io/change-cause", "meta.helm.sh/",
)  # fmt: skip
"""Annotations that kubectl, helm and controllers keep for themselves; they write them again when they need them."""
_OWN_LABEL: Final = ("app.kubernetes.io/managed-by", "Helm")
_METADATA: Final = tuple(
    (*place, "metadata", kind) for place in ((), ("spec", "template")) for kind in ("labels", "annotations")
)
_DEFAULTED: Final = frozenset({"clusterIP", "clusterIPs", "claimRef", "volumeName"})
"""Fields that the cluster fills in, by default or when a volume is bound."""
SHOWN_CHARS: Final = 80
"""Length at which a value in a description of a difference is cut."""
_WORD: Final = re.compile(r"[\w.-]{3,}")


def read_declared(api: Api) -> Declared:
    """Return all objects that are declared now."""
    found: dict[Key, Object] = {}
    for group, plural in KINDS:
        for obj in api.log.objects(group, plural):
            if obj.get("type") == RELEASE_RECORD:
                continue
            metadata = obj["metadata"]
            found[Key(group, plural, metadata.get("namespace", ""), metadata["name"])] = obj
    for obj in api.log.objects("apps", "replicasets"):
        metadata = obj["metadata"]
        if not metadata.get(
            "ownerReferences"
        ):  # nobody's but its author's, for example after --cascade=orphan
            found[Key("apps", "replicasets", metadata["namespace"], metadata["name"])] = obj
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
        elif now is not obj and any(_compare_declared(obj, now)):
            found[key] = "changed"
    found.update((key, "added") for key in after if key not in before and key[1::2] not in CREATED_BY_CLUSTER)
    return found


def find_differences(before: Object, after: Object) -> list[str]:
    """Return the paths at which the declared parts of two objects differ, such as ``spec.replicas``."""
    return [path for path, _, _ in _compare_declared(before, after)]


def describe_differences(before: Object, after: Object) -> list[str]:
    """Return the same paths with both values, such as ``spec.replicas: 1 -> 0``."""
    return [
        f"{path}: {_format_value(old)} -> {_format_value(new)}"
        for path, old, new in _compare_declared(before, after)
    ]


def _format_value(value: Any) -> str:
    text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"


def find_changed_words(before: Object | None, after: Object | None) -> list[str]:
    """Return the words that a change is made of, in lower case: names of fields, and values, that only one of the objects has.

    An object that was added has all its words; of one that was removed, only its name is a word.
    """
    if after is None:
        return [before["metadata"]["name"].lower()] if before is not None else []
    old = set(_list_words(_select_declared(before))) if before is not None else set()
    new = list(_list_words(_select_declared(after)))
    words = (word for word in new if word not in old)
    return list(dict.fromkeys((*words, *(word for word in sorted(old) if word not in new))))


def _list_words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield str(name).lower()
            yield from _list_words(child)
    elif isinstance(value, list | tuple):
        for child in value:
            yield from _list_words(child)
    else:
        yield from _WORD.findall(str(value).lower())


def find_lost_metadata(before: Object, after: Object) -> list[str]:
    """Return the labels and annotations of an object and of its pods that are missing or have another value.

    Tools find objects by them: selectors, scrape configurations, cost reports, autoscalers.
    """
    old, new = _select_declared(before), _select_declared(after)
    return [
        f"{'.'.join(place)}.{name}"
        for place in _METADATA
        for name, value in at(old, *place, default={}).items()
        if at(new, *place, default={}).get(name) != value
    ]


def _compare_declared(before: Object, after: Object) -> Iterator[tuple[str, Any, Any]]:
    """Yield each path at which the declared parts differ, and both values."""
    old, new = _select_declared(before), _select_declared(after)
    if not (_is_port_chosen(before) or _is_port_chosen(after)):
        for declared in (old, new):
            _drop_node_ports(declared)
    return _compare(old, new, "")


def has_change(
    original: Object | None, changed: Object | None, left: Object | None, now: Object | None
) -> bool:
    """Return whether an object still has everything that changed in it; an added or removed one, whether it is still so.

    What others have done to the object afterwards, and left, is no repair.
    """
    if original is None and changed is None:
        return False
    if left is None or changed is None or original is None:
        return (now is None) if left is None else (now is not None and not find_differences(left, now))
    if now is None:
        return True  # the object that somebody broke is gone altogether
    others = find_differences(left, now)
    return not any(_overlap(path, other) for path in find_differences(original, changed) for other in others)


def _overlap(path: str, other: str) -> bool:
    """Whether one path is part of the other."""
    shorter, longer = sorted((path, other), key=len)
    return longer == shorter or longer.startswith((f"{shorter}.", f"{shorter}["))


def _compare(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            if before.get(name) != after.get(name):
                yield from _compare(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            if old != new:
                yield from _compare(old, new, f"{path}[{number}]")
    else:
        yield path, before, after


def _select_declared(obj: Object) -> dict[str, Any]:
    """Return the parts of an object that its author wrote."""
    kept = {name: value for name, value in obj.items() if name not in ("metadata", "status")}
    kept["metadata"] = _select_metadata(obj["metadata"])
    spec = kept.get("spec")
    if isinstance(spec, dict):
        spec = {name: value for name, value in spec.items() if name not in _DEFAULTED}
        template = spec.get("template")
        if isinstance(template, dict):
            spec["template"] = template | {"metadata": _select_metadata(template.get("metadata") or {})}
        kept["spec"] = spec
    return kept


def _is_port_chosen(obj: Object) -> bool:
    """Whether the author of a Service chose its node ports, as far as the last-applied annotation shows."""
    applied: str = at(obj, "metadata", "annotations", LAST_APPLIED, default="")
    return not applied or '"nodePort"' in applied


def _drop_node_ports(declared: dict[str, Any]) -> None:
    """Drop the node ports, which the cluster chose, from the declared part of a Service."""
    if at(declared, "spec", "type", default="") == "NodePort":
        declared["spec"]["ports"] = [
            {name: value for name, value in port.items() if name != "nodePort"}
            for port in declared["spec"]["ports"]
        ]


def _select_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in metadata.items() if name not in _OWN_METADATA}
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(_OWN_ANNOTATIONS)
    }
    labels = {
        name: value for name, value in (metadata.get("labels") or {}).items() if (name, value) != _OWN_LABEL
    }
    kept |= {"annotations": annotations, "labels": labels}
    return {name: value for name, value in kept.items() if value or name not in ("annotations", "labels")}
