"""``aiopslab play``: a person works on a problem at a terminal.

A line is a shell command, an action, or a keyword (``help``, ``problem``, ``history``, ``submit``, ``quit``). The session is
recorded like an agent's. Ctrl-C ends the running command, not the session. Lines may also come from a file or a pipe; the end of
input ends the session.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from rich.console import Console

from aiopslab.cli.completion import Completer, enable_line_editing
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import DONE, FAILED, check_folder, check_policy, prepare_problem
from aiopslab.cli.session_view import format_step, limit_lines, show_ending, show_results
from aiopslab.cli.typed_calls import add_fence, parse_line
from aiopslab.orchestrator import (
    SUBMIT,
    AgentGone,
    AgentLink,
    Orchestrator,
    PreparedProblem,
    Step,
    Usage,
)
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
    posed.terminal.is_interrupted = keyboard.take_interrupt
    person = Person(posed, keyboard, out)
    orchestrator = Orchestrator(
        results,
        seed,
        thinking_s=thinking_s,
        time_limit_s=TIME_LIMIT_S,
        agent_timeout_s=TIME_LIMIT_S,
        on_step=person.show_step,
    )
    orchestrator.use_problem(posed)
    orchestrator.register_agent(person, person.name)
    with keyboard.catch_interrupts():
        result = asyncio.run(orchestrator.start_problem(MAX_STEPS))
    left = result["ending"] == "agent gone"
    if not left:
        show_results(out, result["results"])
    show_ending(out, result)
    return DONE if left or result["ending"] == "submitted" else FAILED


class Keyboard:
    """Reads lines and handles Ctrl-C: it raises at the prompt, and is only recorded while a command runs."""

    def __init__(self) -> None:
        self._at_prompt = False
        self._pressed = False

    def take_interrupt(self) -> bool:
        """Return whether Ctrl-C was pressed since the last call."""
        pressed, self._pressed = self._pressed, False
        return pressed

    def read(self, prompt: str) -> str:
        """Read a line; raises ``EOFError`` and ``KeyboardInterrupt``."""
        self._at_prompt = True
        try:
            return input(prompt)
        finally:
            self._at_prompt = self._pressed = False

    @contextmanager
    def catch_interrupts(self) -> Iterator[None]:
        """Handle Ctrl-C here; by default it would end the session."""
        previous = signal.signal(signal.SIGINT, self._handle_interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._at_prompt:
            raise KeyboardInterrupt
        self._pressed = True


class Person(AgentLink):
    """A person at the keyboard as an agent. Runs in the main thread, where readline and Ctrl-C work."""

    name = "human"

    def __init__(self, posed: PreparedProblem, keyboard: Keyboard, out: Console) -> None:
        self._posed = posed
        self._keyboard = keyboard
        self._out = out
        self._history: list[Step] = []
        self._is_tty = sys.stdin.isatty()
        self._keywords = {
            "help": self._show_help,
            "problem": self._show_problem,
            "history": self._show_history,
        }

    async def init(self, problem: str, instructions: str, apis: dict[str, str]) -> None:
        """Show the problem and how to get help."""
        if self._is_tty:
            enable_line_editing(Completer(self._posed.terminal.api, self._build_vocabulary()))
        self._show_problem("")
        self._out.print("Type shell commands as in any terminal. Type 'help' for more, 'quit' to leave.")

    async def get_action(self, state: str) -> str:
        """Read lines until one is an action, and return it; raises ``AgentGone`` when the person leaves."""
        while True:
            try:
                line = self._keyboard.read(self._format_prompt()).strip()
            except EOFError:
                if self._is_tty:
                    self._out.print()
                raise AgentGone(LEFT) from None
            except KeyboardInterrupt:
                self._out.print()
                continue
            word, _, rest = line.partition(" ")
            if word in EXIT_WORDS:
                raise AgentGone(LEFT)
            if word in self._keywords:
                self._keywords[word](rest.strip())
            elif line:
                return add_fence(parse_line(line, self._actions, self._posed.task.task_type))

    def show_step(self, step: Step) -> None:
        """Print the observation of a step."""
        self._history.append(step)
        self._out.print(step.observation.rstrip("\n"), markup=False, style=None if step.valid else "yellow")

    def usage(self) -> Usage | None:
        """Return None: people use no tokens."""
        return None

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""

    @property
    def _actions(self) -> Mapping[str, str]:
        return self._posed.prompt.actions

    def _format_prompt(self) -> str:
        return f"root@{self._posed.terminal.machine.name}:~# " if self._is_tty else ""

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
            "Other words: help ACTION, problem, history, quit. Every other line is a shell command; each runs in a new shell, "
            f"so write 'cd DIR && …' on one line.\n{self._describe_answer()}",
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
