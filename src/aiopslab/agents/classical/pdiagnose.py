"""PDiagnose (Hou et al., ISPA 2021): metrics, logs and traces each vote for the components that look abnormal.

The paper detects anomalies in the three sources with light methods that need no training, and localizes by counting votes,
without a graph of dependencies. Ours differs: it compares with the time before the change that it finds itself (the paper
has a sliding window); metrics of mere load do not vote, because a fault changes the load everywhere; a vote of an error line
goes to the component that the line mentions; and a vote of a span to the deepest abnormal one, or to the callee that did not
answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2
from statistics import fmean, pstdev
from typing import Final, TypeVar

from aiopslab.agents.classical.agent import Localizer
from aiopslab.agents.classical.deviations import find_change, measure_sigmas
from aiopslab.agents.classical.telemetry import (
    SCRAPE_S,
    LogLine,
    Metrics,
    NoTelemetry,
    Span,
    Steps,
    collect_logs,
    collect_metrics,
    collect_spans,
)
from aiopslab.agents.registry import agent

T = TypeVar("T")

VOTING: Final = (
    "available",
    "cpu",
    "memory",
    "restarts",
    "client errors",
    "client latency",
    "server latency",
)
ABNORMAL_SIGMAS: Final = 3.0
MIN_SLOWDOWN: Final = 2.0
"""A span is slow if it also takes this many times as long as usual."""
ERROR: Final = re.compile(
    r"(?i)error|fail|refused|timed? ?out|unavailable|denied|not authorized|no such host|panic|fatal"
)
VARYING: Final = re.compile(r"\d+|0x[0-9a-f]+")


@agent("pdiagnose")
class PDiagnose(Localizer):
    """Localizes by votes of metrics, logs and traces (PDiagnose), without a model."""

    def rank(self) -> Steps[list[str]]:
        """Collect the three sources, and rank the components by their votes."""
        metrics = yield from collect_metrics(self.namespace, self.components)
        lines = yield from collect_if_any(collect_logs(self.namespace))
        spans = yield from collect_if_any(collect_spans(self.namespace))
        return rank_by_votes(metrics, lines, spans, self.components)


def collect_if_any(steps: Steps[list[T]]) -> Steps[list[T]]:
    """Return what is collected; nothing if there is no such telemetry, because the other sources still vote."""
    try:
        return (yield from steps)
    except NoTelemetry:
        return []


def rank_by_votes(
    metrics: Metrics, lines: Sequence[LogLine], spans: Sequence[Span], components: Collection[str]
) -> list[str]:
    """Return the components that got votes, most votes first; each source has one vote to share out."""
    split = find_change(metrics.series.values())
    changed_s = metrics.times_s[split] - SCRAPE_S
    total: dict[str, float] = defaultdict(float)
    for votes in (
        count_metric_votes(metrics, split),
        count_log_votes(lines, changed_s, components),
        count_span_votes(spans, changed_s),
    ):
        known = {name: votes[name] for name in votes if name in components}
        for name, count in known.items():
            total[name] += count / sum(known.values())
    return sorted(total, key=lambda name: (-total[name], name))


def count_metric_votes(metrics: Metrics, split: int) -> Mapping[str, float]:
    """Return the deviations of each component's abnormal metrics, added up."""
    votes: dict[str, float] = defaultdict(float)
    for (component, name), values in metrics.series.items():
        sigmas = abs(fmean(measure_sigmas(values[split:], values[:split])))
        if name in VOTING and sigmas >= ABNORMAL_SIGMAS:
            votes[component] += sigmas
    return votes


def count_log_votes(
    lines: Iterable[LogLine], changed_s: float, components: Collection[str]
) -> Mapping[str, float]:
    """Return the votes of error lines whose kind did not occur before; many equal lines count little more than a few."""
    before: set[tuple[str, str]] = set()
    after = Counter[tuple[str, str, str]]()
    for component, time_s, text in lines:
        if ERROR.search(text):
            kind = VARYING.sub("#", text)
            if time_s < changed_s:
                before.add((component, kind))
            else:
                after[component, kind, find_mentioned(text, component, components)] += 1
    votes: dict[str, float] = defaultdict(float)
    for (component, kind, mentioned), count in after.items():
        if (component, kind) not in before:
            votes[mentioned] += log2(1 + count)
    return votes


def find_mentioned(text: str, component: str, components: Collection[str]) -> str:
    """Return the other component whose name occurs in a line, the longest if there are several, or else its own."""
    mentioned = [name for name in components if name != component and re.search(rf"\b{name}\b", text)]
    return max(mentioned, key=len, default=component)


def count_span_votes(spans: Sequence[Span], changed_s: float) -> Mapping[str, float]:
    """Return how many abnormal spans without an abnormal child blame each service."""
    usual: dict[tuple[str, str], list[float]] = defaultdict(list)
    for span in spans:
        if span.start_s < changed_s:
            usual[span.service, span.operation].append(span.duration_s)
    abnormal = {span.id for span in spans if span.start_s >= changed_s and is_abnormal(span, usual)}
    by_id = {span.id: span for span in spans}
    callees = find_callees(spans)
    answered = {span.parent for span in spans if span.parent}
    explained = {by_id[span].parent for span in abnormal}
    votes: dict[str, float] = defaultdict(float)
    for span in (by_id[span] for span in abnormal - explained):
        callee = callees.get((span.service, span.operation))
        votes[callee if callee and span.id not in answered else span.service] += 1
    return votes


def is_abnormal(span: Span, usual: Mapping[tuple[str, str], Sequence[float]]) -> bool:
    """Return whether a span failed, or took much longer than the same operation before the change."""
    durations = usual.get((span.service, span.operation))
    if span.failed or not durations:
        return span.failed
    mean = fmean(durations)
    return span.duration_s > max(MIN_SLOWDOWN * mean, mean + ABNORMAL_SIGMAS * pstdev(durations))


def find_callees(spans: Sequence[Span]) -> Mapping[tuple[str, str], str]:
    """Return the service that usually answers each service's operation, if it is another one."""
    by_id = {span.id: span for span in spans}
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for span in spans:
        parent = by_id.get(span.parent)
        if parent is not None and parent.service != span.service:
            found[parent.service, parent.operation][span.service] += 1
    return {call: callees.most_common(1)[0][0] for call, callees in found.items()}
