"""Repair it."""

from __future__ import annotations

from typing import Any, ClassVar

from aiopslab.orchestrator.tasks.base import Task

REPAIRED = "the system works as it did before"


class MitigationTask(Task):
    """The agent repairs the application; the system as it stands after the submission is judged as a whole."""

    task_type: ClassVar[str] = "mitigation"
    goal: ClassVar[str] = (
        "something is wrong with the application; repair it, so that users get right answers in time again, and keep getting "
        "them. Remove the cause, change nothing else, and lose nothing that users have written. Submit without an answer "
        "when it is done; the system is then judged as it stands."
    )
    example: ClassVar[str] = "submit()"

    def submit(self, *remarks: object) -> bool:
        """Submit, which ends the session: the repair is done. It takes no arguments.

        Example:
            submit()
        """
        # Remarks change nothing: what is judged is the system.
        return True

    def expected(self) -> str:
        """What a good repair comes to."""
        return REPAIRED

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        """A repair that was never submitted is no success; ``repaired`` tells how the system was all the same."""
        from aiopslab.orchestrator.oracles import judge_repair  # a cloud; problems are listed without one

        verdict = judge_repair(self.environment, self.faults)
        self.results |= {
            "success": soln is not None and verdict.passed,
            "TTM": duration,
            "repaired": verdict.passed,
            "findings": [str(finding) for finding in verdict.findings],
            "expected": self.expected(),
        }
        return dict(self.results)
