"""The call graph of services as the lines of a tree, from the front doors down.

A service that is called from several places is drawn in full once, nearest to the front door, and elsewhere only named;
so cycles end, and a map has one line per call and front door.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

Figures = dict[str, Any]

AGAIN = " ↺"
"""The mark of a service whose calls are shown elsewhere."""


class Line(NamedTuple):
    """A line of the tree: the prefix, the name of the service, and the figures of the calls."""

    guide: str
    service: str
    figures: Figures
    is_again: bool


def build_call_tree(services: Sequence[Figures], calls: Sequence[Figures]) -> list[Line]:
    """Return the lines; busy services come first."""
    own = {figures["service"]: figures for figures in services}
    children: dict[str, list[Figures]] = {}
    for call in sorted(calls, key=lambda call: (-call["requests"], call["child"])):
        children.setdefault(call["parent"], []).append(call)
    called = {call["child"] for call in calls}
    by_traffic = sorted(own, key=lambda name: (-own[name]["requests"], name))
    homes: dict[str, str] = {}
    lines: list[Line] = []
    # A service without callers is a front door; a cycle without one starts at its busiest service.
    for name in (*(name for name in by_traffic if name not in called), *by_traffic):
        if name not in homes:
            homes[name] = ""
            _settle(name, children, homes)
            lines.append(Line("", name, own[name], False))
            lines += _below(name, children, homes)
    return lines


def _settle(root: str, children: dict[str, list[Figures]], homes: dict[str, str]) -> None:
    """Find under which caller each service is drawn in full: the one that is nearest to the front door."""
    row = [root]
    while row:
        following = []
        for name in row:
            for call in children.get(name, ()):
                if call["child"] not in homes:
                    homes[call["child"]] = name
                    following.append(call["child"])
        row = following


def _below(root: str, children: dict[str, list[Figures]], homes: dict[str, str]) -> Iterator[Line]:
    """Yield all lines below a service. A stack of our own, for calls may be nested deeper than Python's."""
    waiting = _waiting(children.get(root, []), "")
    while waiting:
        call, indent, is_last = waiting.pop()
        name, below = call["child"], children.get(call["child"], [])
        is_home = homes[name] == call["parent"]
        yield Line(f"{indent}{'└─ ' if is_last else '├─ '}", name, call, bool(below) and not is_home)
        if is_home:
            waiting += _waiting(below, f"{indent}{'   ' if is_last else '│  '}")


def _waiting(calls: list[Figures], indent: str) -> list[tuple[Figures, str, bool]]:
    """Calls to be drawn, the first one last; the last of all closes its branch."""
    return [(call, indent, number == 0) for number, call in enumerate(reversed(calls))]
