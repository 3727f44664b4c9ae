"""Recent changes by people and controllers, from the API's own log: object, author and fields.

Statuses and the cluster's internal fields do not count. For Secrets only the names of changed fields are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from aiopslab.cloud import CREATED_BY_CLUSTER, KINDS
from aiopslab.orchestrator.actions.environment_actions import (
    ActionsBase,
    check_minutes,
    format_clock,
    format_minutes,
    format_time,
)
from aiopslab.orchestrator.actions.observations import format_tail
from aiopslab.orchestrator.actions.registry import action
from simcloud.kubernetes.api import Key, Object, Revision

SHOWN_FIELDS: Final = 12
SHOWN_LINES: Final = 4
"""Lines shown of a text with many lines: this number of removed and of added ones."""
SHOWN_CHARACTERS: Final = 160
_INTERNAL: Final = frozenset({"apiVersion", "kind", "status"})
_INTERNAL_METADATA: Final = frozenset({
    "creationTimestamp", "generation", "managedFields", "name", "namespace", "resourceVersion", "selfLink", "uid",
})  # fmt: skip
_INTERNAL_ANNOTATIONS: Final = ("deployment.kubernetes.io/", "kubectl.kubernetes.io/last-applied", "pv.kubernetes.io/",
                           "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "control-plane.alpha.kubernetes.io/")  # fmt: skip


class ChangeActions(ActionsBase):
    """Actions on recent changes."""

    @action
    def get_changes(self, namespace: str, minutes: float = 60) -> str:
        """
        Shows recent changes in a namespace: rollouts, scaling and configuration changes, each with its time, author,
        tool and changed fields, old -> new. Pods, statuses and values of Secrets are not shown.

        Args:
            namespace (str): The namespace given in the problem, or another such as "kube-system".
            minutes (float): Number of minutes to look back.

        Returns:
            str: The changes, the most recent last.
        """
        self._check_namespace(namespace)
        api = self.environment.cluster.api
        now_s = api.now_s
        start_s = now_s - 60 * check_minutes(minutes, "minutes")
        lines: list[str] = []
        for change in _group_changes(self._find_changes(namespace, start_s - api.epoch_s)):
            lines += change.format_lines(format_clock(api.epoch_s + change.time_s, now_s))
        period = f"in the last {format_minutes(minutes)}, up to {format_time(now_s)}"
        if not lines:
            return f"No changes in {namespace!r} {period}."
        return "\n".join([f"Changes in {namespace!r} {period}:", format_tail(lines, "Use fewer minutes.")])

    def _find_changes(self, namespace: str, start_s: float) -> Iterator[_Change]:
        """Yield the writes to declared objects since a time that changed them."""
        before: dict[Key, Object] = {}

        def is_relevant(key: Key) -> bool:
            return key.namespace == namespace and key[:2] in KINDS and key[1::2] not in CREATED_BY_CLUSTER

        for write in self._log.history(is_relevant):
            previous = before.get(write.key)
            before[write.key] = write.object
            if write.change == "DELETED":
                del before[write.key]
            if write.time_s >= start_s:
                fields = (
                    _format_differences(write.key, previous, write.object)
                    if write.change == "MODIFIED"
                    else []
                )
                if fields or write.change != "MODIFIED":
                    yield _Change(
                        write.time_s,
                        write.change,
                        write.key.plural,
                        [write.key.name],
                        _find_author(write),
                        fields,
                    )


class _Change(NamedTuple):
    """One write, or several of one kind at about the same time."""

    time_s: float
    what: str
    plural: str
    names: list[str]
    author: str
    fields: list[str]

    def format_lines(self, when: str) -> list[str]:
        verb = {"ADDED": "created", "DELETED": "deleted", "MODIFIED": "changed"}[self.what]
        shown = ", ".join(f"{self.plural}/{name}" if len(self.names) == 1 else name for name in self.names)
        what = shown if len(self.names) == 1 else f"{len(self.names)} {self.plural}: {shown}"
        more = len(self.fields) - SHOWN_FIELDS
        fields = [f"    {field}" for field in self.fields[:SHOWN_FIELDS]]
        if more > 0:
            fields.append(f"    and {more} more fields")
        return [f"{when} {verb} {what} (by {self.author})", *fields]


def _group_changes(changes: Iterator[_Change]) -> Iterator[_Change]:
    """Merge creations and deletions of one kind at about the same time into one change."""
    kept: dict[tuple[str, str, str, int], _Change] = {}
    for change in changes:
        if change.what == "MODIFIED":
            yield from kept.values()
            kept.clear()
            yield change
            continue
        key = change.what, change.plural, change.author, int(change.time_s // 10)
        if key in kept:
            kept[key].names.extend(change.names)
        else:
            kept[key] = change
    yield from kept.values()


def _find_author(write: Revision) -> str:
    """Return the user of a write, and the tool: the newest of the object's managers."""
    entries = [
        entry
        for entry in write.object["metadata"].get("managedFields") or ()
        if entry.get("subresource") != "status"
    ]
    newest = max(entries, key=lambda entry: entry.get("time") or "", default=None)
    user = write.by.removeprefix("system:serviceaccount:kube-system:") or "unknown"
    return user if newest is None or write.change == "DELETED" else f"{user}, {newest['manager']}"


def _format_differences(key: Key, before: Object | None, after: Object) -> list[str]:
    """Return the fields whose values differ, old -> new."""
    old, new = (dict(_flatten(obj)) for obj in (before or {}, after))
    lines: list[str] = []
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            if key.plural == "secrets" and path.startswith(("data.", "stringData.")):
                lines.append(
                    f"{path}: {'added' if path not in old else 'removed' if path not in new else 'changed'}"
                )
            else:
                lines += _format_difference(path, old.get(path), new.get(path))
    return lines


def _format_difference(path: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        old_lines, new_lines = old.splitlines(), new.splitlines()
        removed, added = set(old_lines) - set(new_lines), set(new_lines) - set(old_lines)
        lines = _limit_lines([f"- {line}" for line in old_lines if line in removed], "removed")
        lines += _limit_lines([f"+ {line}" for line in new_lines if line in added], "added")
        return [f"{path}: {line}" for line in lines] or [f"{path}: its lines were reordered"]
    return [f"{path}: {_shorten(_format_value(old))} -> {_shorten(_format_value(new))}"]


def _limit_lines(lines: list[str], what: str) -> list[str]:
    more = len(lines) - SHOWN_LINES
    return [
        *map(_shorten, lines[:SHOWN_LINES]),
        *([f"and {more} more {what} lines"] if more > 0 else ()),
    ]


def _format_value(value: Any) -> str:
    return "(none)" if value is None else value if isinstance(value, str) and value else repr(value)


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all leaves of an object with their paths; list items by name where they have one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if not _is_internal(path, name):
                yield from _flatten(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            has_name = isinstance(item, dict) and "name" in item and not path.endswith("ports")
            name = item["name"] if has_name else number
            yield from _flatten(item, f"{path}[{name}]")
    elif value is not None and value not in ({}, []):
        yield path, value


def _is_internal(path: str, name: str) -> bool:
    if not path:
        return name in _INTERNAL
    if path == "metadata":
        return name in _INTERNAL_METADATA
    if path == "spec" and name in ("volumeName", "claimRef"):
        return True  # written by volume binding, not declared
    return path.endswith("annotations") and name.startswith(_INTERNAL_ANNOTATIONS)
