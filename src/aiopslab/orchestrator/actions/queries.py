"""PromQL queries, with results as small tables."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.orchestrator.actions.environment_actions import (
    ActionFailed,
    ActionsBase,
    check_minutes,
    format_clock,
    format_time,
)
from aiopslab.orchestrator.actions.observations import SHOWN_LINES, align_rows, format_head
from aiopslab.orchestrator.actions.registry import action
from aiopslab.utils import InvalidActionError
from simcloud.telemetry import ApiRefusal

POINTS: Final = 10
MAX_POINTS: Final = 60
SCRAPE_S: Final = 15
NARROWER: Final = "Narrow the query: add labels in {}, or aggregate with sum by (pod) (…) or topk(10, …)."
HELP: Final = (
    "No series matches now. List the metrics with query_metrics('count by (__name__) ({namespace=\"…\"})')."
)


class QueryActions(ActionsBase):
    """Actions on Prometheus."""

    @action
    def query_metrics(self, promql: str, minutes: float = 0, step: float = 0) -> str:
        """
        Runs a PromQL query in Prometheus: current values, or values of the last minutes.

        Args:
            promql (str): The query, for example
                'sum by (pod) (rate(container_cpu_usage_seconds_total{namespace="test-hotel-reservation"}[2m]))'.
            minutes (float): If above 0, a range query over this number of minutes up to now.
            step (float): Seconds between two values of a range query; 0 chooses a step for about ten values.

        Returns:
            str: One line per series, with its labels and values.
        """
        prometheus = self._reach_prometheus()
        try:
            if minutes == 0:
                return self._format_instant(prometheus.query({"query": [promql]}))
            start_s, step_s = self._choose_step(check_minutes(minutes, "minutes"), step)
            request = {
                "query": promql,
                "start": str(start_s),
                "end": str(self._get_now_s()),
                "step": str(step_s),
            }
            answer = prometheus.query_range({name: [text] for name, text in request.items()})
            return self._format_range(answer["result"], step_s)
        except ApiRefusal as refusal:
            raise ActionFailed(f"Prometheus error: {refusal.kind}: {refusal.message}") from None

    def _choose_step(self, minutes: float, step: float) -> tuple[float, float]:
        """Return the start of a range and the step between its points."""
        range_s = minutes * 60
        step_s = step or max(SCRAPE_S, round(range_s / POINTS / SCRAPE_S) * SCRAPE_S)
        if step_s <= 0 or range_s / step_s > MAX_POINTS:
            raise InvalidActionError(
                f"{minutes:g} minutes with a step of {step_s:g} seconds have more than {MAX_POINTS} values. "
                f"Use a step of {max(1, round(range_s / POINTS))} or more."
            )
        return self._get_now_s() - int(range_s / step_s) * step_s, step_s

    def _format_instant(self, answer: Any) -> str:
        found, kind = answer["result"], answer["resultType"]
        when = f"At {format_time(self._get_now_s())}:"
        if kind in ("scalar", "string"):
            return f"{when} {found[1]}"
        if not found:
            return HELP
        if kind == "matrix":
            return self._format_range(found, 0)
        rows = [(series["metric"], [_format_number(series["value"][1])]) for series in found[:SHOWN_LINES]]
        title = f"{when} {len(found)} series{_note_omitted(found)}"
        return format_head([title, *_build_table(rows, ["value"])], NARROWER)

    def _format_range(self, found: list[Any], step_s: float) -> str:
        if not found:
            return HELP
        now_s = self._get_now_s()
        times = sorted({point[0] for series in found for point in series["values"]})[-MAX_POINTS:]
        rows = []
        for series in found[:SHOWN_LINES]:
            values = {point[0]: point[1] for point in series["values"]}
            cells = [_format_number(values[time]) if time in values else "-" for time in times]
            rows.append((series["metric"], cells))
        every = f", every {step_s:g} s" if step_s else ""
        title = (
            f"{len(found)} series{_note_omitted(found)} up to {format_time(now_s)}{every}; - means no value"
        )
        headings = [format_clock(time, now_s) for time in times]
        return format_head([title, *_build_table(rows, headings)], NARROWER)


def _note_omitted(found: list[Any]) -> str:
    return f", showing the first {SHOWN_LINES} ({NARROWER})" if len(found) > SHOWN_LINES else ""


def _build_table(rows: list[tuple[dict[str, str], list[str]]], headings: list[str]) -> list[str]:
    """Return the series as a table; labels that are the same for all are in a line above."""
    names = sorted({name for labels, _ in rows for name in labels})
    common = {
        name: rows[0][0].get(name, "") for name in names if len({labels.get(name) for labels, _ in rows}) == 1
    }
    own = [name for name in names if name not in common] if len(rows) > 1 else []
    above = ", ".join(f'{name}="{value}"' for name, value in common.items())
    table = align_rows(
        [[*own, *headings], *([*(labels.get(name, "") for name in own), *values] for labels, values in rows)]
    )
    return [f"{{{above}}}", *table] if above else table


def _format_number(number: str) -> str:
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number
