"""Baselines of RCAEval (Pham et al., 2024) on our telemetry: BARO, N-sigma, TraceRCA and MicroRank.

The package's own functions rank the columns of a data frame of metrics, or the operations in a data frame of spans; this module
makes the frames and maps a ranking to components. RCAEval is given the time of the fault; an agent is not, so we pass the
change that we find in the metrics.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any, Final, Literal

from aiopslab.agents.classical.agent import Localizer
from aiopslab.agents.classical.deviations import find_change
from aiopslab.agents.classical.telemetry import (
    SCRAPE_S,
    Metrics,
    Span,
    Steps,
    collect_metrics,
    collect_spans,
)
from aiopslab.agents.registry import agent
from aiopslab.utils import AIOpsLabError

METHODS: Final[dict[str, tuple[str, Literal["metrics", "spans"]]]] = {
    "baro": ("RCAEval.e2e.baro", "metrics"),
    "nsigma": ("RCAEval.e2e", "metrics"),
    "tracerca": ("RCAEval.e2e.tracerca", "spans"),
    "microrank": ("RCAEval.e2e.microrank", "spans"),
}
"""The module of each method, and what it ranks by."""
SUFFIXES: Final = {"memory": "mem"}
"""Names that RCAEval expects: it converts columns that end in ``_mem`` to megabytes."""
DATASET: Final = "aiopslab"
"""With any name, RCAEval drops the columns of time and those that are constant, as in its own benchmark."""


@agent("rcaeval")
class RcaEval(Localizer):
    """Localizes with a baseline of RCAEval: rcaeval:baro, rcaeval:nsigma, rcaeval:tracerca or rcaeval:microrank."""

    def __init__(self, method: str) -> None:
        method, _, names = method.partition(":")
        super().__init__(names or "1")
        if method not in METHODS:
            raise AIOpsLabError(
                f"RCAEval has no method '{method}' here. Choose one of: {', '.join(METHODS)}."
            )
        if find_spec("RCAEval") is None:
            raise AIOpsLabError(
                "The package RCAEval is not installed. Install it with: pip install 'aiopslab-in-a-box[rcaeval]'"
            )
        self.method = method

    def rank(self) -> Steps[list[str]]:
        """Collect what the method needs, and rank the components."""
        module, source = METHODS[self.method]
        function = getattr(import_module(module), self.method)
        metrics = yield from collect_metrics(self.namespace, self.components)
        changed_s = metrics.times_s[find_change(metrics.series.values())] - SCRAPE_S
        if source == "metrics":
            frame, ends, inject_time = make_metric_frame(metrics), metrics.times_s, changed_s
        else:
            spans = yield from collect_spans(self.namespace)
            frame, inject_time = make_span_frame(spans, changed_s), changed_s * 1e6
            ends = list(frame["startTime"] + frame["duration"]) if len(frame) else []
        if all(end < inject_time for end in ends):
            return []  # nothing to compare with the past
        # Some methods print their progress.
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            ranks = function(frame, inject_time=inject_time, dataset=DATASET)["ranks"]
        return list_components(ranks, self.components)


def make_metric_frame(metrics: Metrics) -> Any:
    """Return metrics as a data frame: a column ``time``, and ``COMPONENT_METRIC`` for each series."""
    pandas = import_module("pandas")
    columns: dict[str, Sequence[float]] = {"time": metrics.times_s}
    for (component, name), values in metrics.series.items():
        columns[f"{component}_{SUFFIXES.get(name, name.replace(' ', '-'))}"] = values
    return pandas.DataFrame(columns)


def make_span_frame(spans: Sequence[Span], changed_s: float) -> Any:
    """Return spans as a data frame with RCAEval's columns, times in microseconds.

    Operations that did not occur before the change are left out: RCAEval compares each with its own past.
    """
    pandas = import_module("pandas")
    known = {(span.service, span.operation) for span in spans if span.start_s + span.duration_s < changed_s}
    rows = [
        {
            "traceID": span.trace,
            "spanID": span.id,
            "parentSpanID": span.parent,
            "serviceName": span.service,
            "methodName": span.operation,
            "operationName": span.operation,
            "startTime": span.start_s * 1e6,
            "duration": span.duration_s * 1e6,
        }
        for span in spans
        if (span.service, span.operation) in known
    ]
    return pandas.DataFrame(rows)


def list_components(ranks: Sequence[str], components: Collection[str]) -> list[str]:
    """Return the components in ranked names such as ``geo_cpu``, each once, in the order of their first."""
    return [name for name in dict.fromkeys(rank.partition("_")[0] for rank in ranks) if name in components]
