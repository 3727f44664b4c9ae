"""An init container fails each time, so the program never starts."""

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
class FailingInit(ReleasedFault):
    """A team adds a preparation step that needs a file which its image does not have."""

    line: str = draw_from(
        "cp /defaults/settings.yaml /tmp/settings.yaml",
        "sh /scripts/prepare.sh",
        "tar -xf /bundle/assets.tar -C /tmp",
        "cat /run/secrets/license >> /tmp/license",
    )
    step: str = draw_from("prepare", "setup", "copy-defaults", "bootstrap")
    name: ClassVar[str] = "failing_init"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error", "Code Defect")

    def release(self, site: Site) -> None:
        """Roll out the init container."""
        command = ["sh", "-c", f"set -e; {self.line}"]
        site.set_pods(
            self.target,
            initContainers=[{"name": self.step, "image": "busybox:1.36", "command": command}],
        )
