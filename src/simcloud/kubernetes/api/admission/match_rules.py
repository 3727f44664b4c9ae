"""Matching of writes to webhooks and policies: resource rules, namespace selectors and object selectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import namespace_of
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import from_label_selector

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

GROUP: Final = "admissionregistration.k8s.io"
_EXEMPT: Final = frozenset(
    {
        (GROUP, "mutatingwebhookconfigurations"),
        (GROUP, "validatingadmissionpolicies"),
        (GROUP, "validatingadmissionpolicybindings"),
        (GROUP, "validatingwebhookconfigurations"),
    }
)
"""A broken policy must not keep anybody from repairing it."""


def exempt(write: Write) -> bool:
    """Whether a write is beyond the reach of webhooks and policies."""
    return write.resource.key in _EXEMPT


def match_resource(write: Write, match: Object, rules: str) -> Resource | None:
    """The resource, in the version that was asked for, as which a write is matched; None if it is not.

    ``match`` carries the selectors, and the rules under the name ``rules``.
    """
    found = next(_by_rules(write, match.get(rules) or [], match.get("matchPolicy")), None)
    if found is None or next(_by_rules(write, match.get("excludeResourceRules") or [], None), None):
        return None
    return found if _in_namespace(write, match) and _matches_selectors(write, match) else None


def _by_rules(write: Write, rules: list[Object], policy: str | None) -> Iterator[Resource]:
    for rule in rules:
        if not _operates(rule, write) or not _matches_scope(rule, write) or not _matches_name(rule, write):
            continue
        if not any(_resource(pattern, write) for pattern in rule.get("resources") or ()):
            continue
        yield from (
            version
            for version in _versions(write, policy)
            if _has(rule.get("apiGroups"), version.group) and _has(rule.get("apiVersions"), version.version)
        )


def _has(listed: list[str] | None, one: str) -> bool:
    return listed is not None and ("*" in listed or one in listed)


def _versions(write: Write, policy: str | None) -> Iterator[Resource]:
    """The written resource, and unless only the exact one will do, its other versions."""
    yield write.resource
    if policy == "Exact":
        return
    group = write.api.catalogue.groups.get(write.resource.group)
    for version in group.versions if group is not None else ():
        other = write.api.catalogue.at(write.resource.group, version, write.resource.plural)
        if other is not None and version != write.resource.version:
            yield other


def _operates(rule: Object, write: Write) -> bool:
    return _has(rule.get("operations"), write.operation)


def _matches_scope(rule: Object, write: Write) -> bool:
    scope = rule.get("scope") or "*"
    return scope == "*" or (scope == "Namespaced") == write.resource.namespaced


def _matches_name(rule: Object, write: Write) -> bool:
    names = rule.get("resourceNames") or ()
    return not names or write.key.name in names


def _resource(pattern: str, write: Write) -> bool:
    plural, _, part = pattern.partition("/")
    if part == "" and write.subresource:
        return False
    return plural in ("*", write.resource.plural) and (part in ("*", write.subresource))


def _in_namespace(write: Write, match: Object) -> bool:
    selector = match.get("namespaceSelector")
    if not selector:
        return True
    if write.resource.key == ("", "namespaces"):
        labels = write.new["metadata"].get("labels")
    elif not write.resource.namespaced:
        return True
    else:
        labels = ((namespace_of(write) or {}).get("metadata") or {}).get("labels")
    return from_label_selector(selector).matches(labels or {})


def _matches_selectors(write: Write, match: Object) -> bool:
    selector = match.get("objectSelector")
    if not selector:
        return True
    wanted = from_label_selector(selector)
    shown = [obj for obj in (write.new, write.old) if obj is not None]
    return any(wanted.matches((obj.get("metadata") or {}).get("labels") or {}) for obj in shown)
