"""An init container waits for a name that does not exist, so the program never starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WaitingInit(ReleasedFault):
    """A team lets its pods wait for a dependency, whose name it mistakes."""

    pattern: str = draw_from("{}-primary", "{}-svc", "{}-headless", "{}.default", "{}-v2")
    step: str = draw_from("wait", "await-upstream", "check-dns", "ready-check")
    name: ClassVar[str] = "waiting_init"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the init container."""
        (awaited, *_) = (*site.app.component(self.target).calls, self.target)
        line = f"until nslookup {self.pattern.format(awaited)}; do echo waiting; sleep 2; done"
        site.set_pods(
            self.target,
            initContainers=[{"name": self.step, "image": "busybox:1.36", "command": ["sh", "-c", line]}],
        )
