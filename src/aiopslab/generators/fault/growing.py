"""Faults that grow slowly until something fails: the trend is visible long before any user notices it.

A new program fills something up. With ``bounded`` it looks alike at first but stays within a limit, and nothing is going to
fail.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from aiopslab.generators.fault.base import Course, Layer
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose, draw_from
from aiopslab.generators.site import Site

Failure = Literal[
    "disk full", "volume full", "out of memory", "connections exhausted", "certificate expired", "quota exhausted"
]  # fmt: skip
FAILURES: Final[tuple[str, ...]] = get_args(Failure)
"""The labels of failures that can be predicted."""


@dataclass(frozen=True)
class Level:
    """How much is used, and how much can be used before the failure."""

    used: float
    capacity: float


@dataclass(frozen=True)
class GrowingFault(DeclaredFault):
    """A program that never frees what it takes."""

    bounded: bool = draw_from(False, True)
    layer: ClassVar[Layer] = "application"
    fault_type: ClassVar[str] = "Code Defect"
    course: ClassVar[Course] = "growing"
    purpose: ClassVar[Purpose] = "prediction"
    failure: ClassVar[Failure]

    @abstractmethod
    def measure(self, site: Site) -> Level:
        """Read the present level."""

    @abstractmethod
    def has_failed(self, site: Site) -> bool:
        """Return whether the failure has happened."""

    def find_failing_component(self, site: Site) -> str:
        """Return the component that is going to fail."""
        return self.target


class SidecarFault(GrowingFault):
    """The program is a second container in the target's pods."""

    container: ClassVar[str]

    def add_container(self, site: Site, script: str, *volumes: dict[str, Any], **settings: Any) -> None:
        """Roll out the container, with a script that it runs."""
        command = ["sh", "-c", script]
        container = {"name": self.container, "image": "busybox:1.36", "command": command, **settings}
        site.set_pods(self.target, containers=[container], **({"volumes": list(volumes)} if volumes else {}))

    def read_number(self, site: Site, script: str) -> float:
        """Run a script in the container and return the number that it prints."""
        return float(site.kubectl(f"exec deploy/{self.target} -c {self.container} -- sh -c '{script}'"))
