"""The application's database user loses the right to its own database; its service cannot start again without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site

USER = "admin"
"""Whom the services log in as."""


@fault
@dataclass(frozen=True)
class RevokeAuth(Fault):
    """Somebody cleans up rights in a database of HotelReservation, ``mongodb-geo`` or ``mongodb-rate``."""

    database: str
    name: ClassVar[str] = "revoke_auth"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        """Missing rights, in the database; the service that needs them is right, too."""
        return GroundTruth(self.database, "Application", "Authentication Issue", (self._service,))

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is declared: the rights are in the database, and pods are restarted as they are."""
        return ()

    def inject(self, site: Site) -> None:
        """Take the role away, and have the service start anew: it looks into its database when it starts."""
        self._ask(site, f'db.revokeRolesFromUser("{USER}", [{self._role}])')
        self._restart(site)

    def recover(self, site: Site) -> None:
        """Give the role back, and have the service start anew now rather than after its pause."""
        site.operate(f"kubectl -n {site.namespace} rollout status deployment/{self.database} --timeout=25s")
        self._ask(site, f'db.grantRolesToUser("{USER}", [{self._role}])')
        self._restart(site)

    def present(self, site: Site) -> bool:
        """Whether the user lacks the role, or nobody can tell."""
        told = self._ask(
            site, f'db.getUser("{USER}").roles.forEach(r => print(r.role + "@" + r.db))', "; true"
        )
        return f"readWrite@{self._service}-db" not in told.splitlines()

    @property
    def _service(self) -> str:
        return self.database.removeprefix("mongodb-")

    @property
    def _role(self) -> str:
        return f'{{role: "readWrite", db: "{self._service}-db"}}'

    def _ask(self, site: Site, line: str, after: str = "") -> str:
        """Have the database's shell do something, as the one who may."""
        shell = "mongo admin -u root -p root --quiet --eval"
        pod = f"--pod-running-timeout=1s deploy/{self.database}"
        done = site.operate(f"kubectl -n {site.namespace} exec {pod} -- {shell} '{line}'{after}")
        return done.stdout.decode(errors="replace")

    def _restart(self, site: Site) -> None:
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self._service}")
