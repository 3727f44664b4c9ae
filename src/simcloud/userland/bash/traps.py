"""Traps: commands that run at signals, at the end of the shell, after failures, before commands.

A signal is only recorded; its trap runs between commands, after the one in the foreground has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.machine.process import Signal
from simcloud.sim import Event
from simcloud.userland.bash.control import ExitShell

if TYPE_CHECKING:
    from simcloud.userland.bash.interfaces import Shell

FATAL: Final = (Signal.HUP, Signal.INT, Signal.TERM)
PSEUDO: Final = ("EXIT", "ERR", "DEBUG", "RETURN")
LABELS: Final = {"EXIT": "exit trap", "ERR": "error trap", "DEBUG": "debug trap", "RETURN": "return trap"}
"""Labels of syntax errors in traps; for signals the label is just "trap"."""


class Traps:
    """The traps of one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.actions: dict[str, str] = {}
        """By ``EXIT``, ``ERR``, ``DEBUG``, ``RETURN`` or a signal's name; an empty action ignores."""
        self.inherited: dict[str, str] = {}
        """The traps of a subshell's parent, listed by ``trap`` until the subshell sets its own."""
        self.pending: list[str] = []
        self.terminated_by: Signal | None = None
        self._arrival: Event[None] | None = None
        self._running: list[str] = []
        self.status_before: int | None = None
        """While a trap runs: the status before it, which a bare ``exit`` in it stands for."""

    @property
    def any_set(self) -> bool:
        """Whether anything at all is trapped."""
        return bool(self.actions)

    def inherit(self, parent: Traps) -> None:
        """A subshell keeps what is ignored; it only shows the rest."""
        for name, action in parent.actions.items():
            if action == "" or (name in ("ERR", "DEBUG", "RETURN") and self._is_inherited(name)):
                self.actions[name] = action
        self.inherited = {**parent.inherited, **parent.actions}

    def _is_inherited(self, name: str) -> bool:
        return bool(self.shell.state.options.get("errtrace" if name == "ERR" else "functrace"))

    def is_trapped(self, signal: Signal) -> bool:
        """Whether a signal has a trap."""
        return signal.name in self.actions

    def set(self, name: str, action: str | None) -> None:
        """Set a trap; None goes back to the default, the empty string ignores."""
        self.inherited = {}
        if action is None:
            self.actions.pop(name, None)
        else:
            self.actions[name] = action
        signals = self.shell.ctx.signals
        if name in PSEUDO:
            if name == "EXIT":
                self._watch_fatal()
            return
        signal = Signal[name]
        if action is None:
            signals.on(signal, "default")
            self._watch_fatal()
        elif action == "":
            signals.on(signal, "ignore")
        else:
            signals.on(signal, self._note)

    def _watch_fatal(self) -> None:
        """With an exit trap set, a fatal signal must run it before it kills."""
        for signal in FATAL:
            if signal.name not in self.actions:
                self.shell.ctx.signals.on(signal, self._terminate if "EXIT" in self.actions else "default")

    def _note(self, signal: Signal) -> None:
        self.pending.append(signal.name)
        if self._arrival is not None:
            self._arrival.set()
            self._arrival = None

    def _terminate(self, signal: Signal) -> None:
        main = self.shell.ctx.process.main
        if self.terminated_by is None and main is not None:
            self.terminated_by = signal
            main.cancel()

    def arrival(self) -> Event[None]:
        """An event that the next trapped signal sets."""
        if self._arrival is None:
            self._arrival = Event(self.shell.ctx.kernel)
        return self._arrival

    def hide(self, names: list[str]) -> dict[str, str]:
        """Take traps away that a function does not see; give what comes back to ``unhide``."""
        return {name: self.actions.pop(name) for name in names if name in self.actions}

    def unhide(self, hidden: dict[str, str]) -> None:
        """Put hidden traps back, unless the function set its own."""
        for name, action in hidden.items():
            self.actions.setdefault(name, action)

    # -- running -------------------------------------------------------------------------------

    async def run_pending(self) -> None:
        """Run the traps of signals that came since."""
        while self.pending:
            name = self.pending.pop(0)
            action = self.actions.get(name)
            if action:
                await self._run(name, action)

    async def run(self, name: str) -> None:
        """Run the trap of that name if there is one and it is not running already."""
        action = self.actions.get(name)
        if action and name not in self._running:
            await self._run(name, action)

    async def _run(self, name: str, action: str) -> None:
        shell = self.shell
        status, statuses, line = shell.status, shell.pipe_statuses, shell.line
        self._running.append(name)
        outer, self.status_before = self.status_before, status
        try:
            await shell.run_text(action, LABELS.get(name, "trap"), shell.line)
        finally:
            self._running.remove(name)
            self.status_before = outer
        shell.status, shell.pipe_statuses, shell.line = status, statuses, line

    async def run_exit(self) -> int:
        """Run the exit trap, once; the shell's final status."""
        action = self.actions.pop("EXIT", "")
        shell = self.shell
        if action:
            self.status_before = status = shell.status
            shell.state.frames.clear()
            try:
                await shell.run_text(action, LABELS["EXIT"], 1)
                shell.status = status
            except ExitShell as leaving:
                shell.status = leaving.status
        return shell.status
