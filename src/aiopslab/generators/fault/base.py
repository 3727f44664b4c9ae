"""What a fault is: it breaks something at a site, tells the truth about it, and knows the way back.

A fault uses what a careless operator, a bad release or failing hardware would: commands, writes to the API or to a
database, a machine's physics. Nothing that can be seen at the site names it. ``recover`` is the reference repair; it may
be done twice.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Final, Literal, TypeVar

from aiopslab.generators.site import Site, at_site, meant_site

Layer = Literal["hardware", "operating system", "virtualization", "application"]


@dataclass(frozen=True)
class GroundTruth:
    """What is wrong, as the judges know it."""

    component: str
    system_level: str
    fault_type: str
    also_right: tuple[str, ...] = ()
    """Other components that are right answers, too."""
    also_at_fault: tuple[str, ...] = ()
    """Components that are at fault as much as the first: an answer names them all."""
    also_fault_types: tuple[str, ...] = ()
    """Other fault types that are right answers, too."""


class Fault(ABC):
    """One way to break things, with its parameters; the first of them is the component it is aimed at."""

    name: ClassVar[str]
    layer: ClassVar[Layer]
    known_as: ClassVar[str] = ""
    """What the papers' injectors call it, where that is not its name."""
    symptomatic: ClassVar[bool] = False
    """The papers know it by its symptoms, and ask for no root cause."""
    restart_repairs: ClassVar[bool] = False
    """Starting the component's pods anew truly is a repair: what is wrong ends with the pod. Whoever restarts what was well
    has still understood nothing, and does not pass."""

    @property
    @abstractmethod
    def truth(self) -> GroundTruth:
        """What a good engineer would find."""

    @property
    @abstractmethod
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The objects that it changes or that a repair may change: resource and name, ``("deployments.apps", "web")``."""

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """The nodes that are to blame themselves, those included that somebody has mended since: a repair may empty them and
        take them out of use, and an answer may name them."""
        return ()

    @property
    def facts(self) -> dict[str, Any]:
        """Its name, layer and parameters, for records."""
        own: dict[str, Any] = {}
        if is_dataclass(self):
            own = {one.name: getattr(self, one.name) for one in fields(self)}
        return {"name": self.name, "layer": self.layer, "parameters": own}

    @abstractmethod
    def inject(self, site: Site) -> None:
        """Break it."""

    @abstractmethod
    def recover(self, site: Site) -> None:
        """Repair it, as a good engineer would."""

    @abstractmethod
    def present(self, site: Site) -> bool:
        """Whether the root cause is still there."""


__all__ = ["Fault", "FaultInjector", "GroundTruth", "Layer", "NoSuchFault", "Site", "at_site", "fault"]

F = TypeVar("F", bound=type[Fault])
REGISTERED: Final[dict[str, type[Fault]]] = {}


def fault(cls: F) -> F:
    """Register a class of faults by its name. Raises ``ValueError`` when another class has that name."""
    other = REGISTERED.get(cls.name)
    if other is not None and _home(other) != _home(cls):
        raise ValueError(
            f"There are two faults named '{cls.name}': {other.__qualname__} and {cls.__qualname__}. Rename one."
        )
    REGISTERED[cls.name] = cls
    return cls


def _home(cls: type[Fault]) -> tuple[str, str]:
    """Where a class is written. A file may be both run and loaded, and be two modules then."""
    module = sys.modules.get(cls.__module__)
    return getattr(module, "__file__", None) or cls.__module__, cls.__qualname__


class NoSuchFault(Exception):
    """An injector was asked for a fault that it does not have; the sentence lists those that it has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"This injector has no fault '{name}'. It has: {', '.join(known) or 'none'}.")


class FaultInjector:
    """The papers' manner of breaking things: a subclass has pairs of methods, ``inject_<fault>`` and ``recover_<fault>``.

    Each takes the list of microservices that it is aimed at. In them ``self.site`` is where they act.
    """

    def __init__(self, namespace: str = "") -> None:
        self.namespace = namespace

    @property
    def site(self) -> Site:
        """The cloud that is meant; raises ``NoSite`` outside of a problem."""
        return meant_site(type(self).__name__)

    def inject(self, microservices: Sequence[str], fault_type: str) -> None:
        """Break microservices in the manner that a fault's name says; raises ``NoSuchFault``."""
        self.act("inject", *_in_order(microservices, fault_type))

    def recover(self, microservices: Sequence[str], fault_type: str) -> None:
        """Repair what ``inject`` broke; raises ``NoSuchFault``."""
        self.act("recover", *_in_order(microservices, fault_type))

    _inject, _recover = inject, recover

    def act(self, verb: str, microservices: Sequence[str], fault_type: str) -> None:
        """Call the method for it."""
        method = getattr(self, f"{verb}_{fault_type}", None)
        if method is None:
            raise NoSuchFault(fault_type, self.known())
        method(list(microservices))

    def known(self) -> list[str]:
        """The names of the faults that there are methods for."""
        return [name.removeprefix("inject_") for name in dir(type(self)) if name.startswith("inject_")]


def _in_order(microservices: Sequence[str], fault_type: str | Sequence[str]) -> tuple[Sequence[str], str]:
    """The papers name the microservices first, the public release the fault; which is which cannot be mistaken."""
    if isinstance(microservices, str) and not isinstance(fault_type, str):
        return fault_type, microservices
    if not isinstance(fault_type, str) or isinstance(microservices, str):
        raise TypeError(
            'inject takes a list of microservices and the name of a fault: inject(["geo"], "revoke_auth")'
        )
    return microservices, fault_type
