"""The messages of FailedScheduling events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from simcloud.kubernetes.scheduler.framework import Rejection

NO_NODES: Final = "no nodes available to schedule pods"
NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"
NO_VICTIMS: Final = "No preemption victims found for incoming pod"
NO_CLAIMS: Final = "no new claims to deallocate"
NOT_PREPARED: Final = "not found"
"""What the resource claims' plugin says when a pod was refused before its turn came."""
NEVER: Final = "not eligible due to preemptionPolicy=Never."
WAITING: Final = "not eligible due to a terminating pod on the nominated node."
LONGEST_NOTE: Final = 1024


def unavailable(total: int, rejections: Iterable[Rejection]) -> str:
    """How many nodes have which reason."""
    counted = Counter(reason for rejection in rejections for reason in rejection.reasons)
    reasons = sorted(f"{count} {reason}" for reason, count in counted.items())
    return f"0/{total} nodes are available: {', '.join(reasons)}."


def format_refusal(total: int, reason: str) -> str:
    """One reason that holds for all nodes."""
    return f"0/{total} nodes are available: {reason}. {NOT_PREPARED}"


def absent(plugin: str) -> str:
    """Why nodes were not even looked at."""
    return f"node(s) didn't satisfy plugin(s) [{plugin}]"


def with_preemption(sentence: str, why_not: str) -> str:
    """A sentence and why preemption did not help."""
    return f"{sentence} {NO_CLAIMS}, preemption: {why_not}"


def note(message: str) -> str:
    """A message that fits into an event."""
    return message if len(message) <= LONGEST_NOTE else message[: LONGEST_NOTE - 4] + " ..."
