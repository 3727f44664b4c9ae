"""Loki's HTTP API as functions: a path and parameters in, a status and a document out.

A document is sent as JSON; where Loki answers plain text it is a string. The API is read-only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from simcloud.golang import quote
from simcloud.machine import Labels
from simcloud.telemetry.logs.logql import (
    Effort,
    Evaluation,
    FoundLine,
    LogqlError,
    LogSelector,
    PipelineFailed,
    TooLong,
    TooMany,
    check_narrow,
    find_lines,
    parse,
    parse_matchers,
)
from simcloud.telemetry.logs.store import SECOND_NS, LogStore, LogStream
from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.prometheus_api import parse_step_s, result_document
from simcloud.telemetry.promql import QueryError
from simcloud.telemetry.promql.numbers import parse_duration_ms
from simcloud.telemetry.promql.values import Result

Parameters = Mapping[str, Sequence[str]]
Document = dict[str, Any] | str

VERSION: Final = "3.5.0"
_PREFIX: Final = "/loki/api/v1/"
_LIMIT: Final = 100
_MOST_LINES: Final = 5000
_MOST_POINTS: Final = 11_000
_QUERY_SINCE_NS: Final = 3600 * SECOND_NS
_LABELS_SINCE_NS: Final = 6 * 3600 * SECOND_NS
_FRACTION: Final = re.compile(r"\.(\d{1,9})\d*(?=Z|[+-])")
_LABEL_VALUES: Final = re.compile(r"label/([^/]+)/values")


class _Refused(Exception):
    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class LokiApi:
    """Answers requests from a store. ``now_ns`` returns the time in nanoseconds since 1970."""

    def __init__(self, store: LogStore, now_ns: Callable[[], int]) -> None:
        self.store = store
        self._now_ns = now_ns

    @staticmethod
    def serves(path: str) -> bool:
        """Return whether there is such a path."""
        below = path.removeprefix(_PREFIX)
        return path == "/ready" or (
            below != path and (below in _ROUTES or _LABEL_VALUES.fullmatch(below) is not None)
        )

    def answer(self, path: str, parameters: Parameters) -> tuple[int, Document]:
        """Return the answer to a whole path such as ``/loki/api/v1/query_range``."""
        if path == "/ready":
            return 200, "ready\n"
        if not self.serves(path):
            return 404, "404 page not found\n"
        below = path.removeprefix(_PREFIX)
        try:
            match = _LABEL_VALUES.fullmatch(below)
            if match is not None:
                return 200, self.label_values(match[1], parameters)
            return 200, _ROUTES[below](self, parameters)
        except _Refused as refused:
            return refused.status, str(refused)
        except (LogqlError, PipelineFailed, TooMany, QueryError) as fault:
            return 400, str(fault)
        except TooLong as fault:
            return 504, str(fault)

    def query_range(self, parameters: Parameters) -> Document:
        """``query_range``: lines in a time, or numbers at every step of it."""
        start_ns, end_ns = self._bounds(parameters, _QUERY_SINCE_NS)
        if end_ns <= start_ns:
            raise _Refused("end timestamp must not be before or equal to start time")
        limit = _limit(parameters)
        newest_first = _newest_first(parameters)
        step_ns = _step_ns(parameters, start_ns, end_ns)
        query = parse(_one(parameters, "query"))
        effort = Effort()
        if isinstance(query, LogSelector):
            found = find_lines(self.store, query, start_ns, end_ns, effort, newest_first=newest_first)
            return _answer("streams", _streams(found, limit), effort)
        if (end_ns - start_ns) // step_ns > _MOST_POINTS:
            raise _Refused(
                "exceeded maximum resolution of 11,000 points per time series."
                " Try increasing the value of the step parameter"
            )
        return _numbers(Evaluation(self.store, start_ns, end_ns, effort).range(query, step_ns), effort)

    def query(self, parameters: Parameters) -> Document:
        """``query``: numbers at one time."""
        text = _one(parameters, "time")
        t_ns = _time_ns("time", text) if text else self._now_ns()
        _limit(parameters)
        _newest_first(parameters)
        query = parse(_one(parameters, "query"))
        if isinstance(query, LogSelector):
            raise _Refused(
                "log queries are not supported as an instant query type, please change your query to a range query type"
            )
        effort = Effort()
        return _numbers(Evaluation(self.store, t_ns, t_ns, effort).instant(query), effort)

    def labels(self, parameters: Parameters) -> Document:
        """``labels``: the names of labels."""
        streams = self._streams_of(parameters)
        return _list_document(sorted({name for stream in streams for name, _ in stream.labels}))

    def label_values(self, name: str, parameters: Parameters) -> Document:
        """``label/<name>/values``."""
        streams = self._streams_of(parameters)
        return _list_document(
            sorted({value for stream in streams for label, value in stream.labels if label == name})
        )

    def series(self, parameters: Parameters) -> Document:
        """``series``: which streams fulfil a selector."""
        start_ns, end_ns = self._bounds(parameters, _LABELS_SINCE_NS)
        groups = [*parameters.get("match", ()), *parameters.get("match[]", ())]
        selections = [parse_matchers(group) for group in groups]
        if len(selections) > 1 or (selections and selections[0]):
            for group, matchers in zip(groups, selections, strict=True):
                if not matchers:
                    raise _Refused(f"0 matchers in group: {group}")
                check_narrow(matchers)
        found = {
            stream.labels
            for matchers in selections or [()]
            for stream in self._present(matchers, start_ns, end_ns)
        }
        return {"status": "success", "data": [dict(labels) for labels in sorted(found)]}

    def index_stats(self, parameters: Parameters) -> Document:
        """``index/stats``: how much a query would look at."""
        start_ns, end_ns = self._bounds(parameters, _LABELS_SINCE_NS)
        streams = self._present(parse_matchers(_one(parameters, "query")), start_ns, end_ns)
        texts = [stream.texts[place] for stream in streams for place in stream.between(start_ns, end_ns)]
        return {
            "streams": len(streams),
            "chunks": len(streams),
            "bytes": sum(map(len, texts)),
            "entries": len(texts),
        }

    def build_info(self, parameters: Parameters) -> Document:
        """``status/buildinfo``: what this answers like."""
        empty = dict.fromkeys(("revision", "branch", "buildUser", "buildDate", "goVersion"), "")
        return {"version": VERSION, **empty}

    def _streams_of(self, parameters: Parameters) -> list[LogStream]:
        start_ns, end_ns = self._bounds(parameters, _LABELS_SINCE_NS)
        text = _one(parameters, "query")
        return self._present(parse_matchers(text) if text else (), start_ns, end_ns)

    def _present(self, matchers: tuple[Matcher, ...], start_ns: int, end_ns: int) -> list[LogStream]:
        return [stream for stream in self.store.select(matchers) if stream.between(start_ns, end_ns)]

    def _bounds(self, parameters: Parameters, since_ns: int) -> tuple[int, int]:
        end, start, since = (_one(parameters, name) for name in ("end", "start", "since"))
        end_ns = _time_ns("end", end) if end else self._now_ns()
        if since:
            try:
                since_ns = parse_duration_ms(since) * 1_000_000
            except ValueError as fault:
                raise _Refused(f"could not parse 'since' parameter: {fault}") from None
        return _time_ns("start", start) if start else min(end_ns, self._now_ns()) - since_ns, end_ns


def _streams(found: Any, limit: int) -> list[dict[str, Any]]:
    """Lines by their labels, as they come."""
    streams: dict[Labels, list[list[str]]] = {}
    line: FoundLine
    for _, line in zip(range(limit), found, strict=False):
        streams.setdefault(line.labels, []).append([str(line.time_ns), line.text])
    return [{"stream": dict(labels), "values": streams[labels]} for labels in sorted(streams)]


def _numbers(result: Result, effort: Effort) -> Document:
    document = result_document(result)
    assert isinstance(document, dict)
    return _answer(document["resultType"], document["result"], effort)


def _answer(kind: str, result: Any, effort: Effort) -> Document:
    summary = {
        "bytesProcessedPerSecond": 0,
        "linesProcessedPerSecond": 0,
        "totalBytesProcessed": effort.bytes,
        "totalLinesProcessed": effort.lines,
        "execTime": 0,
        "queueTime": 0,
        "totalEntriesReturned": sum(len(stream["values"]) for stream in result) if kind == "streams" else 0,
    }
    return {
        "status": "success",
        "data": {"resultType": kind, "result": result, "stats": {"summary": summary}},
    }


def _list_document(values: list[str]) -> Document:
    return {"status": "success", "data": values} if values else {"status": "success"}


def _time_ns(name: str, text: str) -> int:
    """Nanoseconds, seconds (with a point, or of at most ten digits), or RFC 3339."""
    try:
        if "." in text and text.replace(".", "", 1).isdigit():
            return round(float(text) * 1000) * 1_000_000
        if text.removeprefix("-").isdigit() and len(text) < 20:
            return int(text) * (SECOND_NS if len(text) <= 10 else 1)
        fraction = _FRACTION.search(text)
        digits = fraction[1].ljust(9, "0") if fraction else "0"
        moment = datetime.fromisoformat(_FRACTION.sub("", text))
        if moment.tzinfo is not None and "T" in text:
            return round(moment.timestamp()) * SECOND_NS + int(digits)
    except (ValueError, OverflowError):
        pass
    raise _Refused(f"could not parse '{name}' parameter: parsing time {quote(text)}: invalid timestamp")


def _step_ns(parameters: Parameters, start_ns: int, end_ns: int) -> int:
    text = _one(parameters, "step")
    if not text:
        return max((end_ns - start_ns) // SECOND_NS // 250, 1) * SECOND_NS
    try:
        step_ns = int(parse_step_s(text) * SECOND_NS)
    except ValueError as fault:
        raise _Refused(str(fault)) from None
    if step_ns <= 0:
        raise _Refused(
            "zero or negative query resolution step widths are not accepted. Try a positive integer"
        )
    return step_ns


def _limit(parameters: Parameters) -> int:
    text = _one(parameters, "limit")
    if not text:
        return _LIMIT
    if not text.removeprefix("-").isdecimal() or len(text) > 18:
        raise _Refused(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if int(text) <= 0:
        raise _Refused("limit must be a positive value")
    if int(text) > _MOST_LINES:
        raise _Refused(
            f"max entries limit per query exceeded, limit > max_entries_limit_per_query ({text} > {_MOST_LINES})"
        )
    return int(text)


def _newest_first(parameters: Parameters) -> bool:
    text = _one(parameters, "direction")
    if text and text.upper() not in ("FORWARD", "BACKWARD"):
        raise _Refused(f"invalid direction '{text}'")
    return text.upper() != "FORWARD"


def _one(parameters: Parameters, name: str) -> str:
    values = parameters.get(name)
    return values[0] if values else ""


_ROUTES: Final[dict[str, Callable[[LokiApi, Parameters], Document]]] = {
    "query": LokiApi.query,
    "query_range": LokiApi.query_range,
    "labels": LokiApi.labels,
    "label": LokiApi.labels,
    "series": LokiApi.series,
    "index/stats": LokiApi.index_stats,
    "status/buildinfo": LokiApi.build_info,
}
