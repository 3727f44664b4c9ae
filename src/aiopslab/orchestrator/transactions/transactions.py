"""Transactional no-regression for any agent: what makes the system worse is undone.

After STRATUS (Chen et al., "STRATUS: A Multi-agent System for Autonomous Reliability Engineering of Modern Clouds", NeurIPS
2025). Every command that may change something belongs to a transaction: to the one that the agent has begun, or else to one
of its own, as statements of a database outside BEGIN and COMMIT do. Severity is measured before it, and again when users
have had time to notice it; if it rose, everything is undone and the agent learns why.

There are two ways to undo. ``inverse`` restores what was recorded before each command. ``copy`` tries a single command in a
copy of the embedded world, which is thrown away, and performs it only if severity does not rise there: nothing has to be
undone, users never notice, and no time passes. A transaction of several commands is always undone by its inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from aiopslab.cloud import CopyFailed, call_in_copy
from aiopslab.orchestrator.evaluation.harm import RISE
from aiopslab.orchestrator.evaluation.severity import Health
from aiopslab.orchestrator.transactions.commands import Effects, analyse
from aiopslab.orchestrator.transactions.inverse import Inverse, NotRecorded
from aiopslab.orchestrator.transactions.objects import read_log
from aiopslab.orchestrator.transactions.options import TransactionOptions, Undo
from aiopslab.utils import InvalidActionError

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite

Outcome = Literal["open", "committed", "undone", "aborted"]
PAUSES_S: Final = (30.0, 15.0, 15.0, 30.0)
"""Severity is measured after each of these pauses until it is no higher than before. The first is the time whose requests
count; the others leave time for a rollout."""
SHOWN: Final = 5


@dataclass
class TransactionRecord:
    """One transaction, for the session's record. Times are simulated seconds since the world began."""

    number: int
    is_single: bool
    """Whether it was one command outside a transaction of the agent."""
    began_s: float
    severity_before: float
    commands: list[str] = field(default_factory=list)
    outcome: Outcome = "open"
    ended_s: float | None = None
    severity_after: float | None = None
    """When it was judged."""
    why: str = ""
    """Why it was undone."""
    undo: Undo | None = None
    """How it was undone; None if it was not."""
    severity_undone: float | None = None
    """After the undo."""
    left: list[str] = field(default_factory=list)
    """What the undo could not restore."""


@dataclass
class _Open:
    record: TransactionRecord
    before: Health
    inverse: Inverse


Perform = Callable[[str, float], str]


class Transactions:
    """The transactions of one session. ``run`` takes the place of the shell's action."""

    def __init__(
        self,
        environment: IncidentSite,
        perform: Perform,
        measure: Callable[[], Health],
        options: TransactionOptions,
    ) -> None:
        """``perform`` runs a command line with a timeout and returns the observation; ``measure`` measures the health."""
        self.records: list[TransactionRecord] = []
        self._environment = environment
        self._perform = perform
        self._measure = measure
        self._options = options
        self._open: _Open | None = None

    @property
    def is_open(self) -> bool:
        """Whether the agent has begun a transaction and not ended it."""
        return self._open is not None

    def begin(self) -> str:
        """Begin a transaction; raises ``InvalidActionError`` if one is open."""
        if self._open is not None:
            raise InvalidActionError(
                f"Transaction {self._open.record.number} is open, and there is only one at a time. Commit or abort it first."
            )
        self._open = self._start(is_single=False)
        return (
            f"Transaction {self._open.record.number} has begun at severity {self._open.before.severity:.2f}. "
            f"It may have {self._options.max_commands} commands that change something."
        )

    def commit(self) -> str:
        """Wait and measure; keep the changes if severity did not rise, else undo them."""
        opened = self._take_open()
        after, why = self._judge(opened.before)
        return self._end(opened, after, why)

    def abort(self) -> str:
        """Undo the changes of the open transaction."""
        opened = self._take_open()
        opened.record.outcome = "aborted"
        return f"Transaction {opened.record.number} was aborted. {self._undo(opened)}"

    def close(self) -> None:
        """Undo a transaction that is still open when the session ends: only what was committed stays."""
        if self._open is not None:
            self._open.record.why = "the session ended before it was committed"
            self.abort()

    def run(self, command: str, timeout: float) -> str:
        """Run a command line, in a transaction if it may change something; raises ``InvalidActionError`` if it is refused."""
        effects = analyse(command, self._environment.app.components)
        if not effects.can_change:
            return self._perform(command, timeout)
        if effects.refusal:
            raise InvalidActionError(f"Refused: {effects.refusal} Nothing was done.")
        if self._open is not None:
            return self._run_in(self._open, effects, command, timeout)
        if self._options.undo == "copy":
            return self._try_in_copy(effects, command, timeout)
        opened = self._start(is_single=True)
        observation = self._run_in(opened, effects, command, timeout)
        after, why = self._judge(opened.before)
        return f"{observation}\n[{self._end(opened, after, why)}]"

    def _start(self, *, is_single: bool) -> _Open:
        before = self._measure()
        record = TransactionRecord(len(self.records) + 1, is_single, self._environment.now, before.severity)
        self.records.append(record)
        log = self._environment.cluster.api.log
        return _Open(record, before, Inverse(self._environment, lambda: read_log(log)))

    def _take_open(self) -> _Open:
        if self._open is None:
            raise InvalidActionError("No transaction is open. Call begin_transaction first.")
        opened, self._open = self._open, None
        return opened

    def _run_in(self, opened: _Open, effects: Effects, command: str, timeout: float) -> str:
        if len(opened.record.commands) >= self._options.max_commands:
            raise InvalidActionError(
                f"Refused: transaction {opened.record.number} has its {self._options.max_commands} commands. "
                "Commit or abort it. Nothing was done."
            )
        try:
            opened.inverse.record(effects)
        except NotRecorded as error:
            if opened.record.is_single:
                self.records.remove(opened.record)
            raise InvalidActionError(f"Refused: {error} Nothing was done.") from None
        opened.record.commands.append(command)
        observation = self._perform(command, timeout)
        opened.inverse.finish()
        return observation

    def _try_in_copy(self, effects: Effects, command: str, timeout: float) -> str:
        opened = self._start(is_single=True)
        opened.record.commands.append(command)

        def try_command() -> tuple[str, Health, str]:
            return self._perform(command, timeout), *self._judge(opened.before)

        try:
            observation, after, why = call_in_copy(try_command)
        except CopyFailed as error:
            self.records.remove(opened.record)
            raise InvalidActionError(
                f"Refused: the command could not be tried in a copy ({error})."
            ) from None
        if not why:
            observation = self._perform(command, timeout)
            return f"{observation}\n[{self._end(opened, after, why)}]"
        record = opened.record
        record.outcome, record.why, record.undo = "undone", why, "copy"
        record.severity_after, record.severity_undone = after.severity, opened.before.severity
        record.ended_s = self._environment.now
        return (
            f"{observation}\n[Transaction {record.number} was tried in a copy of the system and not performed: {why}. "
            "The system is as it was before.]"
        )

    def _judge(self, before: Health) -> tuple[Health, str]:
        """Let time pass until severity is no higher than before; return the health, and why it is worse or an empty text."""
        after, why = before, ""
        for pause_s in PAUSES_S:
            self._pass_time(pause_s)
            after = self._measure()
            why = explain_regression(before, after)
            if not why:
                break
        return after, why

    def _pass_time(self, seconds: float) -> None:
        left_s = self._environment.terminal().closes_at_s - self._environment.now
        self._environment.run_for(max(0.0, min(seconds, left_s)))

    def _end(self, opened: _Open, after: Health, why: str) -> str:
        record = opened.record
        record.severity_after, record.why = after.severity, why
        if why:
            record.outcome = "undone"
            return f"Transaction {record.number} was undone: {why}. {self._undo(opened)}"
        record.outcome, record.ended_s = "committed", self._environment.now
        return f"Transaction {record.number} was committed: severity was {opened.before.severity:.2f} and is {after.severity:.2f}."

    def _undo(self, opened: _Open) -> str:
        record = opened.record
        record.undo, record.left = "inverse", opened.inverse.undo()
        after, why = self._judge(opened.before)
        if why and opened.inverse.restart_dependents():
            after, _ = self._judge(opened.before)
        record.severity_undone, record.ended_s = after.severity, self._environment.now
        if record.left:
            return (
                f"Not everything could be restored: {_join(record.left)}. Severity is {after.severity:.2f}."
            )
        return f"The system is as it was before, at severity {after.severity:.2f}; try something else."

    def to_record(self) -> list[dict[str, Any]]:
        """Return all transactions, for the session's record."""
        return [
            vars(record) | {"commands": list(record.commands), "left": list(record.left)}
            for record in self.records
        ]


def explain_regression(before: Health, after: Health) -> str:
    """Return why the system is worse than before, or an empty text.

    A difference of severity below ``RISE`` is noise, as in the evaluation of harm; then a workload, Service or node that has
    become unhealthy decides.
    """
    fell = [name for name in after.unhealthy if name not in before.unhealthy and not name.startswith("pods/")]
    rose = after.severity - before.severity
    if rose < RISE and not (fell and rose > -RISE):
        return ""
    verb = "rose" if rose > 0 else "went"
    parts = [f"severity {verb} from {before.severity:.2f} to {after.severity:.2f}"]
    if fell:
        parts.append(f"{_join(fell)} became unhealthy")
    if after.failed > before.failed:
        parts.append(f"{after.failed:.0%} of the users' requests failed, {before.failed:.0%} before")
    return ", ".join(parts)


def _join(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
