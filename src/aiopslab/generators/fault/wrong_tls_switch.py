"""A service speaks TLS, and its callers do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongTlsSwitch(ReleasedFault):
    """A team switches TLS on in one service only."""

    value: str = draw_from("1", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256")
    name: ClassVar[str] = "wrong_tls_switch"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the application has such a switch."""
        return bool(app.tls_variable) and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Roll out the environment variable."""
        site.kubectl(f"set env deployment/{self.target} {site.app.tls_variable}={self.value}")
