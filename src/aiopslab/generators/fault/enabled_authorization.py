"""A database demands a login that its callers do not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.store import WrongArguments
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class EnabledAuthorization(WrongArguments):
    """A team switches on the access control of a database that has no users."""

    name: ClassVar[str] = "enabled_authorization"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    fault_type: ClassVar[str] = "Authentication Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether callers do not log in."""
        return component.user is None and super().suits(app, component)

    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Switch on access control."""
        return ("--auth",)
