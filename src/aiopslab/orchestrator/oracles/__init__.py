"""Oracles that judge repairs by the state of the whole system, not only by the field that was patched."""

from aiopslab.orchestrator.oracles.whole_system import (
    Finding as Finding,
    Verdict as Verdict,
    is_present as is_present,
    judge_repair as judge_repair,
)
