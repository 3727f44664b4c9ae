"""Tables of namespaces, ConfigMaps, Secrets, service accounts and quotas."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, amount, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table


@table("", "Namespace", NAME, Column("Status", "The status of the namespace"), AGE)
def namespace(obj: Object, now_s: float) -> Cells:
    """A namespace's row."""
    return [name(obj), text(part(obj, "status"), "phase"), age(obj, now_s)]


@table("", "ConfigMap", NAME, Column("Data", of="core.v1.ConfigMap.data"), AGE)
def config_map(obj: Object, now_s: float) -> Cells:
    """A ConfigMap's row."""
    return [name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age(obj, now_s)]


@table(
    "",
    "Secret",
    NAME,
    Column("Type", of="core.v1.Secret.type"),
    Column("Data", of="core.v1.Secret.data"),
    AGE,
)
def secret(obj: Object, now_s: float) -> Cells:
    """A Secret's row."""
    return [name(obj), text(obj, "type"), len(obj.get("data") or ()), age(obj, now_s)]


@table("", "ServiceAccount", NAME, AGE)
def service_account(obj: Object, now_s: float) -> Cells:
    """A service account's row."""
    return [name(obj), age(obj, now_s)]


@table(
    "",
    "ResourceQuota",
    NAME,
    Column("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
    Column(
        "Limit",
        "Limits control the maximum amount of cpu/memory that a container may use independent of contention"
        " on the node.",
    ),
    AGE,
)
def resource_quota(obj: Object, now_s: float) -> Cells:
    """A quota's row."""
    status = part(obj, "status")
    used = part(status, "used")
    requests: list[str] = []
    limits: list[str] = []
    for resource, hard in sorted(part(status, "hard").items()):
        column = limits if resource.startswith("limits.") else requests
        column.append(f"{resource}: {amount(used.get(resource))}/{amount(hard)}")
    return [name(obj), ", ".join(requests), ", ".join(limits), age(obj, now_s)]
