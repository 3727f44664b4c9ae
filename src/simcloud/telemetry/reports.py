"""What the HTTP API reports besides samples: rules, alerts and targets."""

from __future__ import annotations

from typing import Any, Protocol


class RuleReport(Protocol):
    """A source of the rules."""

    def documents(self, kind: str) -> list[dict[str, Any]]:
        """The groups with their rules; only those that alert or only those that record, where ``kind`` says so."""

    def alert_documents(self) -> list[dict[str, Any]]:
        """The alerts that are pending or firing."""


class TargetReport(Protocol):
    """A source of the scraped targets."""

    def document(self) -> dict[str, Any]:
        """``activeTargets`` and ``droppedTargets``."""
