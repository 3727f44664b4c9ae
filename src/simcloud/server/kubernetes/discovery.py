"""Discovery documents: versions, groups, resources.

kubectl requests the aggregated documents (v2, v2beta1) since 1.26; older clients read the plain lists.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from simcloud.kubernetes.api import Catalogue, Object, Resource, Subresource

AGGREGATED: Final = {"v2": "apidiscovery.k8s.io/v2", "v2beta1": "apidiscovery.k8s.io/v2beta1"}


def aggregate(catalogue: Catalogue, core: bool, version: str) -> Object:
    """Build the aggregated document of the core group, or of all other groups."""
    groups = [group for group in catalogue.groups.values() if (group.name == "") == core]
    items = [
        {
            "metadata": {"name": group.name, "creationTimestamp": None}
            if group.name
            else {"creationTimestamp": None},
            "versions": [
                {
                    "version": served,
                    "resources": [
                        _aggregate_resource(resource) for resource in catalogue.of(group.name, served)
                    ],
                    "freshness": "Stale" if (group.name, served) in catalogue.stale else "Current",
                }
                for served in group.versions
            ],
        }
        for group in groups
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": AGGREGATED[version],
        "metadata": {},
        "items": items,
    }


def etag(document: Object) -> str:
    """Return the ETag of a document."""
    return sha256(msgspec.json.encode(document)).hexdigest().upper()


def core_versions(address: str) -> Object:
    """``/api``."""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(catalogue: Catalogue) -> Object:
    """``/apis``."""
    groups = [group(catalogue, name) for name in catalogue.groups if name]
    for document in groups:
        del document["kind"], document["apiVersion"]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(catalogue: Catalogue, name: str) -> Object:
    """``/apis/apps``."""
    versions = [
        {"groupVersion": f"{name}/{version}", "version": version}
        for version in catalogue.groups[name].versions
    ]
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": name,
        "versions": versions,
        "preferredVersion": versions[0],
    }


def resource_list(catalogue: Catalogue, name: str, version: str) -> Object:
    """``/apis/apps/v1``."""
    entries: list[Object] = []
    for resource in catalogue.of(name, version):
        entries.append(_list_resource(resource))
        entries.extend(_list_part(resource, part) for part in resource.subresources.values())
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if name else {}),
        "groupVersion": f"{name}/{version}" if name else version,
        "resources": entries,
    }


def _list_resource(resource: Resource) -> Object:
    entry: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    return entry


def _list_part(resource: Resource, part: Subresource) -> Object:
    entry: Object = {
        "name": f"{resource.plural}/{part.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
    }
    if (part.group, part.version) != (resource.group, resource.version):
        entry |= {"group": part.group, "version": part.version}
    return {**entry, "kind": part.kind, "verbs": list(part.verbs)}


def _aggregate_resource(resource: Resource) -> Object:
    entry: Object = {
        "resource": resource.plural,
        "responseKind": _response_kind(resource, resource.group, resource.version, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.subresources:
        entry["subresources"] = [
            {
                "subresource": part.name,
                "responseKind": _response_kind(resource, part.group, part.version, part.kind),
                "verbs": list(part.verbs),
            }
            for part in resource.subresources.values()
        ]
    return entry


def _response_kind(resource: Resource, group: str, version: str, kind: str) -> dict[str, Any]:
    """Omit group and version of a kind if they are the resource's own, unless it is a custom resource."""
    if resource.custom is None and (group, version) == (resource.group, resource.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}
