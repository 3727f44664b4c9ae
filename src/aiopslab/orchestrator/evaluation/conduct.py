"""Counts of an agent's steps, actions, repetitions, mistakes and tokens, computed from the steps alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from aiopslab.orchestrator.action_names import SUBMIT
from aiopslab.orchestrator.agent_link import Usage
from aiopslab.orchestrator.evaluators.quantitative import estimate_tokens
from aiopslab.orchestrator.session import Step

UNREADABLE, NO_ACTION, REFUSED = "unreadable answers", "unknown or misused actions", "refused submissions"


def count_conduct(steps: Sequence[Step]) -> dict[str, Any]:
    """Return counts of steps, repeated actions and invalid actions."""
    mistakes = Counter(_classify_mistake(step) for step in steps if not step.valid)
    return {
        "steps": len(steps),
        "repeated_actions": _count_repeated(steps),
        "invalid_actions": mistakes.total(),
        "invalid_by_kind": {kind: mistakes[kind] for kind in (UNREADABLE, NO_ACTION, REFUSED)},
        "actions_by_name": dict(sorted(Counter(step.api_name for step in steps if step.valid).items())),
    }


def count_tokens(steps: Sequence[Step], usage: Usage | None) -> dict[str, Any]:
    """Return the token counts: as the agent reports, else the sum of its steps, else an estimate from the texts."""
    if usage is not None:
        counts: dict[str, Any] = {
            "in_tokens": usage.in_tokens,
            "out_tokens": usage.out_tokens,
            "tokens_estimated": False,
        }
        known = {"cost_usd": usage.cost_usd, "cached_tokens": usage.cached_tokens}
        return {**counts, **{name: value for name, value in known.items() if value is not None}}
    if any(step.in_tokens is not None or step.out_tokens is not None for step in steps):
        return {
            "in_tokens": sum(step.in_tokens or 0 for step in steps),
            "out_tokens": sum(step.out_tokens or 0 for step in steps),
            "tokens_estimated": False,
        }
    return {
        "in_tokens": sum(estimate_tokens(step.observation) for step in steps),
        "out_tokens": sum(estimate_tokens(step.response) for step in steps),
        "tokens_estimated": True,
    }


def _classify_mistake(step: Step) -> str:
    if not step.api_name:
        return UNREADABLE
    return REFUSED if step.api_name == SUBMIT else NO_ACTION


def _count_repeated(steps: Sequence[Step]) -> int:
    """Return the number of actions that repeat an earlier one with the same arguments."""
    calls = [
        json.dumps([step.api_name, step.args, step.kwargs], sort_keys=True, default=str)
        for step in steps
        if step.valid and step.api_name != SUBMIT
    ]
    return len(calls) - len(set(calls))
