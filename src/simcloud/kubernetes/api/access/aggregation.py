"""Aggregated ClusterRoles: the rules that an aggregationRule gathers from other roles by their labels."""

from __future__ import annotations

from collections.abc import Iterable

from simcloud.kubernetes.api.objects import Object, at, copy, name_of
from simcloud.kubernetes.api.selectors import from_label_selector


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
