"""Events of the cluster's components, with repeated events counted.

As in the genuine recorder: a repeated message increments a count; more than ten different messages with one reason
about one object within ten minutes are combined into one; and a source is limited in the events of one kind about one
object (25 at once, one more every five minutes).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.component_client import ComponentClient

COMBINE_AT: Final = 10
COMBINE_WITHIN_S: Final = 600.0
BURST: Final = 25
REFILL_EVERY_S: Final = 300.0
COMBINED: Final = "(combined from similar events): "
REMEMBERED: Final = 4096
"""A recorder forgets the oldest of more sentences than this."""


class _Similar(Struct):
    """The different sentences of one reason about one object, lately."""

    messages: dict[str, None] = field(default_factory=dict)
    last_s: float = 0.0


class _Allowance(Struct):
    """How much a source may still tell about one object."""

    tokens: float
    at_s: float


class Recorder:
    """Records events of one component. ``host`` is the node of a kubelet, empty for others."""

    def __init__(self, client: ComponentClient, component: str, host: str = "") -> None:
        self._client = client
        self._component = component
        self._host = host
        self._known: dict[tuple[str, ...], tuple[str, str]] = {}
        self._similar: dict[tuple[str, ...], _Similar] = {}
        self._allowances: dict[tuple[str, ...], _Allowance] = {}
        self._last_ns = 0

    def forget(self) -> None:
        """Forget the events sent, as after a restart: the same again is a new event."""
        self._known.clear()
        self._similar.clear()
        self._allowances.clear()

    def event(self, obj: Object, kind: str, reason: str, message: str, field_path: str = "") -> None:
        """Record that something happened to an object; ``kind`` is ``Normal`` or ``Warning``."""
        now_s = self._client.api.now_s
        about = object_reference(obj, field_path)
        if not self._take_token((*_identity(about), reason), now_s):
            return
        base = (
            about["kind"],
            about.get("namespace", ""),
            about["name"],
            about.get("uid", ""),
            field_path,
            kind,
            reason,
        )
        message, sentence = self._combine(base, message, now_s)
        known = self._known.get((*base, sentence))
        if known is not None and self._count(known, message):
            return
        stored = self._create(about, kind, reason, message, now_s)
        if stored is not None:
            self._remember((*base, sentence), stored)

    def _take_token(self, about: tuple[str, ...], now_s: float) -> bool:
        allowance = self._allowances.setdefault(about, _Allowance(BURST, now_s))
        allowance.tokens = min(BURST, allowance.tokens + (now_s - allowance.at_s) / REFILL_EVERY_S)
        allowance.at_s = now_s
        if allowance.tokens < 1:
            return False
        allowance.tokens -= 1
        if len(self._allowances) > REMEMBERED:
            del self._allowances[next(iter(self._allowances))]
        return True

    def _combine(self, base: tuple[str, ...], message: str, now_s: float) -> tuple[str, str]:
        """The message to tell, and the sentence it is counted under."""
        similar = self._similar.setdefault(base, _Similar())
        if now_s - similar.last_s > COMBINE_WITHIN_S:
            similar.messages.clear()
        similar.last_s = now_s
        similar.messages[message] = None
        if len(self._similar) > REMEMBERED:
            del self._similar[next(iter(self._similar))]
        if len(similar.messages) < COMBINE_AT:
            return message, message
        del similar.messages[next(iter(similar.messages))]
        return COMBINED + message, COMBINED

    def _count(self, known: tuple[str, str], message: str) -> bool:
        """Raise the count of an event that is still there."""
        namespace, name = known
        event = self._client.get("events", namespace, name)
        if event is None:
            return False
        counted: Object = copy(event)
        counted["count"] = counted.get("count", 1) + 1
        counted["lastTimestamp"] = self._client.api.timestamp()
        counted["message"] = message
        try:
            with self._client.api.aside():
                self._client.update(counted)
        except ApiError:
            return False
        return True

    def _create(self, about: Object, kind: str, reason: str, message: str, now_s: float) -> Object | None:
        now = rfc3339(now_s)
        source = {"component": self._component, **({"host": self._host} if self._host else {})}
        namespace = about.get("namespace") or "default"
        event: Object = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about['name']}.{self._suffix(now_s)}", "namespace": namespace},
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": kind,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }
        try:
            with self._client.api.aside():
                return self._client.create(event)
        except ApiError:
            # A namespace that is going takes no new events; nobody waits for one.
            return None

    def _suffix(self, now_s: float) -> str:
        """Nanoseconds in hex, as the genuine recorder names its events.

        Drawn within a millisecond, so that no two are equal; of one recorder the later is the larger,
        since lists of events are sorted by name.
        """
        drawn = self._client.api.kernel.random("events").randrange(1_000_000)
        self._last_ns = max(int(now_s * 1e9) + drawn, self._last_ns + 1 + drawn // 100)
        return f"{self._last_ns:x}"

    def _remember(self, sentence: tuple[str, ...], stored: Object) -> None:
        metadata = stored["metadata"]
        self._known[sentence] = (metadata["namespace"], metadata["name"])
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]


def _identity(about: Object) -> tuple[str, ...]:
    """What one allowance is for; some components name an object without its uid."""
    return tuple(about.get(field, "") for field in ("kind", "namespace", "name", "uid"))


def object_reference(obj: Object, field_path: str = "") -> Object:
    """A reference to the object that an event is about."""
    metadata = obj["metadata"]
    reference = {
        "kind": obj["kind"],
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "uid": metadata.get("uid", ""),
        "apiVersion": obj["apiVersion"],
        "resourceVersion": metadata.get("resourceVersion", ""),
        "fieldPath": field_path,
    }
    return {key: value for key, value in reference.items() if value}
