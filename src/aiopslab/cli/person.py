"""A person at a terminal as an agent.

A line is a shell command, an action, or a keyword (``help``, ``problem``, ``history``, ``hint``, ``give up``, ``submit``, ``quit``). Shell
commands run in one bash, which keeps its state; while a program reads input, all lines go to it. On a real cluster, each runs in a bash of
its own. Ctrl-C ends the running command, not the session; Ctrl-D asks before it ends the session. Lines may also come from a file or
a pipe; the end of input ends the session.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console

from aiopslab.agents import HUMAN
from aiopslab.cli.completion import Completer, enable_line_editing
from aiopslab.cli.hints import make_hints
from aiopslab.cli.live_shell import Keyboard, LineShell, LiveShell
from aiopslab.cli.session_view import format_step, limit_lines
from aiopslab.cli.typed_calls import ANSWER_FORMS, add_fence, format_shell_call, parse_line
from aiopslab.cloud import CONTROL_D, Terminal
from aiopslab.orchestrator import SUBMIT, AgentGaveUp, AgentGone, AgentLink, PreparedProblem, Step, Usage
from aiopslab.orchestrator.models import Tool

LEFT: Final = "You left without submitting an answer."
EXIT_WORDS: Final = ("quit", "exit", "logout")
GIVE_UP: Final = "give up"
UNLIMITED: Final = 1_000
"""Number of steps that nobody reaches."""


class Person(AgentLink):
    """A person at the keyboard as an agent. Runs in the main thread, where readline and Ctrl-C work."""

    name = HUMAN

    def __init__(
        self, posed: PreparedProblem, keyboard: Keyboard, out: Console, max_steps: int, commands: list[str]
    ) -> None:
        """``commands`` are those of the reference repair, for the last hint."""
        self._posed = posed
        self._keyboard = keyboard
        self._out = out
        self._max_steps = max_steps
        self._history: list[Step] = []
        self._hints = make_hints(posed, commands)
        self._used_hints: list[dict[str, Any]] = []
        self._began_s = posed.environment.now
        self._is_tty = sys.stdin.isatty() and sys.stdout.isatty()
        # A transaction may try a command in a copy of the world first, so its output is shown when it is final.
        self._shows_output = self._is_tty and posed.transactions is None and not posed.environment.is_live
        self._live: LiveShell | LineShell = LineShell()
        if isinstance(posed.terminal, Terminal):
            self._live = LiveShell(posed.terminal, shows_output=self._shows_output)
            posed.terminal.is_interrupted = self._check_interrupt
        self._keywords = {
            "help": self._show_help,
            "problem": self._show_problem,
            "history": self._show_history,
            "hint": self._show_hint,
        }

    async def init(
        self, problem: str, instructions: str, apis: dict[str, str], tools: Sequence[Tool] = ()
    ) -> None:
        """Show the problem and how to get help."""
        if self._is_tty:
            enable_line_editing(Completer(self._posed.environment.cluster.api, self._build_vocabulary()))
        self._began_s = self._posed.environment.now
        self._show_problem("")
        self._out.print(
            "Type shell commands as in any terminal. Type 'help' for more, 'hint' for a hint, 'give up' to see what was wrong, "
            "'quit' to leave."
        )

    async def get_action(self, state: str) -> str:
        """Read lines until one is an action, and return it; raises ``AgentGone`` and ``AgentGaveUp``."""
        if self._live.is_at_prompt:
            self._live.end_line()
            self._out.print(self._format_status(), markup=False, style="dim")
        while True:
            if self._live.type_keys():
                continue
            try:
                line = self._keyboard.read(self._live.format_prompt())
            except EOFError:
                if self._is_tty:
                    self._out.print()
                if self._live.is_at_prompt and self._is_tty and not self._confirm_leaving():
                    continue
                if not self._is_tty or self._live.is_at_prompt:
                    raise AgentGone(LEFT) from None
                line = CONTROL_D
            except KeyboardInterrupt:
                self._out.print()
                self._live.begin_line()
                continue
            self._live.begin_line()
            if not self._live.is_at_prompt:
                return add_fence(format_shell_call(line))
            line = line.strip()
            word, _, rest = line.partition(" ")
            if word in EXIT_WORDS:
                raise AgentGone(LEFT)
            if " ".join(line.lower().split()) == GIVE_UP:
                raise AgentGaveUp("")
            if word in self._keywords and (word == "help" or not rest):
                self._keywords[word](rest.strip())
            elif line:
                return add_fence(parse_line(line, self._actions, self._posed.task.task_type))

    def show_step(self, step: Step) -> None:
        """Print the observation of a step."""
        self._history.append(step)
        if step.valid and step.api_name == "exec_shell" and self._shows_output:
            return  # the shell has shown its output already
        self._out.print(step.observation.rstrip("\n"), markup=False, style=None if step.valid else "yellow")

    def usage(self) -> Usage:
        """Return zero: people use no tokens."""
        return Usage(0, 0)

    def settings(self) -> dict[str, Any]:
        """Return the hints that the person has used."""
        return {"hints": self._used_hints}

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""

    @property
    def _actions(self) -> Mapping[str, str]:
        return self._posed.prompt.actions

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
            "Other words: help ACTION, problem, history, hint, give up, quit. Every other line is a shell command; "
            f"{'each runs in a shell of its own' if self._posed.environment.is_live else 'all run in one shell'}.\n"
            f"{self._describe_answer()}",
            markup=False,
        )

    def _build_vocabulary(self) -> dict[str, Sequence[str]]:
        """Return the words that a line may start with besides kubectl, each with its possible arguments."""
        task = self._posed.task
        components = [component.name for component in task.app.components]
        answers = {"detection": ["Yes", "No"], "localization": components}.get(task.task_type, [])
        vocabulary: dict[str, Sequence[str]] = dict.fromkeys((*self._actions, *self._keywords, "quit"), ())
        return vocabulary | {"help": list(self._actions), "give": ["up"], SUBMIT: answers}

    def _show_hint(self, _: str) -> None:
        """Show the next hint, and note that it was used."""
        number = len(self._used_hints) + 1
        if number > len(self._hints):
            self._out.print("There are no more hints.")
            return
        at_s = round(self._posed.environment.now - self._began_s, 1)
        self._used_hints.append({"number": number, "at_s": at_s, "text": self._hints[number - 1]})
        self._out.print(f"Hint {number} of {len(self._hints)}: {self._hints[number - 1]}", markup=False)

    def _confirm_leaving(self) -> bool:
        try:
            answer = self._keyboard.read("Leave without an answer? [y/N] ")
        except EOFError:
            return True
        except KeyboardInterrupt:
            answer = ""
        self._live.begin_line()
        return answer.strip().lower() in ("y", "yes")

    def _format_status(self) -> str:
        """Return the time, the severity and the users' success. Where the question is whether something is wrong, only the time."""
        environment = self._posed.environment
        health = self._history[-1].health if self._history else self._posed.health
        clock = time.strftime("%H:%M:%S", time.gmtime(environment.world.epoch_s + environment.now))
        parts = [f"{clock}, {environment.now - self._began_s:.0f} s into the session"]
        if self._posed.task.task_type != "detection":
            parts += [
                f"severity {health.severity:.2f}",
                f"{1 - health.failed:.0%} of users' requests succeed",
            ]
        if self._max_steps < UNLIMITED:
            parts.append(f"step {len(self._history) + 1} of {self._max_steps}")
        return f"[{' | '.join(parts)}]"

    def _show_history(self, _: str) -> None:
        history = "\n".join(map(format_step, self._history)) or "There are no steps yet."
        self._out.print(limit_lines(history, UNLIMITED), markup=False)


def _extract_first_sentence(documentation: str) -> str:
    paragraph = " ".join(documentation.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return f"{sentence}." if stop else sentence
