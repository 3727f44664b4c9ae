"""Results as a table for the terminal: the verdict first, then the effort, then the harm.

Texts in results are untrusted: they are shown as plain text, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

TIMES: Final = {
    "TTD": "time to detect",
    "TTL": "time to localize",
    "TTA": "time to analyse",
    "TTM": "time to mitigate",
    "TTP": "time to predict",
}
OWN: Final = frozenset(
    {"success", "error", "steps", "repeated_actions", "invalid_actions", "invalid_by_kind", "actions_by_name", "in_tokens",
     "out_tokens", "tokens_estimated", "cached_tokens", "cost_usd", "simulated_s", "harm", "wall", "judge", "reasoning_judgement",
     "reasoning_score", "metric_errors", "findings", "diagnosis_judge"}
)  # fmt: skip
"""Keys with their own lines; every other key is shown under its name."""
SHOWN: Final = 5
HEALTHY: Final = 0.05
"""A lower severity counts as healthy."""

Line = tuple[str, Text]


def summarize_results(results: Mapping[str, Any]) -> Table:
    """Return a table of the results; missing keys are left out."""
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for part in (
        _format_verdict(results),
        _format_effort(results),
        _format_harm(results.get("harm") or {}),
        _format_reasoning(results),
    ):
        lines = list(part)
        for name, text in lines:
            table.add_row(name, text)
        if lines:
            table.add_section()
    return table


def _format_verdict(results: Mapping[str, Any]) -> Iterator[Line]:
    if "success" in results:
        good = bool(results["success"])
        otherwise = f"none: {results['error']}" if "error" in results else "no"
        yield "success", Text("yes" if good else otherwise, style="bold green" if good else "bold red")
    for name, value in results.items():
        if name in TIMES:
            yield TIMES[name], Text(f"{_format_seconds(value)} cluster time")
        elif name not in OWN:
            yield name, Text(_format_value(value))
    for finding in results.get("findings") or ():
        bad = str(finding).startswith("NOT")
        yield "", Text(str(finding), style="red" if bad else "dim")
    for error in results.get("metric_errors") or ():
        yield "", Text(str(error), style="yellow")


def _format_effort(results: Mapping[str, Any]) -> Iterator[Line]:
    if "steps" in results:
        extras = [
            f"{results[key]} {word}"
            for key, word in (("repeated_actions", "repeated"), ("invalid_actions", "invalid"))
            if results.get(key)
        ]
        yield "steps", Text(", ".join([str(results["steps"]), *extras]))
    if results.get("actions_by_name"):
        yield (
            "actions",
            Text(", ".join(f"{name} {count}" for name, count in results["actions_by_name"].items())),
        )
    if results.get("in_tokens") or results.get("out_tokens"):
        about = "about " if results.get("tokens_estimated") else ""
        cost = f", ${results['cost_usd']:.4f}" if results.get("cost_usd") is not None else ""
        cached = f" ({results['cached_tokens']} cached)" if results.get("cached_tokens") else ""
        yield (
            "tokens",
            Text(
                f"{about}{results.get('in_tokens', 0)} in{cached}, {results.get('out_tokens', 0)} out{cost}"
            ),
        )
    if "simulated_s" in results:
        wall = results.get("wall") or {}
        wall_time = (
            f"; {wall['wall_s']:.1f} s wall time, {wall['agent_wall_s']:.1f} s of it the agent's"
            if wall
            else ""
        )
        yield "time", Text(f"{_format_seconds(results['simulated_s'])} cluster time{wall_time}")


def _format_harm(harm: Mapping[str, Any]) -> Iterator[Line]:
    severity = harm.get("severity") or {}
    if severity:
        after = (harm.get("after") or {}).get("severity", severity["final"])
        yield (
            "severity (0 to 1)",
            Text(f"{severity['start']:.2f} at the start, {severity['peak']:.2f} peak, ")
            + Text(f"{after:.2f} at the end", style="green" if after < HEALTHY else "yellow"),
        )
    budget = harm.get("error_budget") or {}
    if budget.get("failed") or budget.get("slow"):
        yield (
            "users",
            Text(
                f"{budget['failed']} of {budget['requests']} requests failed, {budget['slow']} were slow: "
                f"{budget['burnt']:.2%} of a month's error budget"
            ),
        )
    for regression in (harm.get("regressions") or ())[:SHOWN]:
        what = (
            ", ".join(regression["became_unhealthy"])
            or f"severity {regression['severity_before']:.2f} to {regression['severity_after']:.2f}"
        )
        recovered = " (recovered at the end)" if regression["mended_at_the_end"] else ""
        text = f"{what}{recovered}, after {regression['action']}"
        yield f"worse at step {regression['step']}", Text(text, style="yellow")
    if harm.get("changes_beyond_need"):
        yield "unneeded changes", Text(_format_value(harm["changes_beyond_need"]), style="yellow")


def _format_reasoning(results: Mapping[str, Any]) -> Iterator[Line]:
    if "reasoning_judgement" not in results:
        return
    score = results.get("reasoning_score")
    luck = " (right for wrong reasons)" if (results.get("judge") or {}).get("right_for_wrong_reasons") else ""
    yield "reasoning", Text(f"{score} of 10{luck}" if score is not None else "not judged")
    yield "", Text(str(results["reasoning_judgement"]))


def _format_seconds(value: Any) -> str:
    return f"{value:.1f} s" if isinstance(value, int | float) else str(value)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_format_value(member)}" for name, member in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        more = f" and {len(value) - SHOWN} more" if len(value) > SHOWN else ""
        return ", ".join(_format_value(item) for item in value[:SHOWN]) + more if value else "none"
    return str(value)
