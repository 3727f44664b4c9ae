"""The text format in which programs expose their metrics, with labels and numbers as Go's client library writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from simcloud.golang import float_text
from simcloud.machine.emit import Histogram, Labels, Metrics

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[str, Labels, float]
_PARTS: Final = ("bucket", "sum", "count")


def format_metrics(metrics: Metrics) -> str:
    """All of a program's metrics."""
    return format_samples(list_samples(metrics))


def list_samples(metrics: Metrics) -> Iterator[Sample]:
    """The values of a program's metrics; those of a histogram by bucket."""
    for (name, labels), metric in metrics.families.items():
        if isinstance(metric, Histogram):
            seen = 0
            for bound, count in zip((*metric.bounds, float("inf")), metric.counts, strict=True):
                seen += count
                yield f"{name}_bucket", (*labels, ("le", float_text(bound))), float(seen)
            yield f"{name}_sum", labels, metric.total
            yield f"{name}_count", labels, float(seen)
        else:
            yield name, labels, metric.value


def format_samples(
    samples: Iterable[Sample],
    help_texts: Mapping[str, str] | None = None,
    find_stamp: Callable[[str, Labels], str] = lambda name, labels: "",
) -> str:
    """Samples by family. ``find_stamp`` gives what follows a value: its time, if there is one."""
    families: dict[str, list[str]] = {}
    histograms: dict[str, None] = {}
    for name, labels, value in samples:
        family, _, part = name.rpartition("_")
        if part == "bucket":
            histograms[family] = None
        rows = families.setdefault(family if part in _PARTS and family in histograms else name, [])
        rows.append(f"{name}{_format_labels(labels)} {float_text(value)}{find_stamp(name, labels)}\n")
    text: list[str] = []
    for name, rows in sorted(families.items()):
        if help_texts is not None:
            text.append(f"# HELP {name} {help_texts.get(name) or describe_name(name)}\n")
        kind = "histogram" if name in histograms else "counter" if name.endswith("_total") else "gauge"
        text += [f"# TYPE {name} {kind}\n", *(rows if name in histograms else sorted(rows))]
    return "".join(text)


def describe_name(name: str) -> str:
    """A description of a family that has no better one: its name in words."""
    return f"[ALPHA] {name.partition('_')[2].replace('_', ' ').capitalize()}."


@lru_cache(maxsize=4096)
def _format_labels(labels: Labels) -> str:
    """Labels as they follow a name; the same ones come again with every scrape."""
    shown = ",".join(f'{key}="{_escape(text)}"' for key, text in sorted(labels, key=_rank))
    return f"{{{shown}}}" if shown else ""


def _rank(label: tuple[str, str]) -> tuple[bool, str]:
    return label[0] == "le", label[0]


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
