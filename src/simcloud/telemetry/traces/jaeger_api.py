"""Jaeger's HTTP query API, as of all-in-one 1.57, as functions: path and parameters in, document out.

A server calls ``answer`` for HTTP requests; errors are documents too, with their status. Lists that are unordered in
Jaeger are sorted here: services, operations and dependencies by name, traces by time. A Jaeger in a pod arranges names itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from simcloud.telemetry.traces import jaeger_parameters as reading
from simcloud.telemetry.traces.graph import dependencies
from simcloud.telemetry.traces.jaeger_documents import id_text, trace_document
from simcloud.telemetry.traces.jaeger_parameters import Parameters, Refusal, one
from simcloud.telemetry.traces.row_runs import RowRuns
from simcloud.telemetry.traces.store import TraceStore
from simcloud.telemetry.traces.view import Operation, Trace, TraceView

Document = dict[str, Any]
Name = TypeVar("Name", str, Operation)

_NOT_FOUND: Final = "trace not found"
_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
_LOW_HALF: Final = 2**64 - 1


class JaegerApi:
    """Answers requests from the spans of a store, or from those that one receiver got."""

    def __init__(self, store: TraceStore, now_us: Callable[[], int], received: RowRuns | None = None) -> None:
        self.view = TraceView(store, received)
        self._own: dict[str, TraceView] = {}
        self._now_us = now_us

    def arrange_names(self, found: list[Name]) -> list[Name]:
        """Return names, or operations, in the order of an answer; they come in the order in which they were first stored."""
        return sorted(found)

    def arrange_links(self, found: list[Document]) -> list[Document]:
        """Return dependencies, which come sorted, in the order of an answer."""
        return found

    def show_own(self, service: str, store: TraceStore) -> None:
        """Also answer from the spans of a service that has a store to itself, Jaeger for instance."""
        self._own[service] = TraceView(store)

    def answer(self, path: str, parameters: Parameters) -> tuple[int, Document]:
        """Return the status and the document for a path such as ``/api/services``, decoded, without its query."""
        try:
            return 200, self._answer(path, parameters)
        except Refusal as refusal:
            return refusal.status, _envelope(None, errors=[{"code": refusal.status, "msg": refusal.message}])

    def _answer(self, path: str, parameters: Parameters) -> Document:
        route = _ROUTES.get(path)
        if route is not None:
            return route(self, parameters)
        if path.startswith("/api/traces/") and path.count("/") == 3:
            return self.trace(path.removeprefix("/api/traces/"), parameters)
        if path.startswith("/api/services/") and path.endswith("/operations"):
            return self.operation_names(path[len("/api/services/") : -len("/operations")])
        if path.startswith("/api/metrics/"):
            raise Refusal(501, "metrics querying is currently disabled")
        raise Refusal(404, "404 page not found")

    def services(self, parameters: Parameters) -> Document:
        """``/api/services``."""
        names = self.arrange_names([*self.view.services(), *self._own])
        return _envelope(names or None, total=len(names))

    def operations(self, parameters: Parameters) -> Document:
        """``/api/operations``: what a service does, and as which side of a call."""
        service = one(parameters, "service")
        if not service:
            raise reading.service_required()
        found = self.arrange_names(self._view_of(service).operations(service, one(parameters, "spanKind")))
        data = [{"name": operation.name, "spanKind": operation.kind} for operation in found]
        return _envelope(data, total=len(data))

    def operation_names(self, service: str) -> Document:
        """``/api/services/<service>/operations``."""
        found = self._view_of(service).operations(service)
        names = self.arrange_names(list(dict.fromkeys(operation.name for operation in found)))
        return _envelope(names or None, total=len(names))

    def traces(self, parameters: Parameters) -> Document:
        """``/api/traces``: a search, or traces by their ids."""
        search = reading.search_of(parameters, self._now_us())
        trace_ids = reading.trace_ids_of(parameters)
        if not trace_ids:
            return _envelope([trace_document(trace) for trace in self._view_of(search.service).find(search)])
        found: list[Document] = []
        missing: list[Document] = []
        for trace_id in trace_ids:
            if trace := self._trace(trace_id):
                found.append(trace_document(trace))
            else:
                missing.append({"msg": _NOT_FOUND, "traceID": id_text(trace_id)})
        return _envelope(found, errors=missing or None)

    def trace(self, id: str, parameters: Parameters) -> Document:
        """``/api/traces/<id>``."""
        trace = self._trace(reading.trace_id_of(id))
        if not trace:
            raise Refusal(404, _NOT_FOUND)
        return _envelope([trace_document(trace, adjusted=one(parameters, "raw") not in _TRUE)])

    def dependencies(self, parameters: Parameters) -> Document:
        """``/api/dependencies``: who calls whom, how often."""
        start_us, end_us = reading.window_of(parameters, self._now_us())
        service = one(parameters, "service")
        links = [
            {"parent": edge.parent, "child": edge.child, "callCount": edge.calls}
            for edge in dependencies(self.view, start_us, end_us)
            if service in ("", edge.parent, edge.child)
        ]
        return _envelope(self.arrange_links(links))

    def _trace(self, trace_id: int) -> Trace:
        if trace_id > _LOW_HALF:
            return ()
        views = (self.view, *self._own.values())
        return next((trace for trace in (view.trace(trace_id) for view in views) if trace), ())

    def _view_of(self, service: str) -> TraceView:
        return self._own.get(service, self.view)


def _envelope(data: Any, total: int = 0, errors: list[Document] | None = None) -> Document:
    return {"data": data, "total": total, "limit": 0, "offset": 0, "errors": errors}


_ROUTES: Final[dict[str, Callable[[JaegerApi, Parameters], Document]]] = {
    "/api/services": JaegerApi.services,
    "/api/operations": JaegerApi.operations,
    "/api/traces": JaegerApi.traces,
    "/api/dependencies": JaegerApi.dependencies,
}
