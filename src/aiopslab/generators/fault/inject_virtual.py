"""``VirtualizationFaultInjector`` of the public AIOpsLab release."""

from __future__ import annotations

from typing import ClassVar

from aiopslab.apps import Application
from aiopslab.generators.fault.base import Layer
from aiopslab.generators.fault.injectors import VirtFaultInjector
from aiopslab.generators.fault.redeploy_without_pv import RedeployWithoutPV
from aiopslab.service import Docker

__all__ = ["VirtualizationFaultInjector"]


class VirtualizationFaultInjector(VirtFaultInjector):
    """Faults of Kubernetes objects and releases, by the public release's names; those of Docker raise ``NotAvailable``."""

    layers: ClassVar[tuple[Layer, ...]] = ("virtualization", "application")

    def inject_redeploy_without_pv(self, app: Application) -> None:
        """Delete the namespace and deploy the application again, without deleting its volumes."""
        RedeployWithoutPV().inject(self.site)

    def recover_redeploy_without_pv(self, app: Application) -> None:
        """Let the new claims have the old volumes."""
        RedeployWithoutPV().recover(self.site)

    recover_redepoly_without_pv = recover_redeploy_without_pv
    """The public release's spelling."""

    def inject_container_stop(self, microservices: list[str]) -> None:
        """Raise ``NotAvailable``: there is no Docker."""
        Docker().get_container(microservices)

    recover_container_stop = inject_model_misconfig = recover_model_misconfig = inject_container_stop
