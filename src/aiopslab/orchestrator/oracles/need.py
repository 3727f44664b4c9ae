"""Which changes go beyond what a repair needs: all but those to the objects that the faults are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiopslab.cluster.api.store import Key
from aiopslab.generators.fault.base import Fault


def beyond_need(found: Mapping[Key, str], namespace: str, faults: Iterable[Fault]) -> list[str]:
    """What became of each object that no fault of the application in that namespace concerns, in a few words."""
    concerned = {one for fault in faults for one in fault.concerned}
    return [
        f"{key.plural}/{key.name} was {what}"
        for key, what in found.items()
        if (resource_of(key), key.name) not in concerned or key.namespace not in ("", namespace)
    ]


def resource_of(key: Key) -> str:
    """A resource as faults name it: ``deployments.apps``."""
    return f"{key.plural}.{key.group}".rstrip(".")
