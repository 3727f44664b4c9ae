"""managedFields: which manager set which field and when, updated by every write.

Call ``track_update`` where the genuine server does: after defaulting, before admission, and before the kind's
strategy. Sets of another API version are read as if they were of this one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simcloud.kubernetes.api.apply.field_extraction import compare
from simcloud.kubernetes.api.apply.fieldset import Fields, difference, intern_fields, parse, union
from simcloud.kubernetes.api.apply.reset_fields import without_reset
from simcloud.kubernetes.api.apply.shape import Untyped, schema_of_objects
from simcloud.kubernetes.api.apply.zero_values import with_structs, zero_beside
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource

APPLY = "Apply"
UPDATE = "Update"
MAX_UPDATE_MANAGERS = 10
MAX_NAME_BYTES = 128
_OLD_UPDATES = "ancient-changes"
_NO_NAME = "unknown"
_PARTS = ("manager", "operation", "apiVersion", "subresource")


Identity = tuple[str, str, str, str]


class Manager(NamedTuple):
    """A field manager: name, operation, version and subresource. A manager that applies has one entry for all versions."""

    name: str
    operation: str
    api_version: str
    subresource: str

    @property
    def identity(self) -> Identity:
        """The key of a manager, and the sort order of conflicts."""
        version = self.api_version if self.operation == UPDATE else ""
        return self.name, self.operation, version, self.subresource


class Entry(NamedTuple):
    """What one manager owns, and when it last changed something."""

    manager: Manager
    fields: Fields
    time: str
    """Empty for an applied configuration that changed nothing."""


Entries = dict[Identity, Entry]
"""Entries by their manager's identity."""


def manager_name(field_manager: str, user_agent: str) -> str:
    """Return the field manager of a request, or else its user agent up to the first slash."""
    if field_manager:
        return field_manager
    name = b""
    for char in user_agent.partition("/")[0]:
        if not char.isprintable():
            continue
        if len(name) + len(char.encode()) > MAX_NAME_BYTES:
            break
        name += char.encode()
    return name.decode()


def track_update(
    live: Object | None,
    new: Object,
    resource: Resource,
    *,
    manager: str,
    now: str,
    subresource: str = "",
) -> list[Object]:
    """The managedFields of an object after a create, an update or a patch that is no apply.

    What changed goes to this manager and leaves all others; what is gone leaves everyone. The live
    object's own list comes back where nothing changed. Neither object is changed.
    """
    before = _get_managed_fields(live)
    given = None if subresource else _parse_sent_entries(before, new)
    entries = _readable(before) if given is None else given
    if live is not None and not entries:
        return []
    updater = Manager(manager or _NO_NAME, UPDATE, resource.api_version, subresource)
    try:
        updated = update_entries(entries, live or zero_beside(resource, new), new, resource, updater, now)
    except (Untyped, RecursionError):
        return before
    if updated is entries and given is None:
        return before
    return encode(updated)


def update_entries(
    entries: Entries, live: Object, new: Object, resource: Resource, manager: Manager, now: str
) -> Entries:
    """The entries after a manager turned one object into another; the same entries where nothing changed."""
    found_in = compare(with_structs(live, resource), with_structs(new, resource), schema_of_objects(resource))
    changed = without_reset(found_in.changed, resource, manager.subresource)
    removed = without_reset(found_in.removed, resource, manager.subresource)
    if not changed and not removed:
        return entries
    found: Entries = {}
    for identity, entry in entries.items():
        fields = difference(entry.fields, removed)
        if identity != manager.identity:
            fields = difference(fields, changed)
        if fields:
            found[identity] = entry if fields is entry.fields else entry._replace(fields=fields)
    if changed:
        mine = found.get(manager.identity)
        owned = union(mine.fields, changed) if mine else changed
        if mine is None or owned is not mine.fields:
            owned = intern_fields(owned)
        found[manager.identity] = Entry(manager, owned, now)
    return _cap_updates(found)


def decode(listed: Any) -> Entries:
    """The entries of a managedFields list. Raises ValueError for what is none."""
    if not isinstance(listed, list):
        raise ValueError("managedFields is a list")
    found: Entries = {}
    for item in listed:
        if not isinstance(item, dict) or item.get("fieldsType") != "FieldsV1":
            raise ValueError("no entry of managedFields")
        manager = Manager(*[item.get(part) or "" for part in _PARTS])
        entry = Entry(manager, item.get("fieldsV1") or {}, item.get("time") or "")
        for text in (*manager, entry.time):
            if not isinstance(text, str):
                raise ValueError("no entry of managedFields")
        if not manager.api_version:
            raise ValueError("no entry of managedFields")
        if manager.operation not in (APPLY, UPDATE):
            raise ValueError("operation must be `Apply` or `Update`")
        found[manager.identity] = entry
    return found


def encode(entries: Entries) -> list[Object]:
    """Entries as a managedFields list: appliers first, then by time, name, version and subresource."""
    return [_encode_entry(entry) for entry in sorted(entries.values(), key=_rank)]


def _rank(entry: Entry) -> tuple[str, ...]:
    manager = entry.manager
    return manager.operation, entry.time, manager.name, manager.api_version, manager.subresource


def _encode_entry(entry: Entry) -> Object:
    manager = entry.manager
    encoded: Object = {"manager": manager.name} if manager.name else {}
    encoded |= {"operation": manager.operation, "apiVersion": manager.api_version}
    if entry.time:
        encoded["time"] = entry.time
    encoded |= {"fieldsType": "FieldsV1", "fieldsV1": entry.fields}
    if manager.subresource:
        encoded["subresource"] = manager.subresource
    return encoded


def _get_managed_fields(obj: Object | None) -> list[Object]:
    """The managedFields an object has."""
    return ((obj or {}).get("metadata") or {}).get("managedFields") or []


def _readable(listed: list[Object]) -> Entries:
    """The entries of a list, none if it cannot be read: then the object counts as not tracked."""
    try:
        return decode(listed)
    except ValueError:
        return {}


def _parse_sent_entries(before: list[Object], new: Object) -> Entries | None:
    """The entries that a writer sets, none where it resets them; None where it leaves them alone.

    What cannot be read is left alone too.
    """
    sent = (new.get("metadata") or {}).get("managedFields")
    if sent is None or sent is before or sent == before:
        return None
    if sent in ([], [{}]):
        return {}
    try:
        given = decode(sent)
        return {name: entry._replace(fields=parse(entry.fields)) for name, entry in given.items()} or None
    except (ValueError, RecursionError):
        return None


def _cap_updates(entries: Entries) -> Entries:
    """At most ten entries of updates: the oldest of one version become one."""
    updates = [identity for identity, entry in entries.items() if entry.manager.operation == UPDATE]
    excess = len(updates) - MAX_UPDATE_MANAGERS
    if excess <= 0:
        return entries
    updates.sort(key=lambda identity: (entries[identity].time, identity))
    found = dict(entries)
    first_of: dict[str, Identity] = {}
    for identity in updates:
        entry = entries[identity]
        version = entry.manager.api_version
        first = first_of.setdefault(version, identity)
        if first == identity:
            continue
        bucket = Manager(_OLD_UPDATES, UPDATE, version, "")
        older = found.get(bucket.identity) or found.pop(first)
        found.pop(identity, None)
        found[bucket.identity] = Entry(bucket, union(entry.fields, older.fields), entry.time)
        excess -= 1
        if excess <= 0:
            break
    return found
