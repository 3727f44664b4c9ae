"""``aiopslab play``: a person works on a problem, at a terminal of their own.

What is typed is a command line, an action, or one of a few words of ours (``help``, ``problem``, ``history``, ``submit``,
``quit``). The session is the same as an agent's, with the same limits and the same record. Control-C ends a command and not
the session. Lines may also come from a file or a pipe; the end of input leaves.
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

from aiopslab.cli.completion import Completer, edit_lines
from aiopslab.cli.output import console
from aiopslab.cli.problems import DONE, FAILED, check_folder, checked_policy, prepared
from aiopslab.cli.progress import Progress
from aiopslab.cli.session_view import bounded, show_ending, show_results, step_line
from aiopslab.cli.typed_calls import as_call, fenced
from aiopslab.orchestrator.actions.action_set import SUBMIT
from aiopslab.orchestrator.agent import AgentGone, AgentLink, Usage
from aiopslab.orchestrator.orchestrator import Orchestrator
from aiopslab.orchestrator.posing import Posed
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.session import Step

MOST_STEPS: Final = 1_000
PATIENCE_S: Final = 7 * 86_400.0
LEFT: Final = "You left, and nothing was submitted."
LEAVES: Final = ("quit", "exit", "logout")
FORMS: Final = {
    "detection": "submit Yes, or submit No",
    "localization": "submit NAME…, the components at fault, the likeliest first",
    "analysis": "submit LEVEL / TYPE, as in: submit Application / Code Defect",
    "mitigation": "submit, when it is repaired",
}


def play_problem(
    problems: ProblemRegistry, problem: str, seed: int, results: Path, policy: str | None, thinking_s: float
) -> int:
    """Let a person work on it; 0 when the session ended as it should, or as the person wished."""
    checked_policy(policy)
    check_folder(results, "--results")
    out = console()
    with Progress() as progress:
        posed = prepared(problems, problem, seed, policy, progress)
    keyboard = Keyboard()
    posed.terminal.interrupted = keyboard.take
    person = Person(posed, keyboard, out)
    orchestrator = Orchestrator(
        results,
        seed,
        thinking_s=thinking_s,
        time_limit_s=PATIENCE_S,
        agent_timeout_s=PATIENCE_S,
        on_step=person.sees,
    )
    orchestrator.take(posed)
    orchestrator.register_agent(person, person.name)
    with keyboard.watched():
        result = asyncio.run(orchestrator.start_problem(MOST_STEPS))
    left = result["ending"] == "agent gone"
    if not left:
        show_results(out, result["results"])
    show_ending(out, result)
    return DONE if left or result["ending"] == "submitted" else FAILED


class Keyboard:
    """Control-C: at the prompt it is an exception, while a command runs it is only noted."""

    def __init__(self) -> None:
        self._at_prompt = False
        self._pressed = False

    def take(self) -> bool:
        """Whether it was pressed since it was last asked."""
        pressed, self._pressed = self._pressed, False
        return pressed

    def read(self, prompt: str) -> str:
        """A line; raises ``EOFError`` and ``KeyboardInterrupt``."""
        self._at_prompt = True
        try:
            return input(prompt)
        finally:
            self._at_prompt = self._pressed = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """While it lasts, Control-C comes here: anywhere else it would end the session."""
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._at_prompt:
            raise KeyboardInterrupt
        self._pressed = True


class Person(AgentLink):
    """Somebody who types. It answers in the main thread, where lines can be edited and Control-C arrives."""

    name = "human"

    def __init__(self, posed: Posed, keyboard: Keyboard, out: Console) -> None:
        self._posed = posed
        self._keyboard = keyboard
        self._out = out
        self._history: list[Step] = []
        self._is_tty = sys.stdin.isatty()
        self._words = {"help": self._help, "problem": self._problem, "history": self._past}

    async def init(self, problem: str, instructions: str, apis: dict[str, str]) -> None:
        """Show the problem, and what can be typed."""
        if self._is_tty:
            edit_lines(Completer(self._posed.terminal.api, self._vocabulary()))
        self._problem("")
        self._out.print(
            "Type command lines as at any terminal; 'help' says what else there is, 'quit' leaves."
        )

    async def get_action(self, state: str) -> str:
        """Read lines until one is an action; raises ``AgentGone`` when the person leaves."""
        while True:
            try:
                line = self._keyboard.read(self._prompt()).strip()
            except EOFError:
                if self._is_tty:
                    self._out.print()
                raise AgentGone(LEFT) from None
            except KeyboardInterrupt:
                self._out.print()
                continue
            word, _, rest = line.partition(" ")
            if word in LEAVES:
                raise AgentGone(LEFT)
            if word in self._words:
                self._words[word](rest.strip())
            elif line:
                return fenced(as_call(line, self._actions, self._posed.task.task_type))

    def sees(self, step: Step) -> None:
        """Show what came of an action."""
        self._history.append(step)
        self._out.print(step.observation.rstrip("\n"), markup=False, style=None if step.valid else "yellow")

    def usage(self) -> Usage | None:
        """People do not say."""
        return None

    async def close(self) -> None:
        """Nothing was started for them."""

    @property
    def _actions(self) -> Mapping[str, str]:
        return self._posed.prompt.actions

    def _prompt(self) -> str:
        return f"root@{self._posed.terminal.machine.name}:~# " if self._is_tty else ""

    def _problem(self, _: str) -> None:
        self._out.print(self._posed.prompt.description.rstrip(), markup=False, soft_wrap=False)
        self._out.print(f"Answer by: {FORMS.get(self._posed.task.task_type, SUBMIT)}\n", markup=False)

    def _help(self, about: str) -> None:
        known = self._actions
        if about in known:
            self._out.print(known[about].rstrip(), markup=False)
            return
        if about:
            self._out.print(f"There is no action '{about}'. There are: {', '.join(known)}.", markup=False)
            return
        self._out.print('Actions, typed as get_logs("NAMESPACE", "SERVICE") or get_logs NAMESPACE SERVICE:')
        for text in known.values():
            signature, _, rest = text.strip().partition("\n")
            self._out.print(f"  {signature}\n      {_first_sentence(rest)}", markup=False)
        self._out.print(
            "Besides: help ACTION, problem, history, quit. Everything else is a command line for your terminal; each is a "
            "shell of its own, so write 'cd DIR && …' in one line.\n"
            f"Answer by: {FORMS.get(self._posed.task.task_type, SUBMIT)}",
            markup=False,
        )

    def _vocabulary(self) -> dict[str, Sequence[str]]:
        """What a line may begin with besides kubectl, and what may follow each word of it."""
        task = self._posed.task
        components = [component.name for component in task.app.components]
        answers = {"detection": ["Yes", "No"], "localization": components}.get(task.task_type, [])
        alone: dict[str, Sequence[str]] = dict.fromkeys((*self._actions, *self._words, "quit"), ())
        return alone | {"help": list(self._actions), SUBMIT: answers}

    def _past(self, _: str) -> None:
        told = "\n".join(map(step_line, self._history)) or "Nothing has been done yet."
        self._out.print(bounded(told, MOST_STEPS), markup=False)


def _first_sentence(documentation: str) -> str:
    paragraph = " ".join(documentation.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return f"{sentence}." if stop else sentence
