"""Whatever is asked, the answer is a document or a sentence, and never a fault of ours."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.emit import Span
from simcloud.server.telemetry.apis import QueryApi, apis_of
from tests.simcloud.telemetry.collectors.watched import Watched

PATHS = (
    "/api/v1/query",
    "/api/v1/query_range",
    "/api/v1/series",
    "/api/v1/labels",
    "/api/v1/label/job/values",
    "/api/v1/label/\ud800/values",
    "/api/v1/metadata",
    "/api/v1/targets",
    "/api/v1/alerts",
    "/api/v1/rules",
    "/api/v1/status/buildinfo",
    "/api/services",
    "/api/services/a/b/operations",
    "/api/operations",
    "/api/traces",
    "/api/traces/1f",
    "/api/traces/zz",
    "/api/dependencies",
    "/api/metrics/calls",
    "/loki/api/v1/query",
    "/loki/api/v1/query_range",
    "/loki/api/v1/labels",
    "/loki/api/v1/label/pod/values",
    "/loki/api/v1/series",
    "/topology",
)
NAMES = (
    "query", "time", "start", "end", "step", "timeout", "match[]", "limit", "direction", "interval", "since", "service",
    "operation", "tags", "tag", "minDuration", "maxDuration", "lookback", "lookback_s", "endTs", "traceID", "spanKind",
    "raw", "type", "metric",
)  # fmt: skip
VALUES = (
    "", "0", "-1", "1e308", "NaN", "Inf", "9" * 400, "-9223372036854775809", "1h", "5m", "2026-01-05T09:00:00Z", "up",
    "rate(up[5m])", '{namespace="kube-system"}', '{pod=~".*"} |= "a" | json', "sum(rate({pod=~\".+\"}[1m]))", "{", "a" * 5000,
    "\ud800", "\0", "front", '{"error":"true"}', "[1]", "true", "backward", "🙂", "(" * 300, "=~(", "1f",
)  # fmt: skip


@cache
def served() -> list[QueryApi]:
    lab = Watched()
    lab.world.run_for(60)
    lab.world.emitter.span(Span(31, 2, 0, "front", "read", lab.world.kernel.now - 1, 0.5, None))
    return apis_of(lab.monitoring)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(PATHS),
    st.dictionaries(
        st.sampled_from(NAMES), st.lists(st.sampled_from(VALUES) | st.text(max_size=40), max_size=2)
    ),
)
def test_nothing_that_is_asked_is_a_fault_of_ours(path: str, parameters: dict[str, list[str]]) -> None:
    api = next(api for api in served() if api.serves(path))
    status, document = api.answer(path, parameters)
    assert status in (200, 400, 404, 422, 501, 503, 504)
    json.dumps(document, allow_nan=False)


@pytest.mark.parametrize("path", PATHS)
def test_a_path_belongs_to_one_api(path: str) -> None:
    assert [api.serves(path) for api in served()].count(True) == 1
