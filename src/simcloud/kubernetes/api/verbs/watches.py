"""The verb watch: every change of the selected objects from a revision on.

A ``Watch`` collects events at the instant of each write. A program inside the world awaits ``next()``; the HTTP
server sets ``on_event`` and drains ``take()``. A watcher that falls behind is ended, as by the genuine server; its
client lists again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec import Struct

from simcloud.kubernetes.api.context import ReadContext
from simcloud.kubernetes.api.conversion import convert
from simcloud.kubernetes.api.errors import Expired, Invalid
from simcloud.kubernetes.api.field_errors import FieldError, forbidden, not_supported
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.options import ListOptions
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import FieldSelector, LabelSelector, parse_fields, parse_labels
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.verbs.reads import select, version_number
from simcloud.sim import Event

BOOKMARK_EVERY_S: Final = 60.0
PENDING_EVENTS: Final = 20_000
"""A watcher with more events waiting than this is ended."""

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class WatchEvent(NamedTuple):
    """ADDED, MODIFIED, DELETED with the object; BOOKMARK with a version; ERROR with a Status."""

    type: str
    object: Object


class WatchOptions(Struct, frozen=True):
    """What a watcher asks for."""

    labels: str = ""
    fields: str = ""
    resource_version: str = ""
    match: str = ""
    bookmarks: bool = False
    initial_events: bool | None = None
    """Start with an ADDED event for every existing object, then a bookmark."""
    timeout_s: float | None = None


class Watch:
    """A running watch. ``closed`` says that nothing more will come after what is waiting."""

    def __init__(
        self, api: ReadContext, resource: Resource, namespace: str | None, options: WatchOptions
    ) -> None:
        self._api = api
        self.resource = resource
        self._namespace = namespace if resource.namespaced else None
        self._labels: LabelSelector | None = parse_labels(options.labels) if options.labels else None
        self._fields: FieldSelector | None = parse_fields(options.fields) if options.fields else None
        if self._fields is not None:
            self._fields.check(resource)
        self._waiting: deque[WatchEvent] = deque()
        self._arrived: Event[None] | None = None
        self._stop_listening: Callable[[], object] = lambda: None
        self.on_event: Callable[[], None] | None = None
        self.closed = False

    def take(self) -> WatchEvent | None:
        """Return the next waiting event, or None."""
        return self._waiting.popleft() if self._waiting else None

    async def next(self) -> WatchEvent | None:
        """The next event, as soon as there is one; None at the end. For programs inside the world."""
        while not self._waiting:
            if self.closed:
                return None
            self._arrived = Event(self._api.kernel)
            await self._arrived.wait()
        return self._waiting.popleft()

    def stop(self) -> None:
        """End the watch; what is waiting can still be taken."""
        if not self.closed:
            self.closed = True
            self._stop_listening()
            self._wake()

    def _begin(self, start: int | None, options: WatchOptions) -> None:
        """From a revision on, or, if there is none, from the present state on."""
        api, kept = self._api, self._api.storage_version(self.resource)
        self._stop_listening = api.log.listen(kept.group, kept.plural, self._see)
        if start is None:
            chosen = ListOptions(labels=options.labels, fields=options.fields)
            present = api.log.objects(kept.group, kept.plural, self._namespace)
            for obj in select(self.resource, present, chosen):
                self._add("ADDED", obj)
            if options.initial_events and options.bookmarks:
                self._bookmark({INITIAL_EVENTS_END: "true"})
        else:
            for write in api.log.since(kept.group, kept.plural, start):
                self._see(write)
        if options.bookmarks:
            api.kernel.call_later(BOOKMARK_EVERY_S, self._bookmark_regularly, None)
        if options.timeout_s is not None:
            api.kernel.call_later(options.timeout_s, lambda _: self.stop(), None)

    def _see(self, write: Revision) -> None:
        if self._namespace is not None and write.key.namespace != self._namespace:
            return
        before = write.before is not None and self._matches(write.before)
        after = write.change != "DELETED" and self._matches(write.object)
        if after:
            self._add("MODIFIED" if before else "ADDED", write.object)
        elif before:
            self._add("DELETED", write.object if write.change == "DELETED" else _show_as_before(write))
        if len(self._waiting) > PENDING_EVENTS:
            self.stop()

    def _matches(self, obj: Object) -> bool:
        labels = self._labels
        if labels is not None and not labels.matches(obj["metadata"].get("labels") or {}):
            return False
        return self._fields is None or self._fields.matches(obj, self.resource)

    def _add(self, kind: str, obj: Object) -> None:
        self._waiting.append(WatchEvent(kind, convert(obj, self.resource)))
        self._wake()

    def _bookmark(self, annotations: dict[str, str] | None = None) -> None:
        metadata: Object = {"resourceVersion": str(self._api.log.revision), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        kind, api_version = self.resource.kind, self.resource.api_version
        self._waiting.append(
            WatchEvent("BOOKMARK", {"kind": kind, "apiVersion": api_version, "metadata": metadata})
        )
        self._wake()

    def _bookmark_regularly(self, _: None) -> None:
        if not self.closed:
            self._bookmark()
            self._api.kernel.call_later(BOOKMARK_EVERY_S, self._bookmark_regularly, None)

    def _wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()
        if self.on_event is not None:
            self.on_event()

    def _fail(self, status: Object) -> None:
        self._waiting.append(WatchEvent("ERROR", status))
        self.stop()


def watch(api: ReadContext, resource: Resource, namespace: str | None, options: WatchOptions) -> Watch:
    """Begin a watch. One that would start before the log's window says so in its first event."""
    problems = _problems(options)
    if problems:
        raise Invalid("meta.k8s.io", "ListOptions", "", problems)
    watcher = Watch(api, resource, namespace, options)
    start = None
    if options.resource_version not in ("", "0") and not options.initial_events:
        start = version_number(options.resource_version)
        if start < api.log.compacted:
            stale = f"too old resource version: {start} ({api.log.compacted + 1})"
            watcher._fail(Expired(stale).status())
            return watcher
    if options.initial_events is False and start is None:
        start = api.log.revision
    watcher._begin(start, options)
    return watcher


def _problems(options: WatchOptions) -> list[FieldError]:
    """What is wrong with a resourceVersionMatch; a watch has it only with its initial events."""
    match, field = options.match, "resourceVersionMatch"
    problems = []
    if options.initial_events is not None and match != "NotOlderThan":
        problems.append(forbidden(field, f"sendInitialEvents requires setting {field} to NotOlderThan"))
    if match and options.initial_events is None:
        problems.append(
            forbidden(field, f"{field} is forbidden for watch unless sendInitialEvents is provided")
        )
    if match not in ("", "NotOlderThan"):
        problems.append(not_supported(field, match, ("NotOlderThan",)))
    return problems


def _show_as_before(write: Revision) -> Object:
    """An object that left the selection is shown as it was when it still belonged."""
    before = write.before or write.object
    return {**before, "metadata": {**before["metadata"], "resourceVersion": str(write.number)}}
