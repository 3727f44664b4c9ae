"""Steps and sessions made by hand, for tests of what is worked out from them."""

from __future__ import annotations

from typing import Any

from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.evaluation import Health, health
from aiopslab.orchestrator.session import Session, Step
from aiopslab.orchestrator.tasks import Task

WELL = Health(0.0, 0.0, 0.0, ())


def step(number: int, line: str = "ls", **changed: Any) -> Step:
    """A step that typed a line, five seconds after the one before."""
    told: dict[str, Any] = {
        "number": number,
        "response": f'exec_shell("{line}")',
        "api_name": "exec_shell",
        "args": (line,),
        "kwargs": {},
        "observation": "done",
        "valid": True,
        "at_s": 5.0 * number,
        "took_s": 0.0,
        "health": WELL,
        "changed": {},
        "in_tokens": None,
        "out_tokens": None,
        "wall_s": 0.1,
    }
    return Step(**{**told, **changed})


def typed_session(task: Task, solution: Any, *lines: str) -> Session:
    """A session in which somebody types some lines at the terminal and then submits."""
    environment: Environment = task.environment
    began = environment.now
    session = Session(task.id, "typist", environment.seed, 1, began, began, 30, health=health(environment))
    session.declared, session.state = environment.read_declared(), environment.read_state()
    terminal = environment.terminal()
    for number, line in enumerate(lines, start=1):
        environment.run_for(5.0)
        at_s = environment.now - began
        done = terminal.run(line)
        told = (done.stdout + done.stderr).decode()
        took_s = environment.now - began - at_s
        session.steps.append(
            step(number, line, observation=told, at_s=at_s, took_s=took_s, health=health(environment))
        )
    session.ended_s, session.solution, session.ending = environment.now, solution, "submitted"
    return session
