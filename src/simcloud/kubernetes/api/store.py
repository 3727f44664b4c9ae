"""The append-only revision log, the only place where objects are stored.

Every write is a numbered revision, and everything else is derived from the log: the current state, watches,
``resourceVersion``, "too old resource version", lists of a past revision, the author of each write. Revisions older
than the window can be read for audit and for the log's hash, but no watch can start there; the oldest are compressed.

Stored objects are shared with readers and never modified.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from simcloud.kubernetes.api.objects import Object
from simcloud.machine.proc import whole_pages

WINDOW_S: Final = 300.0
"""How far back a watch may start, in virtual seconds."""

PACK_REVISIONS: Final = 256
"""Number of old revisions that leave the window, and are packed, together."""

UNPACKED_BLOCKS: Final = 16
"""Blocks of old revisions that are not packed yet. Most worlds end before they have more, and share parts of their objects."""

PACK_LEVEL: Final = 1
"""Twice as fast as the usual level, for a quarter more bytes."""

Change: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]


WRITES_PER_S: Final = 1.4
"""Of a quiet cluster: leases of nodes and of the control plane."""
EMPTY_BYTES: Final = 1_527_808
OBJECT_BYTES: Final = 1_940


class Key(NamedTuple):
    """Where an object lives. The namespace of a cluster-wide object is empty."""

    group: str
    plural: str
    namespace: str
    name: str


class Revision(Struct):
    """One write: what it did to which object, when (virtual time), and by whom."""

    number: int
    time_s: float
    change: Change
    key: Key
    object: Object
    """The object after the write; of a deletion, its last state with the deletion's resourceVersion."""
    before: Object | None
    by: str


class _Packed(msgspec.Struct):
    """A revision that was packed, with its object as it is stored there."""

    number: int
    time_s: float
    change: Change
    key: Key
    object: msgspec.Raw
    by: str

    def unpack(self, shift_s: float) -> Revision:
        found: Object = msgspec.msgpack.decode(self.object)
        return Revision(self.number, self.time_s - shift_s, self.change, self.key, found, None, self.by)


class _Block(Struct):
    """Old revisions, as they were or packed; their times are ``shift_s`` too late."""

    ended_s: float
    revisions: list[Revision]
    data: bytes = b""
    shift_s: float = 0.0

    def pack(self) -> None:
        """Compress the revisions."""
        self.data = zlib.compress(msgspec.msgpack.encode(self.revisions), PACK_LEVEL)
        self.revisions = []

    def read(self, wanted: Callable[[Key], bool] | None, since_s: float) -> Iterator[Revision]:
        """The wanted revisions since then."""
        if not self.data:
            for kept in self.revisions:
                if kept.time_s - self.shift_s >= since_s and (wanted is None or wanted(kept.key)):
                    yield replace(kept, time_s=kept.time_s - self.shift_s)
            return
        # Objects are most of what is packed: those that nobody wants are not unpacked.
        for write in msgspec.msgpack.decode(zlib.decompress(self.data), type=list[_Packed]):
            if write.time_s - self.shift_s >= since_s and (wanted is None or wanted(write.key)):
                yield write.unpack(self.shift_s)


Listener: TypeAlias = Callable[[Revision], None]


class _Collection(Struct):
    """The objects of one resource, and its revisions within the window."""

    newest: int = 0
    """The number of the newest write to it."""
    namespaces: dict[str, dict[str, Object]] = field(default_factory=dict)
    recent: deque[Revision] = field(default_factory=deque)
    listeners: dict[int, Listener] = field(default_factory=dict)
    by_node: dict[str, dict[int, Listener]] = field(default_factory=dict)
    """Those who listen for what is bound to one node: a write asks one node's, not all of them."""
    in_order: dict[str, list[Object]] = field(default_factory=dict)
    """Sorted lists handed out before, by namespace ("*" for all), until the next write."""


class RevisionLog:
    """The store. ``clock`` gives virtual seconds; nothing here waits."""

    seal: Callable[[Object], Object] = staticmethod(lambda obj: obj)
    """Every object passes through it as it is stored. Tests freeze objects here."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._collections: dict[tuple[str, str], _Collection] = {}
        self._recent: deque[Revision] = deque()
        self._old: list[_Block] = []
        self._listener_numbers = 0
        self.revision = 0
        """The number of the newest revision."""
        self.compacted = 0
        """The newest revision that fell out of the window."""

    def get(self, key: Key) -> Object | None:
        """The object as it is now."""
        collection = self._collections.get(key[:2])
        if collection is None:
            return None
        return collection.namespaces.get(key.namespace, {}).get(key.name)

    def objects(self, group: str, plural: str, namespace: str | None = None) -> list[Object]:
        """All objects of a resource, or of one namespace, sorted by namespace and name. Do not change the list."""
        collection = self._collections.get((group, plural))
        if collection is None:
            return []
        wanted = "*" if namespace is None else namespace
        found = collection.in_order.get(wanted)
        if found is None:
            spaces = sorted(collection.namespaces) if namespace is None else [namespace]
            found = [
                objects[name]
                for space in spaces
                if (objects := collection.namespaces.get(space)) is not None
                for name in sorted(objects)
            ]
            collection.in_order[wanted] = found
        return found

    def list_keys(self) -> Iterator[Key]:
        """The keys of all objects there are now."""
        for (group, plural), collection in self._collections.items():
            for namespace, objects in collection.namespaces.items():
                for name in objects:
                    yield Key(group, plural, namespace, name)

    def list_at(self, group: str, plural: str, namespace: str | None, revision: int) -> list[Object]:
        """The same list as it was at a revision within the window: later writes are taken back."""
        objects = {
            (o["metadata"].get("namespace", ""), o["metadata"]["name"]): o
            for o in self.objects(group, plural, namespace)
        }
        collection = self._collections.get((group, plural))
        for write in reversed(collection.recent) if collection is not None else ():
            if write.number <= revision:
                break
            if namespace not in (None, write.key.namespace):
                continue
            if write.before is None:
                objects.pop(write.key[2:], None)
            else:
                objects[write.key[2:]] = write.before
        return [objects[place] for place in sorted(objects)]

    def count(self, group: str, plural: str) -> int:
        """How many objects of a resource there are."""
        collection = self._collections.get((group, plural))
        return sum(len(objects) for objects in collection.namespaces.values()) if collection else 0

    def put(self, key: Key, obj: Object, by: str = "", age_s: float = 0.0) -> Object:
        """Write an object, which from now on belongs to the log.

        Its resourceVersion is set here: about that of a write that long ago.
        """
        collection = self._collection(key.group, key.plural)
        objects = collection.namespaces.setdefault(key.namespace, {})
        before = objects.get(key.name)
        obj["metadata"]["resourceVersion"] = str(self.revision + 1 - int(age_s * WRITES_PER_S))
        objects[key.name] = obj = self.seal(obj)
        self._append(collection, "ADDED" if before is None else "MODIFIED", key, obj, before, by)
        return obj

    def remove(self, key: Key, by: str = "", last: Object | None = None) -> Object:
        """Delete an object. Returns its last state, which carries the deletion's resourceVersion."""
        collection = self._collection(key.group, key.plural)
        objects = collection.namespaces[key.namespace]
        before = objects.pop(key.name)
        if not objects:
            del collection.namespaces[key.namespace]
        last = last if last is not None else before
        gone = {**last, "metadata": {**last["metadata"], "resourceVersion": str(self.revision + 1)}}
        self._append(collection, "DELETED", key, gone, before, by)
        return gone

    def newest(self, resources: Iterable[tuple[str, str]]) -> int:
        """The number of the newest write to any of these resources, each given by its group and plural."""
        found = (self._collections.get(resource) for resource in resources)
        return max((collection.newest for collection in found if collection is not None), default=0)

    def since(self, group: str, plural: str, revision: int) -> list[Revision]:
        """The writes to a resource after a revision. The caller has checked that it is within the window."""
        recent = self._collection(group, plural).recent
        start = bisect_right(recent, revision, key=lambda write: write.number)
        return [recent[index] for index in range(start, len(recent))]

    def listen(self, group: str, plural: str, listener: Listener, node: str = "") -> Callable[[], None]:
        """Tell a listener of every later write to a resource, at once. Returns how to stop it.

        With a ``node``, only of pods that are bound to it.
        """
        collection = self._collection(group, plural)
        self._listener_numbers += 1
        number = self._listener_numbers
        listeners = collection.by_node.setdefault(node, {}) if node else collection.listeners
        listeners[number] = listener
        return lambda: listeners.pop(number, None) and None

    @property
    def size_bytes(self) -> int:
        """About the size of etcd's database: it keeps objects, and their revisions of the last minutes."""
        kept = sum(
            len(objects)
            for collection in self._collections.values()
            for objects in collection.namespaces.values()
        )
        return whole_pages(EMPTY_BYTES + (kept + len(self._recent)) * OBJECT_BYTES)

    @property
    def listeners(self) -> int:
        """How many listen: one for every open watch, beside the cluster's own."""
        return sum(
            len(listeners)
            for collection in self._collections.values()
            for listeners in (collection.listeners, *collection.by_node.values())
        )

    def history(
        self, wanted: Callable[[Key], bool] | None = None, since_s: float = -inf
    ) -> Iterator[Revision]:
        """Every revision since then, the oldest first; of some objects only, where ``wanted`` says so."""
        for block in self._old:
            if block.ended_s >= since_s:
                yield from block.read(wanted, since_s)
        start = bisect_left(self._recent, since_s, key=lambda write: write.time_s)
        for recent in islice(self._recent, start, None):
            if wanted is None or wanted(recent.key):
                yield recent

    def shift_times(self, seconds: float) -> None:
        """Make every revision that much older; leases were renewed in the time between, so revisions have gone by."""
        self.revision += int(seconds * WRITES_PER_S)
        for write in self._recent:
            write.time_s -= seconds
        for block in self._old:
            block.ended_s -= seconds
            block.shift_s += seconds

    def hash(self) -> str:
        """A digest of the whole log: equal for equal worlds."""
        digest = sha256()
        for write in self.history():
            digest.update(
                msgspec.json.encode((write.number, write.time_s, write.change, write.key, write.object))
            )
        return digest.hexdigest()

    def _collection(self, group: str, plural: str) -> _Collection:
        found = self._collections.get((group, plural))
        if found is None:
            found = self._collections[group, plural] = _Collection()
        return found

    def _append(
        self, collection: _Collection, change: Change, key: Key, obj: Object, before: Object | None, by: str
    ) -> None:
        now = self._clock()
        self.revision += 1
        write = Revision(self.revision, now, change, key, obj, before, by)
        collection.newest = self.revision
        collection.in_order.clear()
        collection.recent.append(write)
        self._recent.append(write)
        if now - self._recent[0].time_s > WINDOW_S:
            self._compact(now - WINDOW_S)
        for listener in list(collection.listeners.values()):
            listener(write)
        if collection.by_node:
            for listener in list(collection.by_node.get(obj["spec"].get("nodeName"), {}).values()):
                listener(write)

    def _compact(self, horizon_s: float) -> None:
        """Put aside what fell out of the window, a block at a time. Earlier revisions have the state before each write."""
        while len(self._recent) > PACK_REVISIONS and self._recent[PACK_REVISIONS - 1].time_s < horizon_s:
            block = [self._recent.popleft() for _ in range(PACK_REVISIONS)]
            self.compacted = block[-1].number
            for write in block:
                self._collection(*write.key[:2]).recent.popleft()
            self._old.append(_Block(block[-1].time_s, [replace(write, before=None) for write in block]))
            if len(self._old) > UNPACKED_BLOCKS:
                self._old[-1 - UNPACKED_BLOCKS].pack()
