"""The site of faults and load: an application in a cluster, on machines.

A fault gets its site as an argument. The objects that the papers' problems create themselves (``VirtFaultInjector(ns)``,
``Wrk(…)``) do not: they act on the current site, which ``at_site`` sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from aiopslab.apps import Application
    from simcloud.kubernetes.api import Object
    from simcloud.machine import Machine
    from simcloud.machine.process import Completed, Program


UNREADY_PODS: Final = ".items[] | select(any(.status.containerStatuses[]?; .ready | not)) | .metadata.name"
"""A jq filter."""


class Site(Protocol):
    """An application in a cluster, on machines, that faults are injected into."""

    @property
    def app(self) -> Application:
        """The application."""

    @property
    def namespace(self) -> str:
        """The application's namespace."""

    @property
    def machines(self) -> Mapping[str, Machine]:
        """All machines, by name."""

    def operate(self, line: str) -> Completed:
        """Run a line as an operator, on another host than the agent's; raises ``OperationFailed``."""

    def find(self, resource: str, name: str) -> Object | None:
        """Return an object of the application's namespace, or None; resources are named as in ``deployments.apps``."""

    def start_outside(self, name: str, program: Program) -> None:
        """Run a program outside the cluster, where the users are. It runs while the site's time passes."""


class OperationFailed(Exception):
    """A line that ``operate`` ran failed."""


class NoSite(Exception):
    """An injector or a load generator needs a site, and there is no current one."""


_CURRENT: Final[ContextVar[Site | None]] = ContextVar("site", default=None)


@contextmanager
def at_site(site: Site) -> Iterator[None]:
    """Make a site the current one, for injectors and load generators inside the ``with`` block."""
    token = _CURRENT.set(site)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def get_current_site(caller: str) -> Site:
    """Return the current site; raises ``NoSite`` with the name of the caller."""
    site = _CURRENT.get()
    if site is None:
        raise NoSite(
            f"{caller} has no cloud to act on. Call it in a problem's start_workload, inject_fault or recover_fault, which the "
            "orchestrator calls at the right time, or within 'with at_site(environment):'."
        )
    return site


def restart_unready_pods(site: Site, workloads: Iterable[str]) -> None:
    """Wait for workloads to roll out, then delete all pods that are not ready, so that they restart without back-off."""
    ns = f"kubectl -n {site.namespace}"
    for workload in workloads:
        site.operate(f"{ns} rollout status deployment/{workload} --timeout=25s")
    site.operate(
        f"{ns} get pods -o json | jq -r '{UNREADY_PODS}' | xargs -r {ns} delete pod --ignore-not-found --grace-period=10"
    )
