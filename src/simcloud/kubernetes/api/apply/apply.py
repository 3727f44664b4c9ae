"""Server-side apply: merges a configuration, whose manager owns the fields in it.

Fields that the manager applied before and omits now are removed, unless another manager owns them too. A change of
fields that others own is a conflict, unless forced.
"""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.kubernetes.api.apply.field_extraction import Comparison, compare, every_field, field_set
from simcloud.kubernetes.api.apply.fieldset import (
    Fields,
    difference,
    format_path,
    has,
    intersection,
    paths,
    union,
)
from simcloud.kubernetes.api.apply.managed_fields import (
    APPLY,
    UPDATE,
    Entries,
    Entry,
    Manager,
    decode,
    encode,
    update_entries,
)
from simcloud.kubernetes.api.apply.merge import merge, remove_fields, with_named_parents, without_nulls
from simcloud.kubernetes.api.apply.reset_fields import without_reset
from simcloud.kubernetes.api.apply.shape import Untyped, schema_of_objects
from simcloud.kubernetes.api.apply.type_checks import check_applied
from simcloud.kubernetes.api.apply.zero_values import with_structs, zero_beside
from simcloud.kubernetes.api.errors import ApplyConflict, BadRequest
from simcloud.kubernetes.api.objects import LAST_APPLIED, Object, at
from simcloud.kubernetes.api.patch.errors import Unclassified
from simcloud.kubernetes.api.resources import Resource

_BEFORE_FIRST_APPLY = "before-first-apply"
_KUBECTL = "kubectl"
_MAX_ANNOTATIONS_BYTES = 256 * 1024

Conflicts = list[tuple[Manager, tuple[str, ...]]]
"""A manager and a field of its that would change, for each."""


def server_side_apply(
    live: Object | None,
    applied: Object,
    resource: Resource,
    *,
    manager: str,
    force: bool,
    now: str,
    subresource: str = "",
) -> Object:
    """The object after applying a configuration to it, with its managedFields, not yet defaulted.

    Equal to the live object where nothing changed. Raises ApplyConflict where others own what would
    change, and other ApiErrors for what is no configuration of this kind. Neither input is changed.
    """
    _check(applied, resource)
    me = Manager(manager, APPLY, resource.api_version, subresource)
    try:
        return _Application(live, applied, resource, me, now).run(force)
    except Untyped as why:
        raise Unclassified(f"failed to merge config: {why}") from None


def _check(applied: Object, resource: Resource) -> None:
    version, kind = applied.get("apiVersion"), applied.get("kind")
    if version != resource.api_version or kind != resource.kind:
        object_name = version if "/" in str(version) else f"/{version or ''}"
        raise BadRequest(f"invalid object type: {object_name}, Kind={kind or ''}")
    metadata = applied.get("metadata") or {}
    if not isinstance(metadata, dict):
        metadata = {}
    if metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or ""
    object_name = f"{namespace}/{name}; {resource.group or ''}/{resource.version}, Kind={kind}"
    check_applied(applied, schema_of_objects(resource), object_name)


class _Application:
    """One configuration being applied to one object."""

    def __init__(
        self, live: Object | None, applied: Object, resource: Resource, me: Manager, now: str
    ) -> None:
        self.live: Object = live or {}
        self.applied = applied
        self.resource = resource
        self.schema = schema_of_objects(resource)
        self.me = me
        self.now = now
        self.entries = self._entries()

    def run(self, force: bool) -> Object:
        """The object that comes of it."""
        new = self._prune(
            merge(_without_managed_fields(self.live), _without_managed_fields(self.applied), self.schema)
        )
        said = self._without_reset(field_set(self.applied, self.schema))
        made = compare(with_structs(self.live, self.resource), with_structs(new, self.resource), self.schema)
        made = Comparison(*map(self._without_reset, made))
        conflicts = [] if force else self._conflicts(made.changed)
        if conflicts and self.me.name == _KUBECTL:
            conflicts = self._not_client_side_applied(conflicts)
        if conflicts:
            raise _refusal(conflicts)
        kept = self._entries_of_others(made)
        unchanged = new == _without_managed_fields(self.live)
        last = self.entries.get(self.me.identity)
        time = (last.time if last else "") if unchanged else self.now
        if said:
            kept[self.me.identity] = Entry(self.me, said, time)
        return self._finish(new, kept)

    def _entries(self) -> Entries:
        """Return the entries of the live object; fields of an untracked object belong to a default manager."""
        try:
            entries = decode(at(self.live, "metadata", "managedFields", default=None) or [])
        except ValueError as why:
            raise Unclassified(f"failed to decode managed fields: {why}") from None
        if entries or not self.live:
            return entries
        before = Manager(_BEFORE_FIRST_APPLY, UPDATE, self.me.api_version, self.me.subresource)
        empty = zero_beside(self.resource, self.live)
        return update_entries({}, empty, self.live, self.resource, before, self.now)

    def _without_reset(self, fields: Fields) -> Fields:
        return without_reset(fields, self.resource, self.me.subresource)

    def _prune(self, merged: Object) -> Object:
        """Return the merged object without fields that this manager applied last time and no manager owns now."""
        last = self.entries.get(self.me.identity)
        if last is None:
            return merged
        wanted = every_field(self.applied, self.schema)
        for identity, entry in self.entries.items():
            if identity != self.me.identity:
                wanted = union(wanted, entry.fields)
        schema = self.schema
        mine = with_named_parents(last.fields, schema)
        everything = with_named_parents(every_field(merged, schema), schema)
        rest = with_named_parents(every_field(remove_fields(merged, mine, schema), schema), schema)
        kept = union(rest, with_named_parents(wanted, schema))
        owned_back = remove_fields(merged, difference(everything, kept), schema)
        left = with_named_parents(every_field(owned_back, schema), schema)
        pruned: Object = remove_fields(merged, intersection(difference(everything, left), mine), schema)
        return pruned

    def _conflicts(self, changed: Fields) -> Conflicts:
        """Fields of others that would change, by manager."""
        return [
            (self.entries[identity].manager, path)
            for identity in sorted(self.entries)
            if identity != self.me.identity
            for path in paths(intersection(self.entries[identity].fields, changed))
        ]

    def _not_client_side_applied(self, conflicts: Conflicts) -> Conflicts:
        """The conflicts left for kubectl, which takes over what it applied from its side before."""
        try:
            last = msgspec.json.decode(at(self.live, "metadata", "annotations", LAST_APPLIED, default=""))
            if last["apiVersion"] != self.me.api_version:
                return conflicts
            theirs = compare(last, self.live, self.schema)
            allowed = field_set(last, self.schema)
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError, Untyped):
            return conflicts
        allowed = difference(difference(allowed, theirs.changed), theirs.removed)
        return [conflict for conflict in conflicts if not has(allowed, conflict[1])]

    def _entries_of_others(self, made: Comparison) -> Entries:
        kept: Entries = {}
        for identity, entry in self.entries.items():
            fields = difference(difference(entry.fields, made.changed), made.removed)
            if fields and identity != self.me.identity:
                kept[identity] = entry._replace(fields=fields)
        return kept

    def _finish(self, new: Object, entries: Entries) -> Object:
        """The new object without applied nulls, with its managedFields and last-applied annotation."""
        obj: Object = without_nulls(new, self.live, self.schema)
        metadata = dict(obj.get("metadata") or {})
        annotations = metadata.get("annotations")
        if self.me.name == _KUBECTL and annotations and annotations.get(LAST_APPLIED):
            metadata["annotations"] = _with_last_applied(annotations, self.applied)
        if entries:
            metadata["managedFields"] = encode(entries)
        return {**obj, "metadata": metadata}


def _without_managed_fields(obj: Object) -> Object:
    """An object without its managedFields."""
    if "managedFields" not in (obj.get("metadata") or {}):
        return obj
    return {
        **obj,
        "metadata": {key: value for key, value in obj["metadata"].items() if key != "managedFields"},
    }


def _refusal(conflicts: Conflicts) -> ApplyConflict:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {_format_manager(manager)}",
            "field": format_path(path),
        }
        for manager, path in conflicts
    ]
    if len(conflicts) == 1:
        manager, path = conflicts[0]
        return ApplyConflict(
            f"Apply failed with 1 conflict: conflict with {_format_manager(manager)}: {format_path(path)}",
            causes,
        )
    lines: list[str] = []
    said: Manager | None = None
    for manager, path in conflicts:
        if manager != said:
            lines.append(f"conflicts with {_format_manager(manager)}:")
            said = manager
        lines.append(f"- {format_path(path)}")
    listed = "\n".join(lines)
    return ApplyConflict(f"Apply failed with {len(conflicts)} conflicts: {listed}", causes)


def _format_manager(manager: Manager) -> str:
    text = msgspec.json.encode(manager.name).decode()
    if manager.subresource:
        text += f' with subresource "{manager.subresource}"'
    return f"{text} using {manager.api_version}" if manager.operation == UPDATE else text


def _with_last_applied(annotations: Object, applied: Object) -> Object:
    """The annotations with kubectl's memory of what it applied brought up to date."""
    config: dict[str, Any] = dict(applied)
    metadata = dict(config.get("metadata") or {})
    if metadata.get("annotations") is not None:
        metadata["annotations"] = {
            key: value for key, value in metadata["annotations"].items() if key != LAST_APPLIED
        }
        config["metadata"] = metadata
    text = msgspec.json.encode(config, order="sorted").decode()
    for char, escape in (("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")):
        text = text.replace(char, escape)
    found = {**annotations, LAST_APPLIED: text + "\n"}
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in found.items())
    if size > _MAX_ANNOTATIONS_BYTES:
        del found[LAST_APPLIED]
    return found
