"""Limits of a container's ephemeral storage, which includes its log."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api import Object, at, quantity

STORAGE: Final = "ephemeral-storage"
LOG_BYTES: Final = 10 * 2**20
"""Size at which the kubelet rotates a container's log."""


def is_reached_by_log(container: Object) -> bool:
    """Return whether the log of a container reaches its limit of storage before it is rotated, however long that takes."""
    limit = at(container, "resources", "limits", STORAGE, default=None)
    return limit is not None and quantity.parse(limit) <= LOG_BYTES
