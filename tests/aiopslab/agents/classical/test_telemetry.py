"""Exports are read completely, and become series by component, spans and log lines."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from collections.abc import Generator
from random import Random
from typing import Any

import pytest

from aiopslab.agents.classical import telemetry
from aiopslab.agents.classical.telemetry import (
    LogLine,
    NoTelemetry,
    Span,
    collect_metrics,
    fetch,
    parse_logs,
    parse_metrics,
    parse_spans,
)
from aiopslab.orchestrator.parser import ResponseParser

CPU = "container_cpu_usage_seconds_total.csv:"
SUM, COUNT = "grpc_client_duration_seconds_sum.csv:", "grpc_client_duration_seconds_count.csv:"


def finish(steps: Generator[str, str, Any], output: bytes) -> Any:
    """Drive steps as a host would whose command prints this output."""
    packed = b64encode(gzip.compress(output)).decode()
    action = next(steps)
    try:
        while True:
            line = str(ResponseParser().parse(action)["args"][0])
            if found := re.search(r"tail -c \+(\d+) .* head -c (\d+)", line):
                start, size = int(found[1]) - 1, int(found[2])
                seen = packed[start : start + size]
            else:
                seen = f"{len(packed)}\n{packed[: telemetry.PART_BYTES]}"
            action = steps.send(f"{seen}\n\nTake your next action.")
    except StopIteration as done:
        return done.value


def test_a_long_output_is_read_in_parts() -> None:
    text = "\n".join(str(Random(number).random()) for number in range(6000))
    assert finish(fetch("cat x"), text.encode()) == text


def test_of_an_output_that_is_too_long_the_beginning_is_used() -> None:
    text = "\n".join(str(Random(number).random()) for number in range(30000))
    found = finish(fetch("cat x"), text.encode())
    assert 20_000 < len(found) < len(text)
    assert text.startswith(found)


def test_an_error_of_the_host_is_no_telemetry() -> None:
    steps = fetch("cat x")
    next(steps)
    with pytest.raises(NoTelemetry, match="disk is full"):
        steps.send("the disk is full")


def test_an_action_that_fails_is_no_telemetry() -> None:
    steps = collect_metrics("test", ["geo"])
    next(steps)
    with pytest.raises(NoTelemetry, match="Prometheus does not answer"):
        steps.send("Prometheus does not answer.")


def test_counters_become_rates_by_component_also_when_a_pod_is_replaced() -> None:
    rows = [f"{CPU}timestamp,container,node,pod,value"]
    rows += [f"{CPU}{1000 * (900 + 15 * i)},c,n,geo-5c5887bffb-hggsd,{100 + 3 * i}" for i in range(4)]
    rows += [f"{CPU}{1000 * (900 + 15 * i)},c,n,geo-5c5887bffb-aaaaa,{6 * (i - 4)}" for i in range(4, 6)]
    found = parse_metrics("\n".join(rows))
    assert found.times_s == [930.0, 945.0, 975.0]
    assert found.series["geo", "cpu"] == pytest.approx([0.2, 0.2, 0.4])


def test_latencies_belong_to_the_callee() -> None:
    rows = [f"{SUM}timestamp,peer,service,value", f"{COUNT}timestamp,peer,service,value"]
    for i, (total, count) in enumerate([(0, 0), (1, 10), (3, 20), (3, 20)]):
        rows += [
            f"{SUM}{1000 * (900 + 15 * i)},geo,search,{total}",
            f"{COUNT}{1000 * (900 + 15 * i)},geo,search,{count}",
        ]
    found = parse_metrics("\n".join(rows))
    assert found.series["geo", "client latency"] == pytest.approx([0.2, 0.2])
    assert found.series["geo", "client rate"] == pytest.approx([10 / 15, 0.0])


def test_spans_and_lines_are_parsed_and_torn_ones_left_out() -> None:
    assert parse_spans("7,1,0,geo,/Nearby,1700000000123,2500,True\n7,2") == [
        Span(7, 1, 0, "geo", "/Nearby", 1700000000.123, 0.0025, True)
    ]
    text = "geo-5c5887bffb-hggsd 2026-01-05T09:04:56.380740165Z panic: no servers\ngeo-5c5887bffb-hggsd torn"
    assert parse_logs(text) == [LogLine("geo", 1767603896.38074, "panic: no servers")]
