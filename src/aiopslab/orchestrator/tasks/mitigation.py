"""The mitigation task: repair it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from aiopslab.orchestrator.tasks.base import Task
from aiopslab.utils import find_extension

if TYPE_CHECKING:
    from aiopslab.orchestrator.oracles import Verdict

REPAIRED = "the system works as it did before"


class MitigationTask(Task):
    """The agent repairs the application; after the submission the whole system is judged."""

    task_type: ClassVar[str] = "mitigation"
    goal: ClassVar[str] = (
        "something is wrong with the application; repair it, so that users permanently get correct and timely responses again. "
        "Remove the cause, change nothing else, and lose no data that users have written. Repair what is there: a second Deployment or "
        "Service that takes over from a broken one is not a repair. When you are done, submit without an answer; the state of the "
        "system is then judged."
    )
    example: ClassVar[str] = "submit()"

    oracle: ClassVar[str] = ""
    """The judge's name in the entry points ``aiopslab.oracles``; the whole system is judged unless it is set."""

    def submit(self, *remarks: object) -> bool:
        """Submit the finished repair. This ends the session. It takes no arguments.

        Example:
            submit()
        """
        # Remarks are ignored: only the system is judged.
        return True

    def get_expected(self) -> Any:
        """Return the goal of a repair."""
        return REPAIRED

    def judge(self) -> Verdict:
        """Judge the state of the system; simulated time passes meanwhile."""
        from aiopslab.orchestrator.oracles import judge_repair  # loads the cloud

        judge = find_extension("aiopslab.oracles", self.oracle) if self.oracle else judge_repair
        verdict: Verdict = judge(self.environment, self.faults)
        return verdict

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        """Judge the system. Without a submission there is no success; ``repaired`` holds the verdict in any case."""
        verdict = self.judge()
        self.results |= {
            "success": soln is not None and verdict.passed,
            "TTM": duration,
            "repaired": verdict.passed,
            "findings": [str(finding) for finding in verdict.findings],
            "expected": self.get_expected(),
        }
        return dict(self.results)
