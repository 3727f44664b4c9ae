"""Faults for any application: the seed draws the target among its components, and the parameters.

    class WrongImage(DeclaredFault):
        tag: str = draw_from("v8.1", "release-8")

A drawn fault asks the application for components by role and acts through the site's commands only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from random import Random
from typing import Any, ClassVar, Final, Literal, Self

from aiopslab.apps import NODE_PORT, Application, Component, Role
from aiopslab.generators.fault.base import Fault, GroundTruth
from aiopslab.generators.site import Site

Purpose = Literal["repair", "prediction", "cost", "policy"]
"""What a fault is posed for: users notice it, something is going to fail, money is wasted, or a policy is violated."""
VALUES: Final = "values"
"""The key of a parameter's possible values in its field's metadata."""
STORES: Final[tuple[Role, ...]] = ("mongodb", "redis", "memcached")
SERVING: Final[tuple[Role, ...]] = ("front end", "service", *STORES)
"""The roles of components that serve users' requests."""


def draw_from(*values: Any) -> Any:
    """Declare a parameter of a fault that is drawn among values; the first is the default."""
    return field(default=values[0], metadata={VALUES: values})


@dataclass(frozen=True)
class DrawnFault(Fault):
    """A fault at a drawn component."""

    target: str
    roles: ClassVar[tuple[Role, ...]] = ("service",)
    """The roles of components that it can hit."""
    purpose: ClassVar[Purpose] = "repair"
    fault_type: ClassVar[str]
    also_fault_types: ClassVar[tuple[str, ...]] = ()
    also_levels: ClassVar[tuple[str, ...]] = ()
    """Other labels that are accepted as answers."""
    hinders_pods: ClassVar[bool] = False
    """Pods of other components cannot start either while the fault is present."""
    follows_target: ClassVar[bool] = True
    """New pods of the target have the fault as well, wherever they start."""
    entry: ClassVar[str] = NODE_PORT
    """How users reach the application: by a node port or by an ingress controller."""
    alone: ClassVar[bool] = False
    """Whether nothing but the target is affected, so that another fault at the same time stays independent of it."""

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether this fault can hit a component: users must notice it."""
        return component.role in cls.roles and bool(component.journeys)

    @classmethod
    def list_targets(cls, app: Application) -> list[str]:
        """Return the components of an application that this fault can hit."""
        return [component.name for component in app.components if cls.suits(app, component)]

    @classmethod
    def draw(cls, app: Application, chance: Random, without: tuple[str, ...] = ()) -> Self:
        """Return the fault with a drawn target, none of those given, and drawn parameters."""
        target = chance.choice([name for name in cls.list_targets(app) if name not in without])
        drawn = {
            each.name: chance.choice(each.metadata[VALUES]) for each in fields(cls) if VALUES in each.metadata
        }
        return cls(target, **drawn)

    @property
    def truth(self) -> GroundTruth:
        """The target, with the labels of the class."""
        return GroundTruth(
            self.target,
            self.layer.title(),
            self.fault_type,
            also_fault_types=self.also_fault_types,
            also_levels=self.also_levels,
        )

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the nodes that were struck, if any."""
        return site.struck_nodes.get(self.target, ())

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """No declared objects."""
        return ()
