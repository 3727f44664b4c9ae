"""``K8SOperatorFaultInjector`` of the public AIOpsLab release, whose application is not available yet."""

from __future__ import annotations

from typing import NoReturn

from aiopslab.generators.fault.base import FaultInjector
from aiopslab.utils import NotAvailable

__all__ = ["K8SOperatorFaultInjector"]


class K8SOperatorFaultInjector(FaultInjector):
    """Can be created; injecting raises ``NotAvailable``."""

    def inject_overload_replicas(self) -> NoReturn:
        """Raise ``NotAvailable``."""
        raise NotAvailable(
            "TiDB and its operator are not available yet. Write a problem with a custom resource of your own: KubeCtl applies it."
        )

    inject_invalid_affinity_toleration = inject_security_context_fault = inject_overload_replicas
    inject_wrong_update_strategy = inject_non_existent_storage = inject_overload_replicas
