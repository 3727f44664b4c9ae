"""What faults of datastores share: which stores may restart, wrong arguments of their programs, and changes at run time."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from aiopslab.apps import Application, Component, DatabaseUser, Role
from aiopslab.generators.fault.base import Layer
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import DrawnFault
from aiopslab.generators.site import Site

TAKES_EFFECT_S: Final = 12
"""Time in which a restarted store ends and starts."""


def may_restart(app: Application, component: Component) -> bool:
    """Return whether a store can restart without losing users' writes that other stores refer to."""
    return component.persistent or component.name != app.audited


@dataclass(frozen=True)
class WrongArguments(DeclaredFault):
    """Somebody adds wrong arguments to the program of a store, and rolls out its callers afterwards."""

    layer: ClassVar[Layer] = "application"
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the store may restart, and users notice."""
        return may_restart(app, component) and super().suits(app, component)

    @abstractmethod
    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Return the arguments that are added."""

    def release(self, site: Site) -> None:
        """Roll out the arguments, then the callers."""
        self.add_arguments(site)
        site.restart_callers(self.target)

    def add_arguments(self, site: Site, **changes: Any) -> None:
        """Roll out the arguments, with further changes of the container."""
        known = site.get_container(self.target).get("args", ())
        site.set_container(self.target, args=[*known, *self.list_arguments(site)], **changes)
        site.run(f"sleep {TAKES_EFFECT_S}")


def empty_caches(site: Site) -> None:
    """Empty the application's caches, as after a change of data."""
    for line in site.app.cooling:
        site.run(line)


@dataclass(frozen=True)
class StoreFault(DrawnFault):
    """Somebody changes a running store in its own shell."""

    layer: ClassVar[Layer] = "application"


@dataclass(frozen=True)
class UserFault(StoreFault):
    """Somebody changes the user of a database that its callers log in as."""

    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    fault_type: ClassVar[str] = "Authentication Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Misconfiguration")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the database asks who connects, and users notice."""
        return component.user is not None and super().suits(app, component)

    @abstractmethod
    def format_change(self, user: DatabaseUser) -> str:
        """Return the change of the user, in the language of the database's shell."""

    @abstractmethod
    def format_repair(self, user: DatabaseUser) -> str:
        """Return what undoes the change."""

    def inject(self, site: Site) -> None:
        """Change the user, and restart the callers, which log in when they start."""
        site.database(self.target, self.format_change(self._get_user(site)))
        site.restart_callers(self.target)

    def recover(self, site: Site) -> None:
        """Undo the change, and restart the callers rather than wait for their back-off."""
        site.wait_until_ready(self.target)
        site.database(self.target, self.format_repair(self._get_user(site)))
        site.restart_callers(self.target)

    def present(self, site: Site) -> bool:
        """Return whether the callers' user cannot log in, read and write."""
        user = self._get_user(site)
        login = f"{user.roles[-1][1]} -u {user.name} -p {user.password} --authenticationDatabase admin"
        script = 'db.nothing.findOne(); db.nothing.deleteMany({_id: 0}); print("may")'
        seen = site.exec(self.target, f"mongo {login} --quiet --eval '{script}'; true")
        return "may" not in seen.splitlines()

    def _get_user(self, site: Site) -> DatabaseUser:
        user = site.app.component(self.target).user
        assert user is not None, f"{self.target} asks nobody who connects"
        return user


def format_roles(user: DatabaseUser) -> str:
    """Return the roles of a user, in the language of the database's shell."""
    roles = (f'{{role: "{role}", db: "{database}"}}' for role, database in user.roles)
    return f"[{', '.join(roles)}]"
