"""Plots of reports as SVG: text that a page includes as it is, with colours from the page's style sheet.

Each function returns one ``<svg>`` element that scales with the width of the page. Series have the colours ``--series-0``, …, and are
also named in the plot, so that nothing depends on colours alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from aiopslab.benchmark.statistics import Interval

WIDTH: Final = 480
COLORS: Final = 8
"""Number of colours of the page; further series use them again."""
ROW: Final = 30
CHAR: Final = 7.0
"""About the width of a character, to leave room for names."""
MAX_NAME: Final = 26


@dataclass(frozen=True)
class Bar:
    """A value from 0 to 1 with its interval."""

    name: str
    value: float
    interval: Interval
    series: int = 0
    """Number of its colour."""
    note: str = ""


def plot_intervals(title: str, bars: Sequence[Bar]) -> str:
    """Plot shares as dots with their intervals, one line each."""
    left = _measure_names(bar.name for bar in bars)
    right, top = WIDTH - 48, 8
    height = top + ROW * len(bars) + 28

    def place(value: float) -> float:
        return left + (right - left) * value

    parts = [_draw_scale(place, top, top + ROW * len(bars))]
    for index, bar in enumerate(bars):
        y = top + ROW * index + ROW / 2
        low, high = place(bar.interval.low), place(bar.interval.high)
        parts += [
            _write(left - 8, y + 4, _shorten(bar.name), "end"),
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="interval {_color(bar.series)}"/>',
            f'<circle cx="{place(bar.value):.1f}" cy="{y:.1f}" r="5" class="{_color(bar.series)}">'
            f"<title>{escape(f'{bar.name}: {bar.value:.0%} {bar.note}'.strip())}</title></circle>",
            _write(right + 10, y + 4, f"{bar.value:.0%}", "start"),
        ]
    return _frame(title, height, parts)


def plot_lines(title: str, x_name: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Plot series of points whose second value is a share, as lines from left to right."""
    highest = max((x for points in series.values() for x, _ in points), default=1.0)
    left, right, top, bottom = 48, WIDTH - 16, 12, 212
    legend_top = bottom + 44
    height = legend_top + 20 * len(series)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * x / highest, bottom - (bottom - top) * y

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = place(0, share)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(_write(left - 6, y + 4, f"{share:.0%}", "end"))
    for x in _list_ticks(highest):
        parts.append(_write(place(x, 0)[0], bottom + 16, f"{x:g}", "middle"))
    parts.append(_write((left + right) / 2, bottom + 32, x_name, "middle"))
    for index, (name, points) in enumerate(series.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in points))
        parts.append(f'<polyline points="{path}" class="line {_color(index)}"/>')
        y = legend_top + 20 * index
        parts.append(
            f'<line x1="{left}" x2="{left + 24}" y1="{y - 4}" y2="{y - 4}" class="line {_color(index)}"/>'
        )
        final = f"{points[-1][1]:.0%}" if points else ""
        parts.append(_write(left + 32, y, f"{name}: {final}", "start"))
    return _frame(title, height, parts)


def plot_stacks(title: str, stacks: Mapping[str, Mapping[str, float]]) -> str:
    """Plot rows of shares that add up to 1, as stacked bars with a legend."""
    names = list(dict.fromkeys(name for parts in stacks.values() for name in parts))
    left, right, top = _measure_names(stacks), WIDTH - 16, 8
    bottom = top + ROW * len(stacks)
    parts = []
    for index, (row, shares) in enumerate(stacks.items()):
        y, x = top + ROW * index, left
        parts.append(_write(left - 8, y + 19, _shorten(row), "end"))
        for name, share in shares.items():
            width = (right - left) * share
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{ROW - 8}" class="{_color(names.index(name))}">'
                f"<title>{escape(f'{row}: {name} {share:.0%}')}</title></rect>"
            )
            x += width
    for index, name in enumerate(names):
        x, y = 16 + (index % 3) * (WIDTH - 16) / 3, bottom + 14 + 20 * (index // 3)
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="12" height="12" class="{_color(index)}"/>')
        parts.append(_write(x + 18, y + 11, _shorten(name), "start"))
    return _frame(title, bottom + 20 * (-(-len(names) // 3)) + 14, parts)


def _draw_scale(place: Callable[[float], float], top: float, bottom: float) -> str:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = place(share)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" class="grid"/>')
        parts.append(_write(x, bottom + 18, f"{share:.0%}", "middle"))
    return "".join(parts)


def _list_ticks(highest: float) -> list[float]:
    """Return at most ten round numbers from 0 to a number."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, highest) if highest / step <= 10)
    return [step * number for number in range(int(highest / step) + 1)]


def _measure_names(names: Iterable[str]) -> float:
    longest = max((min(len(name), MAX_NAME) for name in names), default=0)
    return float(20 + longest * CHAR)


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def _color(index: int) -> str:
    return f"series-{index % COLORS}"


def _write(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _frame(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
