"""Session records as trajectories in ATIF, Harbor's agent trajectory interchange format, version 1.8.

The instructions with the actions are a system step, the description is a user step, and each turn is an agent step with its call
and its observation. The verdict is in ``final_metrics.extra``. Steps have no timestamp: their times are on the world's
clock, and are in ``extra`` as seconds since the start of the session.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from aiopslab.orchestrator import get_version

SCHEMA: Final = "ATIF-v1.8"
KEPT: Final = ("problem_id", "seed", "ending", "why", "solution", "expected", "simulated")
"""Fields of the record that describe the whole session."""


def make_trajectory(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the trajectory of a session record, which may be one that was cut off."""
    prompt = record.get("system_prompt") or {}
    actions: Mapping[str, str] = prompt.get("actions") or {}
    system = "\n\n".join((prompt.get("instructions", ""), *actions.values()))
    steps = [
        {"step_id": 1, "source": "system", "message": system},
        {"step_id": 2, "source": "user", "message": prompt.get("description", "")},
    ]
    steps += [_make_step(step, actions) for step in record["steps"]]
    model = (record.get("agent_settings") or {}).get("model")
    return {
        "schema_version": SCHEMA,
        "session_id": record.get("session_id"),
        "agent": {
            "name": record.get("agent") or "unknown",
            "version": record.get("version") or get_version(),
            **({"model_name": str(model)} if model else {}),
            "tool_definitions": [
                {"type": "function", "function": {"name": name, "description": text}}
                for name, text in actions.items()
            ],
            "extra": record.get("agent_settings") or {},
        },
        "steps": steps,
        "final_metrics": _make_final_metrics(record, len(steps)),
        "extra": {name: record[name] for name in KEPT if name in record},
    }


def _make_step(step: Mapping[str, Any], actions: Mapping[str, str]) -> dict[str, Any]:
    number = step["number"]
    made: dict[str, Any] = {"step_id": number + 2, "source": "agent", "message": step["response"]}
    result = {"content": step["observation"]}
    if step["api_name"]:
        result["source_call_id"] = f"call_{number}"
        call = {"tool_call_id": f"call_{number}", "function_name": step["api_name"]}
        made["tool_calls"] = [call | {"arguments": name_arguments(step, actions)}]
    made["observation"] = {"results": [result]}
    tokens = {"prompt_tokens": step.get("in_tokens"), "completion_tokens": step.get("out_tokens")}
    if any(tokens.values()):
        made["metrics"] = tokens
    made["extra"] = {name: step[name] for name in ("valid", "at_s", "took_s", "changed", "health")}
    return made


def name_arguments(step: Mapping[str, Any], actions: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a step's call by name; ``args`` are those that the action's signature does not name."""
    line = actions.get(step["api_name"], "").partition("\n")[0]
    names: list[str] = []
    with suppress(SyntaxError):
        (function,) = ast.parse(f"def {line}: ...").body
        assert isinstance(function, ast.FunctionDef)
        names = [argument.arg for argument in function.args.args]
    named: dict[str, Any] = dict(zip(names, step["args"], strict=False))
    rest = step["args"][len(named) :]
    return {**named, **step["kwargs"], **({"args": rest} if rest else {})}


def _make_final_metrics(record: Mapping[str, Any], steps: int) -> dict[str, Any]:
    results = record.get("results") or {}
    return {
        "total_prompt_tokens": sum(step.get("in_tokens") or 0 for step in record["steps"]),
        "total_completion_tokens": sum(step.get("out_tokens") or 0 for step in record["steps"]),
        "total_steps": steps,
        "extra": results,
    }
