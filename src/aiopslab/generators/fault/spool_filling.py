"""A container beside a service writes a log to a volume of limited size and does not rotate it, until the pod is evicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.growing import Failure, Level, SidecarFault
from aiopslab.generators.site import Site

LIMIT_KIB: Final = 64 * 1024
ROTATED_BYTES: Final = 2 << 20
PERIOD_S: Final = 10
FILE: Final = "/spool/requests.log"


@fault
@dataclass(frozen=True)
class SpoolFilling(SidecarFault):
    """The log of a new container fills its volume."""

    kib_per_min: int = draw_from(400, 600, 900)
    name: ClassVar[str] = "spool_filling"
    failure: ClassVar[Failure] = "volume full"
    container: ClassVar[str] = "request-log"

    def release(self, site: Site) -> None:
        """Append to the file in each round; rotate it, if it stays within a limit."""
        size = self.kib_per_min * 1024 * PERIOD_S // 60
        rotate = (
            f"[ $(stat -c %s {FILE}) -lt {ROTATED_BYTES} ] || mv {FILE} {FILE}.1; " if self.bounded else ""
        )
        script = (
            f"while true; do head -c {size} /dev/zero | tr '\\0' . >> {FILE}; {rotate}sleep {PERIOD_S}; done"
        )
        volume = {"name": "spool", "emptyDir": {"sizeLimit": f"{LIMIT_KIB}Ki"}}
        self.add_container(site, script, volume, volumeMounts=[{"name": "spool", "mountPath": "/spool"}])

    def measure(self, site: Site) -> Level:
        """Read the size of the files in the volume."""
        return Level(self.read_number(site, "du -sk /spool | cut -f 1"), LIMIT_KIB)

    def has_failed(self, site: Site) -> bool:
        """Return whether a pod of the target was evicted."""
        return "Evicted" in site.kubectl(
            f"get pods -l {site.get_selector(self.target)} -o jsonpath='{{..status.reason}}'"
        )
