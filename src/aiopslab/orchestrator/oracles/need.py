"""Which changes go beyond what a repair needs: all but those to the objects that the faults are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiopslab.generators.fault.base import Fault, Site
from simcloud.kubernetes.api.store import Key


def beyond_need(found: Mapping[Key, str], site: Site, faults: Iterable[Fault]) -> list[str]:
    """What became of each object that no fault of the application at that site concerns, in a few words."""
    concerned = {one for fault in faults for one in _concerned(fault, site)}
    return [
        f"{key.plural}/{key.name} was {what}"
        for key, what in found.items()
        if (resource_of(key), key.name) not in concerned or key.namespace not in ("", site.namespace)
    ]


def _concerned(fault: Fault, site: Site) -> list[tuple[str, str]]:
    """What it is about; of a node that is at fault, whether it is in use."""
    return [*fault.concerned, *(("nodes", name) for name in fault.machines_at_fault(site))]


def resource_of(key: Key) -> str:
    """A resource as faults name it: ``deployments.apps``."""
    return f"{key.plural}.{key.group}".rstrip(".")
