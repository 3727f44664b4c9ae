"""The rules of roles: what they allow, whether some rules cover others, and aggregation of ClusterRoles.

A ``Rule`` is a role's rule, parsed once for many checks. A field that is missing from a malformed rule allows
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from simcloud.kubernetes.api.access.attributes import Attributes
from simcloud.kubernetes.api.errors import quote_list
from simcloud.kubernetes.api.objects import Object, at, copy, name_of
from simcloud.kubernetes.api.selectors import from_label_selector

_BREAKDOWN_LIMIT = 50_000
"""A rule that says more single things than this is compared as a whole."""


class Rule(Struct, frozen=True):
    """Verbs on resources, or on paths that are no resources."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @classmethod
    def read(cls, rule: Any) -> Rule:
        """A rule from a role's JSON form."""
        if not isinstance(rule, dict):
            return cls()
        return cls(
            _texts(rule.get("verbs")),
            _texts(rule.get("apiGroups")),
            _texts(rule.get("resources")),
            _texts(rule.get("resourceNames")),
            _texts(rule.get("nonResourceURLs")),
        )

    def allows(self, wish: Attributes) -> bool:
        """Whether this rule alone is enough for the wish."""
        if wish.verb not in self.verbs and "*" not in self.verbs:
            return False
        if wish.path is not None:
            return any(_path_covers(path, wish.path) for path in self.paths)
        if wish.group not in self.groups and "*" not in self.groups:
            return False
        if self.names and wish.name not in self.names:
            return False
        return self._has_resource(wish.resource, wish.subresource)

    def _has_resource(self, resource: str, subresource: str) -> bool:
        if resource in self.resources or "*" in self.resources:
            return True
        return bool(subresource) and f"*/{subresource}" in self.resources

    def covers(self, other: Rule) -> bool:
        """Whether everything that the other rule allows, this one allows."""
        return (
            ("*" in self.verbs or set(self.verbs).issuperset(other.verbs))
            and ("*" in self.groups or set(self.groups).issuperset(other.groups))
            and all(self._has_resource(resource, resource.partition("/")[2]) for resource in other.resources)
            and (not self.names or (bool(other.names) and set(self.names).issuperset(other.names)))
            and all(any(_path_covers(own, path) for own in self.paths) for path in other.paths)
        )

    def singles(self) -> Iterator[Rule]:
        """The same, said one verb, one resource and one name at a time."""
        for group, resource, verb, name in product(
            self.groups, self.resources, self.verbs, self.names or ("",)
        ):
            yield Rule((verb,), (group,), (resource,), (name,) if name else ())
        for path, verb in product(self.paths, self.verbs):
            yield Rule((verb,), paths=(path,))

    def size(self) -> int:
        """How many ``singles`` there are."""
        resources = prod(map(len, (self.groups, self.resources, self.verbs, self.names or ("",))))
        return resources + len(self.paths) * len(self.verbs)

    def __str__(self) -> str:
        parts = (
            ("APIGroups", self.groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.paths),
            ("ResourceNames", self.names),
            ("Verbs", self.verbs),
        )
        return "{" + ", ".join(f"{label}:{quote_list(texts)}" for label, texts in parts if texts) + "}"


EVERYTHING = (Rule(("*",), ("*",), ("*",)), Rule(("*",), paths=("*",)))
"""The rules of cluster-admin."""


def rules_of(role: Object) -> tuple[Rule, ...]:
    """The rules of a Role or ClusterRole."""
    rules = role.get("rules")
    return tuple(Rule.read(rule) for rule in rules) if isinstance(rules, list) else ()


def missing(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """What of the wanted rules the owned ones do not cover, verbs on one resource put together."""
    uncovered: list[Rule] = []
    for rule in wanted:
        if any(own.covers(rule) for own in owned):
            continue
        singles = rule.singles() if rule.size() <= _BREAKDOWN_LIMIT else iter((rule,))
        uncovered.extend(single for single in singles if not any(own.covers(single) for own in owned))
    return _compact(uncovered)


def _compact(rules: Iterable[Rule]) -> list[Rule]:
    kept: list[Rule] = []
    simple: dict[tuple[str, str], list[str]] = {}
    for rule in rules:
        if rule.names or rule.paths or len(rule.groups) != 1 or len(rule.resources) != 1:
            kept.append(rule)
        else:
            simple.setdefault((rule.groups[0], rule.resources[0]), []).extend(rule.verbs)
    empty = Rule()
    for (group, resource), verbs in simple.items():
        kept.append(replace(empty, verbs=tuple(verbs), groups=(group,), resources=(resource,)))
    return kept


def _path_covers(owned: str, path: str) -> bool:
    return owned == path or (owned.endswith("*") and path.startswith(owned.rstrip("*")))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def aggregate(role: Object, all_roles: Iterable[Object]) -> list[Object]:
    """The rules a ClusterRole with an aggregationRule should have.

    For each selector the matching roles in the order of their names, their rules in order, none twice.
    Rules of aggregated roles count as they stand: aggregate the inner ones first.
    """
    candidates = sorted((other for other in all_roles if name_of(other) != name_of(role)), key=name_of)
    gathered: list[Object] = []
    for selector in at(role, "aggregationRule", "clusterRoleSelectors", default=()) or ():
        chosen = from_label_selector(selector)
        for candidate in candidates:
            if not chosen.matches(candidate["metadata"].get("labels") or {}):
                continue
            for rule in candidate.get("rules") or ():
                if rule not in gathered:
                    gathered.append(rule)
    rules: list[Object] = copy(gathered)
    return rules
