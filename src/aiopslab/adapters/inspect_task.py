"""Incidents as a task of Inspect AI: each problem is a sample, the model answers in turns, the framework's verdict is the score.

inspect eval aiopslab/incidents -T problems=smoke --model openai/gpt-5-mini
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from aiopslab.adapters.worlds import list_problems, open_env
from aiopslab.utils import AIOpsLabError

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
except ModuleNotFoundError as error:
    raise AIOpsLabError("Inspect AI is missing: pip install 'aiopslab-in-a-box[inspect]'.") from error

RESULTS: Final = "results"


@task
def incidents(problems: str = "smoke", seed: int = 0, max_steps: int = 30) -> Task:
    """Return the task. ``problems`` is a suite, or ids with commas between them; ``seed`` chooses the worlds."""
    samples = [
        Sample(id=problem, input=f"Incident {number}", metadata={"problem": problem, "seed": seed})
        for number, problem in enumerate(list_problems(problems), 1)
    ]
    return Task(dataset=samples, solver=operate(max_steps), scorer=verdict())


@solver
def operate(max_steps: int = 30) -> Solver:
    """Let the model take turns until it submits, or the steps are used up."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        env = open_env(state.metadata["problem"], state.metadata["seed"], max_steps=max_steps)
        try:
            observation, _ = await env.reset_async()
            state.messages = [ChatMessageUser(content=observation)]
            is_over = False
            while not is_over:
                state = await generate(state)
                observation, _, terminated, truncated, info = await env.step_async(state.output.completion)
                state.messages.append(ChatMessageUser(content=observation))
                is_over = terminated or truncated
            state.store.set(RESULTS, info["results"])
        finally:
            await asyncio.to_thread(env.close)
        state.completed = True
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def verdict() -> Any:
    """Score 1 for success; the whole evaluation is in the metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        results: dict[str, Any] = state.store.get(RESULTS, {})
        return Score(value=int(bool(results.get("success"))), metadata=results)

    return score
