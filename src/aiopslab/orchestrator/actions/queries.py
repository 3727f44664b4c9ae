"""Asking for numbers in PromQL, and reading the answer as a small table."""

from __future__ import annotations

from typing import Any, Final

from aiopslab.orchestrator.actions.base import ActionFailed, ActionsBase, check_minutes, clock, stamp
from aiopslab.orchestrator.actions.bounds import SHOWN_LINES, head
from aiopslab.orchestrator.actions.registry import action
from aiopslab.orchestrator.actions.tables import aligned
from aiopslab.utils.status import InvalidActionError
from simcloud.telemetry.prometheus_api import ApiRefusal, PrometheusApi
from simcloud.telemetry.promql import Engine, Limits

POINTS: Final = 10
MOST_POINTS: Final = 60
SCRAPE_S: Final = 15
EFFORT: Final = Limits(samples=2_000_000)
NARROWER: Final = "Ask for less: name labels in {}, aggregate with sum by (pod) (…) or topk(10, …)."
HELP: Final = "Nothing has these labels now. Which metrics there are: query_metrics('count by (__name__) ({namespace=\"…\"})')."


class QueryActions(ActionsBase):
    """Prometheus, asked."""

    @action
    def query_metrics(self, promql: str, minutes: float = 0, step: float = 0) -> str:
        """
        Asks Prometheus a question in PromQL: the values now, or those of the last minutes.

        Args:
            promql (str): The query, for example
                'sum by (pod) (rate(container_cpu_usage_seconds_total{namespace="test-hotel-reservation"}[2m]))'.
            minutes (float): With more than 0, the values over so many minutes up to now.
            step (float): The seconds between two of these values; chosen to give about ten if it is 0.

        Returns:
            str: A line for each series with its labels and its value or values.
        """
        api = PrometheusApi(self.environment.monitoring.store, self.environment.monitoring.now_ms)
        api.engine = Engine(api.store, EFFORT)
        try:
            if minutes == 0:
                answer: Any = api.query({"query": [promql]})
                return self._instant(answer)
            start_s, step_s = self._steps(check_minutes(minutes, "minutes"), step)
            asked = {"query": promql, "start": str(start_s), "end": str(self._now_s()), "step": str(step_s)}
            answer = api.query_range({name: [text] for name, text in asked.items()})
            return self._range(answer["result"], step_s)
        except ApiRefusal as refusal:
            raise ActionFailed(f"Prometheus refuses: {refusal.kind}: {refusal.message}") from None

    def _steps(self, minutes: float, step: float) -> tuple[float, float]:
        """Where a range begins, and how far its points are apart."""
        whole = minutes * 60
        step_s = step or max(SCRAPE_S, round(whole / POINTS / SCRAPE_S) * SCRAPE_S)
        if step_s <= 0 or whole / step_s > MOST_POINTS:
            raise InvalidActionError(
                f"{minutes:g} minutes in steps of {step_s:g} seconds are more than {MOST_POINTS} values. "
                f"Take a step of {max(1, round(whole / POINTS))} or more."
            )
        return self._now_s() - int(whole / step_s) * step_s, step_s

    def _instant(self, answer: Any) -> str:
        found, kind = answer["result"], answer["resultType"]
        when = f"At {stamp(self._now_s())}:"
        if kind in ("scalar", "string"):
            return f"{when} {found[1]}"
        if not found:
            return HELP
        if kind == "matrix":
            return self._range(found, 0)
        rows = [(one["metric"], [_short(one["value"][1])]) for one in found[:SHOWN_LINES]]
        return head([f"{when} {len(found)} series{_which(found)}", *_table(rows, ["value"])], NARROWER)

    def _range(self, found: list[Any], step_s: float) -> str:
        if not found:
            return HELP
        now_s = self._now_s()
        moments = sorted({point[0] for one in found for point in one["values"]})[-MOST_POINTS:]
        rows = []
        for one in found[:SHOWN_LINES]:
            values = {point[0]: point[1] for point in one["values"]}
            rows.append((one["metric"], [_short(values[at]) if at in values else "-" for at in moments]))
        every = f", every {step_s:g} s" if step_s else ""
        title = f"{len(found)} series{_which(found)} up to {stamp(now_s)}{every}; - where there was no value"
        return head([title, *_table(rows, [clock(at, now_s) for at in moments])], NARROWER)


def _which(found: list[Any]) -> str:
    return f", of which the first {SHOWN_LINES} are here ({NARROWER})" if len(found) > SHOWN_LINES else ""


def _table(rows: list[tuple[dict[str, str], list[str]]], headings: list[str]) -> list[str]:
    """Series under each other; labels that are the same for all stand in a line above."""
    names = sorted({name for labels, _ in rows for name in labels})
    common = {
        name: rows[0][0].get(name, "") for name in names if len({one.get(name) for one, _ in rows}) == 1
    }
    own = [name for name in names if name not in common] if len(rows) > 1 else []
    above = ", ".join(f'{name}="{value}"' for name, value in common.items())
    table = aligned(
        [[*own, *headings], *([*(labels.get(name, "") for name in own), *values] for labels, values in rows)]
    )
    return [f"{{{above}}}", *table] if above else table


def _short(number: str) -> str:
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number
