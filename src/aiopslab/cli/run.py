"""``aiopslab run``: let an agent work on a problem, print its steps as they happen, and print the results.

The agent runs in a process of its own. It is started before the world is prepared, so that a wrong name, a missing program or an
unreachable model is reported at once.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from aiopslab.agents import HUMAN, make_process
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import (
    DONE,
    FAILED,
    INTERRUPTED,
    Terminated,
    UsageError,
    check_folder,
    check_policy,
    check_terminal,
    parse_thinking,
    prepare_problem,
)
from aiopslab.cli.session_view import sanitize, show_ending, show_results, show_step
from aiopslab.orchestrator import (
    LIVE_TIMEOUT_S,
    AgentLink,
    Limits,
    Orchestrator,
    Pace,
    Step,
    end_on_signals,
    hide_command_line,
    shield_harness,
)
from aiopslab.orchestrator.models import ChatModel, open_model
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.transactions import TransactionOptions, Undo

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

COMPLETE_ENDINGS: Final = ("submitted", "gave up", "step limit", "time limit")
"""Endings of a complete session, whether its answer was right or wrong."""
OUTPUT_CHARS: Final = 1_000_000
"""Maximum number of characters of an agent's own output that are printed."""


@dataclass(frozen=True)
class RunOptions:
    """The options of ``aiopslab run``."""

    problem: str
    agent: str
    seed: int = 0
    max_steps: int = 30
    model: str | None = None
    results: Path = Path("results")
    judge: str | None = None
    thinking: str = "5"
    policy: str | None = None
    as_json: bool = False
    verbose: bool = False
    env: Sequence[str] = ()
    action_timeout_s: float = Pace.action_timeout_s
    agent_timeout_s: float = Pace.agent_timeout_s
    isolate: bool = False
    limits: Sequence[str] = ()
    endpoints: Sequence[str] = ()
    tnr: bool = False
    undo: str = "inverse"
    cluster: KubernetesOptions | None = None
    """The real cluster to run on; None for the embedded cloud."""


def run_problem(problems: ProblemRegistry, options: RunOptions) -> int:
    """Run one session; return 0 if it was complete, whether its answer was right or wrong."""
    thinking_s = parse_thinking(options.thinking)
    check_policy(options.policy)
    tnr = parse_transactions(options.tnr, options.undo)
    if options.agent == HUMAN:
        return _run_person(problems, options, {"thinking_s": thinking_s, "tnr": tnr})
    name, agent = make_process(
        options.agent,
        options.model,
        options.env,
        limits=parse_limits(options.limits),
        isolate=options.isolate,
        hidden=[options.results],
        endpoints=options.endpoints,
    )
    agent.on_output = AgentOutput().print
    judge = _open_judge(options.judge)
    check_folder(options.results, "--results")
    hide_command_line("aiopslab run")
    shield_harness()
    out = open_console()
    linked = agent.link(name, timeout_s=options.agent_timeout_s)
    action_timeout_s = options.action_timeout_s
    if options.cluster is not None:
        action_timeout_s = max(action_timeout_s, LIVE_TIMEOUT_S)
    with (
        Progress() as progress,
        end_on_signals() as signals,
        ExitStack() as closing,
        asyncio.Runner() as runner,
    ):
        try:
            runner.run(linked.start())
            posed = prepare_problem(
                problems, options.problem, options.seed, options.policy, progress, options.cluster
            )
            closing.callback(posed.environment.close)
            progress.clear()

            def on_step(step: Step) -> None:
                if not options.as_json:
                    show_step(out, step, options.verbose)

            orchestrator = Orchestrator(
                options.results,
                posed.task.seed,
                thinking_s=thinking_s,
                agent_timeout_s=options.agent_timeout_s,
                action_timeout_s=action_timeout_s,
                tell=progress,
                on_step=on_step,
                judge=judge,
                tnr=tnr,
            )
            orchestrator.use_problem(posed)
            orchestrator.register_agent(linked, linked.name)
            result = runner.run(orchestrator.start_problem(options.max_steps))
        except KeyboardInterrupt as error:
            if signals:
                raise Terminated(signals[0]) from error
            raise
        finally:
            runner.run(linked.close())
    if options.as_json:
        print(json.dumps(_build_document(options, linked, result), indent=1, default=str))
    else:
        show_results(out, result["results"])
        show_ending(out, result)
    return get_exit_code(result["ending"])


def _run_person(problems: ProblemRegistry, options: RunOptions, settings: dict[str, Any]) -> int:
    """Let a person at this terminal be the agent; raises ``UsageError`` for options that only programs have."""
    from aiopslab.cli.play import PlayOptions, play_problem

    taken = {
        "--model": options.model,
        "--env": options.env,
        "--isolate": options.isolate,
        "--limit": options.limits,
        "--endpoint": options.endpoints,
        "--json": options.as_json,
    }
    if unusable := [name for name, value in taken.items() if value]:
        raise UsageError(f"The agent human is a person; leave out {' and '.join(unusable)}.")
    check_terminal()
    judge = _open_judge(options.judge)
    settings |= {"judge": judge, "action_timeout_s": options.action_timeout_s}
    return play_problem(
        problems,
        PlayOptions(
            options.problem,
            options.seed,
            options.results,
            options.policy,
            options.max_steps,
            settings,
            cluster=options.cluster,
        ),
    )


def _open_judge(name: str | None) -> ChatModel | None:
    """Return the language model that judges the reasoning, if any, once it is known to answer."""
    if name is None:
        return None
    judge = open_model(name)
    judge.check()
    return judge


class AgentOutput:
    """Prints what an agent writes to its standard error, line by line, on ours."""

    def __init__(self) -> None:
        self._line = ""
        self._left_chars = OUTPUT_CHARS

    def print(self, text: str) -> None:
        """Print the lines that are complete, or too long to wait for their end."""
        *lines, self._line = (self._line + text).split("\n")
        if len(self._line) > OUTPUT_CHARS:
            lines, self._line = [*lines, self._line], ""
        for line in lines:
            if self._left_chars > 0:
                print(sanitize(line[: self._left_chars]), file=sys.stderr)
            self._left_chars -= len(line) + 1


def parse_limits(texts: Sequence[str]) -> Limits:
    """Return the limits of an agent from values such as ``memory_mb=8192``; raises ``UsageError``."""
    values: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in Limits._fields or not value.isdecimal() or not 0 < int(value) < 2**40:
            raise UsageError(
                f"--limit takes NAME=NUMBER with one of {', '.join(Limits._fields)}, not '{text}'."
            )
        values[name] = int(value)
    return Limits(**values)


def parse_transactions(is_on: bool, undo: str) -> TransactionOptions | bool:
    """Return the options of transactions, False without them; raises ``UsageError``."""
    if undo not in get_args(Undo):
        raise UsageError(f"--undo takes one of {', '.join(get_args(Undo))}, not '{undo}'.")
    return TransactionOptions(cast(Undo, undo)) if is_on else False


def get_exit_code(ending: str) -> int:
    """Return 0 for a complete session, 130 for an interrupted one, else 1."""
    if ending in COMPLETE_ENDINGS:
        return DONE
    return INTERRUPTED if ending == "interrupted" else FAILED


def _build_document(options: RunOptions, agent: AgentLink, result: dict[str, Any]) -> dict[str, Any]:
    kept = {key: result[key] for key in ("ending", "why", "results", "session_id")}
    record = str(result["record"]) if result["record"] else None
    return {"problem": options.problem, "agent": agent.name, "seed": options.seed, **kept, "record": record}
