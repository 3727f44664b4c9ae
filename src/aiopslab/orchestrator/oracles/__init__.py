"""Oracles that judge repairs by the state of the whole system, not only by the field that was patched."""

from aiopslab.orchestrator.oracles.whole_system import Finding, Verdict, is_present, judge_repair

__all__ = ["Finding", "Verdict", "is_present", "judge_repair"]
