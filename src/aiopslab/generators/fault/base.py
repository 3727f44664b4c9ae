"""The base classes of faults, and their registry. A fault injects a defect into a site, states its ground truth and can undo it.

A fault acts as a careless operator, a bad release or failing hardware would: by commands, writes to the API or to a
database, or a machine's physics. No text that is visible at the site may name the fault. ``recover`` is the reference repair and
idempotent.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Final, Literal, TypeVar, get_args

from aiopslab.generators.site import Site, at_site, get_current_site
from aiopslab.service import KubeCtl
from aiopslab.utils import import_folder, load_extensions

Targets = Sequence[str]
Layer = Literal["hardware", "operating system", "virtualization", "application"]
Course = Literal[
    "steady", "intermittent", "growing", "latent", "cascading", "partial", "concurrent", "correlated"
]
Capability = Literal["node access", "node login", "network tools", "hardware", "load", "node port", "ingress"]
"""What a fault needs besides the cluster's API: root on nodes; root on nodes whose kubelet does not work; ``tc`` and ``iptables``
there; machines that can be made to fail; more users; users that come in by a node port or by an ingress controller."""
CAPABILITIES: Final[frozenset[Capability]] = frozenset(get_args(Capability))


@dataclass(frozen=True)
class GroundTruth:
    """The correct diagnosis of a fault, for the judges."""

    component: str
    system_level: str
    fault_type: str
    also_right: tuple[str, ...] = ()
    """Other components that are accepted as answers."""
    also_at_fault: tuple[str, ...] = ()
    """Further faulty components; an answer must name all of them."""
    also_fault_types: tuple[str, ...] = ()
    """Other fault types that are accepted as answers."""
    also_levels: tuple[str, ...] = ()
    """Other system levels that are accepted as answers."""


class Fault(ABC):
    """A fault with its parameters; the first parameter is the target component."""

    name: ClassVar[str]
    layer: ClassVar[Layer]
    known_as: ClassVar[str] = ""
    """The name in the papers' injectors, if it differs."""
    symptomatic: ClassVar[bool] = False
    """The papers describe this fault by its symptoms and do not ask for a root cause."""
    restart_repairs: ClassVar[bool] = False
    """Restarting the component's pods is a valid repair, because the defect ends with the pod. Restarting healthy components
    as well does not pass."""
    course: ClassVar[Course] = "steady"
    """How its symptoms develop."""
    needs: ClassVar[tuple[Capability, ...]] = ()
    declared: ClassVar[bool] = False
    """The cause is a declared object alone, so it stays until somebody changes that object. The judge need not wait then."""

    may_return: ClassVar[bool] = False
    """The symptoms may return some time after a repair that looks good: a probe with a long delay, an eviction. The judge then
    lets more time pass, and the cause must stay away."""

    @property
    @abstractmethod
    def truth(self) -> GroundTruth:
        """The correct diagnosis."""

    @property
    @abstractmethod
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """Objects that the fault changes or that a repair may change: resource and name, ``("deployments.apps", "web")``.

        A third part is the namespace, if it is not the application's; ``""`` for objects without one.
        """

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the faulty nodes, including those that were repaired since.

        A repair may drain and cordon them, and an answer may name them.
        """
        return ()

    @property
    def facts(self) -> dict[str, Any]:
        """Name, layer and parameters, for records."""
        parameters: dict[str, Any] = {}
        if is_dataclass(self):
            parameters = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name, "layer": self.layer, "parameters": parameters}

    @abstractmethod
    def inject(self, site: Site) -> None:
        """Inject the fault."""

    @abstractmethod
    def recover(self, site: Site) -> None:
        """Undo the fault, as a good engineer would. Idempotent."""

    @abstractmethod
    def present(self, site: Site) -> bool:
        """Return whether the root cause is still present."""

    def remains(self, site: Site) -> bool:
        """Return whether anything is left of the fault, also where it does no harm, as on a node that was taken out of use."""
        return self.present(site)


__all__ = [
    "Fault", "FaultInjector", "GroundTruth", "Layer", "NoSuchFault", "Site", "at_site", "fault", "load_faults",
]  # fmt: skip

F = TypeVar("F", bound=type[Fault])
REGISTERED: Final[dict[str, type[Fault]]] = {}


def fault(cls: F) -> F:
    """Register a fault class by its name; raises ``ValueError`` if another class has that name."""
    other = REGISTERED.get(cls.name)
    if other is not None and _locate(other) != _locate(cls):
        raise ValueError(
            f"There are two faults named '{cls.name}': {other.__qualname__} and {cls.__qualname__}. Rename one."
        )
    REGISTERED[cls.name] = cls
    return cls


def find_fault(name: str) -> type[Fault] | None:
    """Return the fault of this name from the module of this name, which is imported; None if there is none."""
    with suppress(ModuleNotFoundError):
        import_module(f"aiopslab.generators.fault.{name}")
    return REGISTERED.get(name)


def load_faults() -> Mapping[str, type[Fault]]:
    """Import all faults of this folder and of installed packages; return every registered fault by name.

    An entry point in the group ``aiopslab.faults`` names a module with faults, or a fault.
    """
    import_folder("aiopslab.generators.fault")
    for _, loaded in load_extensions("aiopslab.faults"):
        if isinstance(loaded, type) and issubclass(loaded, Fault):
            fault(loaded)
    return dict(sorted(REGISTERED.items()))


def _locate(cls: type[Fault]) -> tuple[str, str]:
    """Return the file and the name of a class. A file that is both run and imported is two modules but one file."""
    module = sys.modules.get(cls.__module__)
    return getattr(module, "__file__", None) or cls.__module__, cls.__qualname__


class NoSuchFault(Exception):
    """The injector does not have the requested fault; the message lists those it has."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"This injector has no fault '{name}'. It has: {', '.join(known) or 'none'}.")


class FaultInjector:
    """Base class of the papers' injectors: a subclass has pairs of methods, ``inject_<fault>`` and ``recover_<fault>``.

    Each method takes the list of target microservices, if any are given, and acts on ``self.site`` or by ``self.kubectl``.
    """

    def __init__(self, namespace: str = "", testbed: str = "") -> None:
        """``testbed`` is the public release's other name of the namespace."""
        self.namespace = self.testbed = namespace or testbed

    @property
    def site(self) -> Site:
        """The current site; raises ``NoSite`` outside a problem."""
        return get_current_site(type(self).__name__)

    @cached_property
    def kubectl(self) -> KubeCtl:
        """A client of the current site's cluster."""
        return KubeCtl()

    def inject(
        self,
        microservices: Targets | str = (),
        fault_type: str | Targets = (),
        duration: str | None = None,
    ) -> None:
        """Inject a fault into microservices; raises ``NoSuchFault``. The two arguments may be swapped."""
        self.act("inject", *_order_arguments(microservices, fault_type), duration=duration)

    def recover(self, microservices: Targets | str = (), fault_type: str | Targets = ()) -> None:
        """Undo what ``inject`` did; raises ``NoSuchFault``. The two arguments may be swapped."""
        self.act("recover", *_order_arguments(microservices, fault_type))

    _inject, _recover = inject, recover

    def inject_fault(
        self,
        fault_type: str,
        fault_id: str = "",
        start_time: float = 0.0,
        end_time: float = 0.0,
        microservices: Targets = (),
    ) -> None:
        """Inject a fault, with the public release's older arguments; its times are not used."""
        self.inject(microservices, fault_type)

    def act(self, verb: str, microservices: Targets, fault_type: str, duration: str | None = None) -> None:
        """Call the method ``<verb>_<fault_type>`` with the arguments that are given; raises ``NoSuchFault``."""
        method = getattr(self, f"{verb}_{fault_type}", None)
        if method is None:
            raise NoSuchFault(fault_type, self.list_faults())
        given = [list(microservices)] if microservices or duration else []
        method(*given, *([duration] if duration else ()))

    def list_faults(self) -> list[str]:
        """Return the names of the faults that have methods."""
        names = [name.removeprefix("inject_") for name in dir(type(self)) if name.startswith("inject_")]
        return [name for name in names if name != "fault"]


def _order_arguments(microservices: Targets | str, fault_type: str | Targets) -> tuple[Targets, str]:
    """Accept both orders: the papers pass the microservices first, the public release passes the fault first."""
    if isinstance(microservices, str) and not isinstance(fault_type, str):
        return fault_type, microservices
    if not isinstance(fault_type, str) or isinstance(microservices, str):
        raise TypeError(
            'inject takes a list of microservices and the name of a fault: inject(["geo"], "revoke_auth")'
        )
    return microservices, fault_type
