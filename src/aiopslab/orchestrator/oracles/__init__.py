"""Judges of repairs: they look at the whole system, not at the field that was patched."""

from aiopslab.orchestrator.oracles.verdict import Finding, Verdict
from aiopslab.orchestrator.oracles.whole_system import judge_repair, remains

__all__ = ["Finding", "Verdict", "judge_repair", "remains"]
