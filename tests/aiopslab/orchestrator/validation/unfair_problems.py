"""Problems that are not fair, each in one way; validation must say in which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import uuid4

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, Site
from aiopslab.orchestrator.problems import Family
from aiopslab.orchestrator.tasks import DetectionTask, LocalizationTask, MitigationTask


@dataclass(frozen=True)
class Harmless(Fault):
    """Does nothing, and calls itself a fault."""

    workload: str
    name: ClassVar[str] = "quiet_mishap"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        return GroundTruth(self.workload, "Application", "Code Defect")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        return ()

    def inject(self, site: Site) -> None:
        """Nothing."""

    def recover(self, site: Site) -> None:
        """Nothing."""

    def present(self, site: Site) -> bool:
        return False


@dataclass(frozen=True)
class Paused(Harmless):
    """The process of a workload is stopped: real, but a restart is all that it takes."""

    name: ClassVar[str] = "paused_process"

    def inject(self, site: Site) -> None:
        for node, pid in site.find_processes(self.workload):
            site.node_shell(node, f"kill -STOP {pid}")

    def recover(self, site: Site) -> None:
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self.workload}")

    def present(self, site: Site) -> bool:
        processes = site.find_processes(self.workload)
        return any("T" in site.node_shell(node, f"ps -o stat= -p {pid}") for node, pid in processes)


@dataclass(frozen=True)
class Talkative(Paused):
    """Leaves its name where everybody can read it."""

    name: ClassVar[str] = "talkative_stop"

    def inject(self, site: Site) -> None:
        super().inject(site)
        site.operate(f"kubectl -n {site.namespace} annotate deployment/{self.workload} by=talkativeStop")


@dataclass(frozen=True)
class Restless(Harmless):
    """Is never the same twice."""

    name: ClassVar[str] = "restless_mishap"

    def inject(self, site: Site) -> None:
        site.operate(f"kubectl -n {site.namespace} annotate deployment/{self.workload} mark=m{uuid4().hex}")


class Lenient(LocalizationTask):
    """Whoever names everything is right."""

    id = "lenient-localization-1"

    def __init__(self) -> None:
        self.app = HotelReservation()
        self.faults = (Paused("search"),)

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        return {"success": "search" in (soln or [])}


HARMLESS = Family("harmless", HotelReservation, (Harmless("search"),), tasks=(DetectionTask,))
RESTARTED = Family("stopped_at_will", HotelReservation, (Paused("search"),), tasks=(MitigationTask,))
TALKATIVE = Family("talkative", HotelReservation, (Talkative("search"),), tasks=(DetectionTask,))
RESTLESS = Family("restless", HotelReservation, (Restless("search"),), tasks=(DetectionTask,))
