"""The recorded inverse of a transaction: what every command may change is recorded before it runs, and restored by an undo.

It needs no more of a site than kubectl, ssh and the databases' own shells, so it works on a real cluster as on the embedded
one: ``Inverse(site, lambda: read_by_kubectl(site))``.
"""

from __future__ import annotations

from collections.abc import Callable

from aiopslab.generators import OperationFailed, Site
from aiopslab.orchestrator.transactions.commands import EVERY_NODE, Effects
from aiopslab.orchestrator.transactions.keys import KeyRecord
from aiopslab.orchestrator.transactions.objects import Objects, restore_objects
from aiopslab.orchestrator.transactions.places import Place
from aiopslab.orchestrator.transactions.rows import StoreRecord
from simcloud.kubernetes.api import at


class NotRecorded(Exception):
    """The inverse of a command cannot be recorded now; the message is a sentence."""


class Inverse:
    """What restores the system to the moment at which this object was made."""

    def __init__(self, site: Site, read_objects: Callable[[], Objects]) -> None:
        self._site = site
        self._read_objects = read_objects
        self._objects = read_objects()
        self._places: dict[str, Place] = {}
        self._stores: dict[str, StoreRecord] = {}
        self._keys: dict[str, KeyRecord] = {}

    def record(self, effects: Effects) -> None:
        """Record what a command may change, before it runs; raises ``NotRecorded``."""
        try:
            self._record(effects)
        except OperationFailed as error:
            reason = str(error).strip().splitlines()[-1] if str(error).strip() else "no answer"
            raise NotRecorded(f"The state before this command cannot be recorded ({reason}).") from None

    def _record(self, effects: Effects) -> None:
        for store in sorted(effects.backups):
            self._stores.setdefault(store, StoreRecord(self._site, store)).back_up()
        for name, paths in effects.nodes.items():
            for node in self._site.list_nodes() if name == EVERY_NODE else [name]:
                if node not in self._places:
                    self._places[node] = Place.of_node(
                        self._site, node, enters_networks=effects.enters_networks
                    )
                self._places[node].record(paths)
        for words, paths in effects.pods.items():
            if words not in self._places:
                self._places[words] = Place.of_container(self._site, words)
            self._places[words].record(paths)
        for store in sorted(effects.rows):
            self._stores.setdefault(store, StoreRecord(self._site, store)).record()
        for write in effects.keys:
            record = self._keys.setdefault(write.store, KeyRecord(self._site, write.store))
            record.record(write.keys, write.setting)

    def finish(self) -> None:
        """Note what the command that was recorded last has changed in databases."""
        for store in self._stores.values():
            store.finish()

    def restart_dependents(self) -> list[str]:
        """Restart the components that call what has restarted since the beginning; return their names.

        Their connections, and their registrations in a registry that forgot them, cannot be restored in another way.
        """
        before, now = (
            _identify_pods(self._site, objects) for objects in (self._objects, self._read_objects())
        )
        restarted = [name for name in before if before[name] != now.get(name)]
        callers = dict.fromkeys(caller for name in restarted for caller in self._site.app.find_callers(name))
        for caller in callers:
            self._site.restart(caller)
        return list(callers)

    def undo(self) -> list[str]:
        """Restore everything; return what could not be restored.

        Nodes come first: kubectl may depend on them. Rows come before objects where the database is up: many a service that starts
        writes the rows that it misses.
        """
        left = [what for place in reversed(self._places.values()) for what in place.restore()]
        for store in self._stores.values():
            store.restore_if_up()
        left += restore_objects(self._site, self._objects, self._read_objects)
        left += [what for store in self._stores.values() for what in store.restore()]
        left += [what for record in self._keys.values() for what in record.restore()]
        return left


def _identify_pods(site: Site, objects: Objects) -> dict[str, list[tuple[str, int]]]:
    """Return the pods of each component, with the number of times that their containers have restarted."""
    known = {component.name for component in site.app.components}
    found: dict[str, list[tuple[str, int]]] = {}
    for key, obj in objects.items():
        if key.plural == "pods" and key.namespace == site.namespace:
            workload: str = at(obj, "metadata", "ownerReferences", 0, "name", default="").rpartition("-")[0]
            statuses = at(obj, "status", "containerStatuses", default=[])
            if workload in known:
                restarts = sum(status.get("restartCount", 0) for status in statuses)
                found.setdefault(workload, []).append((key.name, restarts))
    return {name: sorted(pods) for name, pods in found.items()}
