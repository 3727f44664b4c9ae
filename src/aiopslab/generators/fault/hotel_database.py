"""Faults of the application's user in a database of HotelReservation: two of them have access control, geo's and rate's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Fault, Layer
from aiopslab.generators.site import Site

USER: Final = "admin"
"""Whom the services log in as; their password is the same word."""


@dataclass(frozen=True)
class DatabaseUserFault(Fault):
    """The service cannot use its database any more, ``mongodb-geo`` or ``mongodb-rate``; it looks there when it starts."""

    database: str
    layer: ClassVar[Layer] = "application"

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """Nothing that is declared: users and their rights are in the database, and pods are restarted as they are."""
        return ()

    def present(self, site: Site) -> bool:
        """Whether the user lacks its role, or is not there, or nobody can tell."""
        told = self.ask(
            site, f'db.getUser("{USER}").roles.forEach(r => print(r.role + "@" + r.db))', "; true"
        )
        return f"readWrite@{self.service}-db" not in told.splitlines()

    @property
    def service(self) -> str:
        """Whose database it is."""
        return self.database.removeprefix("mongodb-")

    @property
    def role(self) -> str:
        """What the service needs, in the words of the database's shell."""
        return f'{{role: "readWrite", db: "{self.service}-db"}}'

    def ask(self, site: Site, line: str, after: str = "") -> str:
        """Have the database's shell do something, as the one who may."""
        shell = "mongo admin -u root -p root --quiet --eval"
        pod = f"--pod-running-timeout=1s deploy/{self.database}"
        done = site.operate(f"kubectl -n {site.namespace} exec {pod} -- {shell} '{line}'{after}")
        return done.stdout.decode(errors="replace")

    def await_database(self, site: Site) -> None:
        """Wait until the database runs, should somebody have restarted it."""
        site.operate(f"kubectl -n {site.namespace} rollout status deployment/{self.database} --timeout=25s")

    def restart(self, site: Site) -> None:
        """Have the service start anew."""
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self.service}")
