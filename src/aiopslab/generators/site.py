"""Where faults and load act: an application in a cluster, on machines.

A fault is handed its site. What the papers' problems create themselves (``VirtFaultInjector(ns)``, ``Wrk(…)``) is not:
it acts on the site that ``at_site`` says is meant, and outside of that on none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from aiopslab.apps.base import Application
    from simcloud.kubernetes.api.objects import Object
    from simcloud.machine.computer import Machine
    from simcloud.machine.process import Completed, Program


class Site(Protocol):
    """Where faults are injected: an application in a cluster, on machines."""

    @property
    def app(self) -> Application:
        """The application."""

    @property
    def namespace(self) -> str:
        """The application's."""

    @property
    def machines(self) -> Mapping[str, Machine]:
        """All machines, by name."""

    def operate(self, line: str) -> Completed:
        """Type a line as an operator of the site does, away from where agents type; raises ``OperationFailed``."""

    def find(self, resource: str, name: str) -> Object | None:
        """An object of the application's namespace, as it is now; resources as in ``deployments.apps``."""

    def start_outside(self, name: str, program: Program) -> None:
        """Run a program where users are, outside the cluster. It runs on while the site's time passes."""


class OperationFailed(Exception):
    """A line that an operator of the site typed did not succeed."""


class NoSite(Exception):
    """Something was to act on a site, and none was meant."""


_MEANT: Final[ContextVar[Site | None]] = ContextVar("site", default=None)


@contextmanager
def at_site(site: Site) -> Iterator[None]:
    """Within this, injectors and load generators that are given no site act on this one."""
    token = _MEANT.set(site)
    try:
        yield
    finally:
        _MEANT.reset(token)


def meant_site(who: str) -> Site:
    """The site that is meant; ``who`` wants to act on it. Raises ``NoSite``."""
    site = _MEANT.get()
    if site is None:
        raise NoSite(
            f"{who} has no cloud to act on. Call it in a problem's start_workload, inject_fault or recover_fault, which the "
            "orchestrator calls at the right time, or within 'with at_site(environment):'."
        )
    return site
