"""``aiopslab play``: a person works on a problem at a terminal.

A line is a shell command, an action, or a keyword (``help``, ``problem``, ``history``, ``submit``, ``quit``). Shell commands run
in one bash, which keeps its state; while a program reads input, all lines go to it. The session is recorded like an agent's. Ctrl-C ends the running command, not the session. Lines may also come from a file or a pipe; the end of
input ends the session.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from aiopslab.cli.completion import Completer, enable_line_editing
from aiopslab.cli.live_shell import Keyboard, LiveShell
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import DONE, FAILED, check_folder, check_policy, prepare_problem
from aiopslab.cli.session_view import format_step, limit_lines, show_ending, show_results
from aiopslab.cli.typed_calls import add_fence, format_shell_call, parse_line
from aiopslab.cloud import CONTROL_D
from aiopslab.orchestrator import (
    SUBMIT,
    AgentGone,
    AgentLink,
    Orchestrator,
    PreparedProblem,
    Step,
    Usage,
    catch_ending_signals,
    ignore_progress,
)
from aiopslab.orchestrator.models import Tool
from aiopslab.orchestrator.problems import ProblemRegistry

MAX_STEPS: Final = 1_000
TIME_LIMIT_S: Final = 7 * 86_400.0
LEFT: Final = "You left without submitting an answer."
EXIT_WORDS: Final = ("quit", "exit", "logout")
ANSWER_FORMS: Final = {
    "detection": "submit Yes, or submit No",
    "localization": "submit NAME…, the faulty components, most likely first",
    "analysis": "submit LEVEL / TYPE, for example: submit Application / Code Defect",
    "mitigation": "submit, when the fault is repaired",
    "incident": "submit NAME…: DIAGNOSIS, the faulty components and the cause in a few words, when the fault is repaired",
    "prediction": "submit COMPONENT / FAILURE / MINUTES, for example: submit frontend / disk full / 90; or submit None",
    "finops": "submit, when the cost is back to normal",
    "ciso": "submit, when the policy is kept",
}


def play_problem(
    problems: ProblemRegistry, problem: str, seed: int, results: Path, policy: str | None, thinking_s: float
) -> int:
    """Let a person work on a problem; return 0 if they submitted an answer or left."""
    check_policy(policy)
    check_folder(results, "--results")
    out = open_console()
    with Progress() as progress:
        posed = prepare_problem(problems, problem, seed, policy, progress)
    keyboard = Keyboard()
    person = Person(posed, keyboard, out)
    orchestrator = Orchestrator(
        results,
        posed.task.seed,
        thinking_s=thinking_s,
        time_limit_s=TIME_LIMIT_S,
        agent_timeout_s=TIME_LIMIT_S,
        tell=ignore_progress,
        on_step=person.show_step,
    )
    orchestrator.use_problem(posed)
    orchestrator.register_agent(person, person.name)
    with keyboard.catch_interrupts(), catch_ending_signals(_leave):
        result = asyncio.run(orchestrator.start_problem(MAX_STEPS))
    left = result["ending"] == "agent gone"
    if not left:
        show_results(out, result["results"])
    show_ending(out, result)
    return DONE if left or result["ending"] == "submitted" else FAILED


def _leave(_number: int) -> None:
    """End the session as if the person had left."""
    raise AgentGone(LEFT)


class Person(AgentLink):
    """A person at the keyboard as an agent. Runs in the main thread, where readline and Ctrl-C work."""

    name = "human"

    def __init__(self, posed: PreparedProblem, keyboard: Keyboard, out: Console) -> None:
        self._posed = posed
        self._keyboard = keyboard
        self._out = out
        self._history: list[Step] = []
        self._is_tty = sys.stdin.isatty() and sys.stdout.isatty()
        self._live = LiveShell(posed.terminal, shows_output=self._is_tty)
        posed.terminal.is_interrupted = self._check_interrupt
        self._keywords = {
            "help": self._show_help,
            "problem": self._show_problem,
            "history": self._show_history,
        }

    async def init(
        self, problem: str, instructions: str, apis: dict[str, str], tools: Sequence[Tool] = ()
    ) -> None:
        """Show the problem and how to get help."""
        if self._is_tty:
            enable_line_editing(Completer(self._posed.terminal.api, self._build_vocabulary()))
        self._show_problem("")
        self._out.print("Type shell commands as in any terminal. Type 'help' for more, 'quit' to leave.")

    async def get_action(self, state: str) -> str:
        """Read lines until one is an action, and return it; raises ``AgentGone`` when the person leaves."""
        while True:
            if self._live.type_keys():
                continue
            try:
                line = self._keyboard.read(self._live.format_prompt())
            except EOFError:
                if self._is_tty:
                    self._out.print()
                if not self._is_tty or self._is_at_prompt:
                    raise AgentGone(LEFT) from None
                line = CONTROL_D
            except KeyboardInterrupt:
                self._out.print()
                self._live.begin_line()
                continue
            self._live.begin_line()
            if not self._is_at_prompt:
                return add_fence(format_shell_call(line))
            line = line.strip()
            word, _, rest = line.partition(" ")
            if word in EXIT_WORDS:
                raise AgentGone(LEFT)
            if word in self._keywords and (word == "help" or not rest):
                self._keywords[word](rest.strip())
            elif line:
                return add_fence(parse_line(line, self._actions, self._posed.task.task_type))

    def show_step(self, step: Step) -> None:
        """Print the observation of a step."""
        self._history.append(step)
        if step.valid and step.api_name == "exec_shell" and self._is_tty:
            return  # the shell has shown its output already
        self._out.print(step.observation.rstrip("\n"), markup=False, style=None if step.valid else "yellow")

    def usage(self) -> Usage | None:
        """Return None: people use no tokens."""
        return None

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""

    @property
    def _actions(self) -> Mapping[str, str]:
        return self._posed.prompt.actions

    @property
    def _is_at_prompt(self) -> bool:
        """Whether the shell waits for a new command, and no program for input."""
        shell = self._live.shell
        return shell.is_at_prompt or not shell.process.alive

    def _check_interrupt(self) -> bool:
        self._live.pace()
        pressed = self._keyboard.take_interrupt()
        if pressed:
            self._out.print("^C")
        return pressed

    def _show_problem(self, _: str) -> None:
        self._out.print(self._posed.prompt.description.rstrip(), markup=False, soft_wrap=False)
        self._out.print(f"{self._describe_answer()}\n", markup=False)

    def _describe_answer(self) -> str:
        return f"To answer, type: {ANSWER_FORMS.get(self._posed.task.task_type, SUBMIT)}"

    def _show_help(self, topic: str) -> None:
        actions = self._actions
        if topic in actions:
            self._out.print(actions[topic].rstrip(), markup=False)
            return
        if topic:
            self._out.print(
                f"There is no action '{topic}'. Available actions: {', '.join(actions)}.", markup=False
            )
            return
        self._out.print('Actions, typed as get_logs("NAMESPACE", "SERVICE") or get_logs NAMESPACE SERVICE:')
        for text in actions.values():
            signature, _, rest = text.strip().partition("\n")
            self._out.print(f"  {signature}\n      {_extract_first_sentence(rest)}", markup=False)
        self._out.print(
            "Other words: help ACTION, problem, history, quit. Every other line is a shell command; all run in one shell.\n"
            f"{self._describe_answer()}",
            markup=False,
        )

    def _build_vocabulary(self) -> dict[str, Sequence[str]]:
        """Return the words that a line may start with besides kubectl, each with its possible arguments."""
        task = self._posed.task
        components = [component.name for component in task.app.components]
        answers = {"detection": ["Yes", "No"], "localization": components}.get(task.task_type, [])
        vocabulary: dict[str, Sequence[str]] = dict.fromkeys((*self._actions, *self._keywords, "quit"), ())
        return vocabulary | {"help": list(self._actions), SUBMIT: answers}

    def _show_history(self, _: str) -> None:
        history = "\n".join(map(format_step, self._history)) or "There are no steps yet."
        self._out.print(limit_lines(history, MAX_STEPS), markup=False)


def _extract_first_sentence(documentation: str) -> str:
    paragraph = " ".join(documentation.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return f"{sentence}." if stop else sentence
