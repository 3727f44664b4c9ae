"""Counts of write requests by result, the source of the metric ``apiserver_request_total``.

Reads are not counted, because control loops in this process read the log where genuine ones read their own cache.
Durations are not measured, because a request is served at one instant.
"""

from __future__ import annotations

from types import TracebackType
from typing import Final

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.resources import Resource
from simcloud.machine import Counter, Metrics

CREATED: Final = "201"
DONE: Final = "200"
REPORTED: Final = ("nodes", "pods")

_Key = tuple[str, str, str, str, str, str]


class RequestCounts:
    """Counters by verb, resource and the code of the answer."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self._counters: dict[_Key, Counter] = {}

    def count(self, verb: str, resource: Resource, subresource: str, code: str) -> None:
        """One request was answered. A kubelet sends a status as a patch."""
        if subresource == "status" and resource.plural in REPORTED:
            verb = "PATCH"
        key = (verb, resource.group, resource.version, resource.plural, subresource, code)
        counter = self._counters.get(key)
        if counter is None:
            names = ("verb", "group", "version", "resource", "subresource", "code")
            constant = {"component": "apiserver", "dry_run": "", "scope": "resource"}
            labels = constant | dict(zip(names, key, strict=True))
            counter = self._counters[key] = self.metrics.counter(
                "apiserver_request_total", tuple(sorted(labels.items()))
            )
        counter.value += 1.0


class Counted:
    """A request that is being served: it counts when it ends, unless it was put off."""

    __slots__ = ("_counts", "_of")

    def __init__(self, counts: RequestCounts, verb: str, resource: Resource, subresource: str = "") -> None:
        self._counts = counts
        self._of = (verb, resource, subresource)

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._counts.count(*self._of, CREATED if self._of[0] == "POST" else DONE)
        elif isinstance(error, ApiError):
            self._counts.count(*self._of, str(error.code))
