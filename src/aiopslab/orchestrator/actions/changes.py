"""What people and controllers have changed of late, read from the API's own log: which object, by whom, which fields.

Statuses and what the cluster keeps for itself are no changes. Of a Secret only the names of its fields are told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from aiopslab.cloud.declared import KINDS
from aiopslab.orchestrator.actions.base import ActionsBase, check_minutes, clock, in_words, stamp
from aiopslab.orchestrator.actions.bounds import tail
from aiopslab.orchestrator.actions.registry import action
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Key, Revision

SHOWN_FIELDS: Final = 12
SHOWN_LINES: Final = 4
"""Of a text with many lines: as many that are gone, and as many that are new."""
SHOWN_CHARACTERS: Final = 160
MADE_FOR_ALL: Final = frozenset({("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")})
"""What every namespace gets from the cluster itself."""
_OWN: Final = frozenset({"apiVersion", "kind", "status"})
_OWN_METADATA: Final = frozenset(
    {
        "creationTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_OWN_ANNOTATIONS: Final = ("deployment.kubernetes.io/", "kubectl.kubernetes.io/last-applied", "pv.kubernetes.io/",
                           "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "control-plane.alpha.kubernetes.io/")  # fmt: skip


class ChangeActions(ActionsBase):
    """Looking back."""

    @action
    def get_changes(self, namespace: str, minutes: float = 60) -> str:
        """
        Shows what was changed in a namespace of late: rollouts, scaling and changes of configuration; when, by whom,
        with what tool, and which fields, old -> new. Pods, statuses and values of Secrets are not shown.

        Args:
            namespace (str): The namespace that the problem names, or another one such as "kube-system".
            minutes (float): How far to look back.

        Returns:
            str: The changes, the most recent last.
        """
        self._check_namespace(namespace)
        api = self.environment.cluster.api
        now_s = api.now_s
        start_s = now_s - 60 * check_minutes(minutes, "minutes")
        lines: list[str] = []
        for change in _together(self._since(namespace, start_s - api.epoch_s)):
            lines += change.lines(clock(api.epoch_s + change.time_s, now_s))
        period = f"in the last {in_words(minutes)}, up to {stamp(now_s)}"
        if not lines:
            return f"Nothing was changed in {namespace!r} {period}."
        return "\n".join(
            [f"Changes in {namespace!r} {period}:", tail(lines, "Look back over fewer minutes.")]
        )

    def _since(self, namespace: str, start_s: float) -> Iterator[_Change]:
        """What was written to declared objects since a time, and made a difference."""
        before: dict[Key, Object] = {}

        def wanted(key: Key) -> bool:
            return key.namespace == namespace and key[:2] in KINDS and key[1::2] not in MADE_FOR_ALL

        for write in self._log.history(wanted):
            known = before.get(write.key)
            before[write.key] = write.object
            if write.change == "DELETED":
                del before[write.key]
            if write.time_s >= start_s:
                fields = _differences(write.key, known, write.object) if write.change == "MODIFIED" else []
                if fields or write.change != "MODIFIED":
                    yield _Change(
                        write.time_s, write.change, write.key.plural, [write.key.name], _author(write), fields
                    )


class _Change(NamedTuple):
    """One write, or several of one kind at about one time."""

    time_s: float
    what: str
    plural: str
    names: list[str]
    author: str
    fields: list[str]

    def lines(self, when: str) -> list[str]:
        done = {"ADDED": "created", "DELETED": "deleted", "MODIFIED": "changed"}[self.what]
        shown = ", ".join(f"{self.plural}/{name}" if len(self.names) == 1 else name for name in self.names)
        what = shown if len(self.names) == 1 else f"{len(self.names)} {self.plural}: {shown}"
        more = len(self.fields) - SHOWN_FIELDS
        told = [f"    {field}" for field in self.fields[:SHOWN_FIELDS]]
        if more > 0:
            told.append(f"    and {more} more fields")
        return [f"{when} {done} {what} (by {self.author})", *told]


def _together(changes: Iterator[_Change]) -> Iterator[_Change]:
    """Objects of a kind that came or went together are one change."""
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


def _author(write: Revision) -> str:
    """Who wrote, and with what: the newest of the managers that the object names."""
    entries = [
        one
        for one in write.object["metadata"].get("managedFields") or ()
        if one.get("subresource") != "status"
    ]
    newest = max(entries, key=lambda one: one.get("time") or "", default=None)
    user = write.by.removeprefix("system:serviceaccount:kube-system:") or "unknown"
    return user if newest is None or write.change == "DELETED" else f"{user}, {newest['manager']}"


def _differences(key: Key, before: Object | None, after: Object) -> list[str]:
    """Fields whose values differ, old -> new."""
    old, new = (dict(_fields(obj)) for obj in (before or {}, after))
    told = []
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            if key.plural == "secrets" and path.startswith(("data.", "stringData.")):
                told.append(
                    f"{path}: {'added' if path not in old else 'removed' if path not in new else 'changed'}"
                )
            else:
                told += _told(path, old.get(path), new.get(path))
    return told


def _told(path: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        gone, came = (
            set(one.splitlines()) - set(other.splitlines()) for one, other in ((old, new), (new, old))
        )
        lines = _some([f"- {line}" for line in old.splitlines() if line in gone], "gone")
        lines += _some([f"+ {line}" for line in new.splitlines() if line in came], "new")
        return [f"{path}: {line}" for line in lines] or [f"{path}: its lines were put in another order"]
    return [f"{path}: {_short(_word(old))} -> {_short(_word(new))}"]


def _some(lines: list[str], what: str) -> list[str]:
    more = len(lines) - SHOWN_LINES
    return [
        *map(_short, lines[:SHOWN_LINES]),
        *([f"and {more} more lines that are {what}"] if more > 0 else ()),
    ]


def _word(value: Any) -> str:
    return "(none)" if value is None else value if isinstance(value, str) and value else repr(value)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All leaves of an object with their paths; parts of lists by their names where they have one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if not _is_own(path, name):
                yield from _fields(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for number, one in enumerate(value):
            has_name = isinstance(one, dict) and "name" in one and not path.endswith("ports")
            name = one["name"] if has_name else number
            yield from _fields(one, f"{path}[{name}]")
    elif value is not None and value not in ({}, []):
        yield path, value


def _is_own(path: str, name: str) -> bool:
    if not path:
        return name in _OWN
    if path == "metadata":
        return name in _OWN_METADATA
    if path == "spec" and name in ("volumeName", "claimRef"):
        return True  # binding writes them, nobody declares them
    return path.endswith("annotations") and name.startswith(_OWN_ANNOTATIONS)
