"""Tables of objects according to the flags of ``get``."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.printing.table import Look, Tabled
from simcloud.kubectl.selection import Wanted
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import Object, Resource, times

PLAIN: Final = [{"name": "Name", "type": "string", "format": "name"}, {"name": "Age", "type": "string"}]
"""The columns of a table that kubectl makes by itself."""


def look(kubectl: Kubectl, resources: list[Resource]) -> Look:
    """How the tables look, by the flags."""
    flags = kubectl.flags
    several = len({resource.key for resource in resources}) > 1
    return Look(
        wide=flags["output"] == "wide",
        headers=not flags["no-headers"],
        labels=flags["show-labels"],
        label_columns=tuple(flags["label-columns"]),
        kinds=flags["show-kind"] or several,
        namespaces=bool(flags["all-namespaces"]),
        sort_by=flags["sort-by"],
    )


def make_table(kubectl: Kubectl, connection: ApiClient, resource: Resource, items: list[Object]) -> Tabled:
    """Make the table of a resource's objects."""
    group = f".{resource.group}" if resource.group else ""
    return Tabled(
        connection.table(resource, items) if kubectl.flags["server-print"] else _plain(connection, items),
        f"{resource.plural}{group}",
        f"{resource.singular or resource.kind.lower()}{group}",
        resource.namespaced,
    )


def _plain(connection: ApiClient, items: list[Object]) -> Object:
    rows = [
        {"cells": [item["metadata"]["name"], _age(item, connection.now_s)], "object": item} for item in items
    ]
    return {"columnDefinitions": PLAIN, "rows": rows}


def _age(obj: Object, now_s: float) -> str:
    made = obj["metadata"].get("creationTimestamp")
    return times.human_duration(now_s - times.parse(made)) if made else "<unknown>"


def nothing_found(kubectl: Kubectl, asked: list[Wanted]) -> str:
    """The sentence for an empty list."""
    if kubectl.flags.get("all-namespaces") or not all(request.resource.namespaced for request in asked):
        return "No resources found\n"
    return f"No resources found in {kubectl.namespace} namespace.\n"
