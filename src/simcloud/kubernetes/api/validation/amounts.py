"""Which resources a quota may count, and amounts that must not fall below zero."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.validation.common import NOT_NEGATIVE, NOT_ZERO, Errors, amount, amount_text
from simcloud.kubernetes.api.validation.pods.resources import resource_name

_QUOTA = frozenset(
    (
        *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
        *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers", "requests.storage"),
        *("cpu", "memory", "ephemeral-storage"),
        *("requests.cpu", "requests.memory", "requests.ephemeral-storage"),
        *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    )
)
_PAGES_OF_QUOTA = "requests.hugepages-"


def is_quota_name(name: str) -> bool:
    """Whether a quota may count it without a domain before its name."""
    return name in _QUOTA or name.startswith(("hugepages-", _PAGES_OF_QUOTA))


def quota_resource_name(path: str, name: str) -> Errors:
    """The name of a resource that a quota may count."""
    errors = [] if name.startswith(_PAGES_OF_QUOTA) else resource_name(path, name)
    if "/" not in name and not is_quota_name(name):
        errors.append(invalid(path, name, "must be a standard resource for quota"))
    return errors


def not_negative(path: str, text: str) -> Errors:
    """An amount that is not below zero."""
    return [invalid(path, amount_text(text), NOT_NEGATIVE)] if amount(text) < 0 else []


def positive(path: str, text: str) -> Errors:
    """An amount above zero."""
    return [] if amount(text) > 0 else [invalid(path, amount_text(text), NOT_ZERO)]
