"""``NoopFaultInjector`` of the public AIOpsLab release: it changes nothing."""

from __future__ import annotations

from aiopslab.generators.fault.base import FaultInjector

__all__ = ["NoopFaultInjector"]


class NoopFaultInjector(FaultInjector):
    """Injects nothing, for problems in which nothing is wrong."""

    def inject_no_op(self, *_given: object) -> None:
        """Do nothing."""

    def recover_no_op(self, *_given: object) -> None:
        """Do nothing."""
