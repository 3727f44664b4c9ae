"""The faults as documents for a page: what happened, the right answers, the reference repair, and the problems with each fault."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from aiopslab.generators.fault import DrawnFault, Fault, load_faults
from aiopslab.orchestrator.problems import ProblemRegistry


def list_faults() -> list[dict[str, Any]]:
    """Return a row for each fault."""
    return [_summarize(name, kind) for name, kind in load_faults().items()]


def describe_fault(name: str) -> dict[str, Any] | None:
    """Return the page of a fault; None if there is no such fault."""
    kind = load_faults().get(name)
    if kind is None:
        return None
    analysis = ""
    if issubclass(kind, DrawnFault):
        levels = ", ".join((kind.layer.title(), *kind.also_levels))
        analysis = f"{levels}; {', '.join((kind.fault_type, *kind.also_fault_types))}"
    repair = _join_lines(inspect.getdoc(kind.recover))
    return _summarize(name, kind) | {
        "analysis": analysis,
        "repair": repair,
        "problems": _group_problems().get(name, []),
    }


def _summarize(name: str, kind: type[Fault]) -> dict[str, Any]:
    return {
        "name": name,
        "layer": kind.layer,
        "course": kind.course,
        "summary": _join_lines(inspect.getdoc(kind)),
    }


def _join_lines(text: str | None) -> str:
    return " ".join((text or "").split())


@cache
def _group_problems() -> dict[str, list[str]]:
    """Return the ids of the installed problems by fault, without those with several faults, which the seed draws."""
    registry = ProblemRegistry()
    found: dict[str, list[str]] = {}
    for pid in registry.get_problem_ids():
        faults = registry.get_problem_instance(pid).faults
        if len(faults) == 1:
            found.setdefault(faults[0].name, []).append(pid)
    return found
