"""How an agent went about it: steps, actions, repetitions, mistakes, tokens. All of it is in the steps themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from aiopslab.orchestrator.actions.action_set import SUBMIT
from aiopslab.orchestrator.agent_link import Usage
from aiopslab.orchestrator.session import Step

BYTES_PER_TOKEN: Final = 4
"""Of English text and of commands, by the usual rule of thumb."""
UNREADABLE, NO_ACTION, REFUSED = "unreadable answers", "unknown or misused actions", "refused submissions"


def conduct(steps: Sequence[Step]) -> dict[str, Any]:
    """Counts of what was done."""
    mistakes = Counter(_mistake(step) for step in steps if not step.valid)
    return {
        "steps": len(steps),
        "repeated_actions": _repeated(steps),
        "invalid_actions": mistakes.total(),
        "invalid_by_kind": {kind: mistakes[kind] for kind in (UNREADABLE, NO_ACTION, REFUSED)},
        "actions_by_name": dict(sorted(Counter(step.api_name for step in steps if step.valid).items())),
    }


def tokens(steps: Sequence[Step], used: Usage | None) -> dict[str, Any]:
    """What was read and written: as the agent says, else by its steps, else estimated from the texts, each taken once."""
    if used is not None:
        told: dict[str, Any] = {
            "in_tokens": used.in_tokens,
            "out_tokens": used.out_tokens,
            "tokens_estimated": False,
        }
        return told if used.cost_usd is None else {**told, "cost_usd": used.cost_usd}
    if any(step.in_tokens is not None or step.out_tokens is not None for step in steps):
        return {
            "in_tokens": sum(step.in_tokens or 0 for step in steps),
            "out_tokens": sum(step.out_tokens or 0 for step in steps),
            "tokens_estimated": False,
        }
    return {
        "in_tokens": sum(estimated_tokens(step.observation) for step in steps),
        "out_tokens": sum(estimated_tokens(step.response) for step in steps),
        "tokens_estimated": True,
    }


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def _mistake(step: Step) -> str:
    if not step.api_name:
        return UNREADABLE
    return REFUSED if step.api_name == SUBMIT else NO_ACTION


def _repeated(steps: Sequence[Step]) -> int:
    """How many actions had been taken before, with the same arguments."""
    taken = [
        json.dumps([step.api_name, step.args, step.kwargs], sort_keys=True, default=str)
        for step in steps
        if step.valid and step.api_name != SUBMIT
    ]
    return len(taken) - len(set(taken))
