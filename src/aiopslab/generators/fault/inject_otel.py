"""``OtelFaultInjector`` of the public AIOpsLab release, whose application is not available yet."""

from __future__ import annotations

from typing import Any, NoReturn

from aiopslab.generators.fault.base import FaultInjector
from aiopslab.utils import NotAvailable

__all__ = ["OtelFaultInjector"]


class OtelFaultInjector(FaultInjector):
    """Can be created; injecting raises ``NotAvailable``."""

    def inject_fault(self, *_given: Any, **_named: Any) -> NoReturn:
        """Raise ``NotAvailable``: there are no feature flags without the astronomy shop."""
        raise NotAvailable(
            "The astronomy shop with its feature flags is not available yet. Use a fault of 'aiopslab list --faults'."
        )

    recover_fault = inject_fault
