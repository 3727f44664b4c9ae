"""The roles of STRATUS: what each may do, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiopslab.orchestrator import EXEC_SHELL, SUBMIT

BEGIN: Final = "begin_transaction"
COMMIT: Final = "commit_transaction"
ABORT: Final = "abort_transaction"
MACHINE: Final = frozenset({BEGIN, COMMIT, ABORT, SUBMIT})
"""Actions that the state machine takes itself."""


@dataclass(frozen=True)
class Role:
    """One agent of the team. ``prompt`` is the name of its prompt."""

    prompt: str
    max_turns: int
    may_change: bool = False
    only: tuple[str, ...] = ()
    """Its actions; empty for all but those of the state machine."""

    def select(self, actions: Mapping[str, str]) -> dict[str, str]:
        """Return the documentation of the actions that the role may use."""
        return {
            name: text
            for name, text in actions.items()
            if (name in self.only if self.only else name not in MACHINE)
        }

    def object_to(self, call: Mapping[str, Any], actions: Iterable[str]) -> str:
        """Return why the role may not make a call, a sentence, or an empty text."""
        name = call["api_name"]
        if name not in self.select(dict.fromkeys(actions, "")):
            return f"Your role does not use {name}: take one of your actions, or answer with REPORT."
        if self.may_change or name != EXEC_SHELL:
            return ""
        line = next(iter((*call["args"], *call["kwargs"].values())), "")
        from aiopslab.orchestrator.transactions import analyse  # loads the applications

        if analyse(str(line), ()).can_change:
            return "Your role only reads, and this command may change something: look in another way, or answer with REPORT."
        return ""


DETECTION: Final = Role("stratus_detection", 6)
DIAGNOSIS: Final = Role("stratus_diagnosis", 12)
MITIGATION: Final = Role("stratus_mitigation", 8, may_change=True)
UNDO: Final = Role("stratus_undo", 6, may_change=True, only=(EXEC_SHELL,))
SUBMISSION: Final = Role("stratus_submission", 4, may_change=True, only=(SUBMIT,))
