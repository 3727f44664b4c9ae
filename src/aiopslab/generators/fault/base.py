"""What a fault is: it breaks something at a site, tells the truth about it, and knows the way back.

A fault uses what a careless operator, a bad release or failing hardware would: commands, writes to the API or to a
database, a machine's physics. Nothing that can be seen at the site names it. ``recover`` is the reference repair; it may
be done twice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from aiopslab.cluster.api.objects import Object
from aiopslab.machine.computer import Machine
from aiopslab.machine.process import Completed

Layer = Literal["hardware", "operating system", "virtualization", "application"]


class Site(Protocol):
    """Where faults are injected: an application in a cluster, on machines."""

    @property
    def namespace(self) -> str:
        """The application's."""

    @property
    def machines(self) -> Mapping[str, Machine]:
        """All machines, by name."""

    def operate(self, line: str) -> Completed:
        """Type a line as an operator of the site does, away from where agents type; raises when it fails."""

    def find(self, resource: str, name: str) -> Object | None:
        """An object of the application's namespace, as it is now; resources as in ``deployments.apps``."""


@dataclass(frozen=True)
class GroundTruth:
    """What is wrong, as the judges know it."""

    component: str
    system_level: str
    fault_type: str
    also_right: tuple[str, ...] = ()
    """Other components that are right answers, too."""


class Fault(ABC):
    """One way to break things, with its parameters."""

    name: ClassVar[str]
    layer: ClassVar[Layer]

    @property
    @abstractmethod
    def truth(self) -> GroundTruth:
        """What a good engineer would find."""

    @property
    @abstractmethod
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The objects that it changes or that a repair may change: resource and name, ``("deployments.apps", "web")``."""

    @abstractmethod
    def inject(self, site: Site) -> None:
        """Break it."""

    @abstractmethod
    def recover(self, site: Site) -> None:
        """Repair it, as a good engineer would."""

    @abstractmethod
    def present(self, site: Site) -> bool:
        """Whether the root cause is still there."""
