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
        """Whether the user may not read and write there, by whatever role, or is not let in, or nobody can tell."""
        login = f"{self.service}-db -u {USER} -p {USER} --authenticationDatabase admin"
        tried = 'db.nothing.findOne(); db.nothing.deleteMany({_id: 0}); print("may")'
        return "may" not in self._shell(site, login, tried, "; true").splitlines()

    @property
    def service(self) -> str:
        """Whose database it is."""
        return self.database.removeprefix("mongodb-")

    @property
    def role(self) -> str:
        """What the service needs, in the words of the database's shell."""
        return f'{{role: "readWrite", db: "{self.service}-db"}}'

    def ask(self, site: Site, line: str) -> None:
        """Have the database's shell do something, as the one who may."""
        self._shell(site, "admin -u root -p root", line)

    def await_database(self, site: Site) -> None:
        """Wait until the database runs, should somebody have restarted it."""
        site.operate(f"kubectl -n {site.namespace} rollout status deployment/{self.database} --timeout=25s")

    def restart(self, site: Site) -> None:
        """Have the service start anew."""
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self.service}")

    def _shell(self, site: Site, login: str, line: str, after: str = "") -> str:
        """What the database's own shell prints when it is given a line."""
        pod = f"--pod-running-timeout=1s deploy/{self.database}"
        done = site.operate(
            f"kubectl -n {site.namespace} exec {pod} -- mongo {login} --quiet --eval '{line}'{after}"
        )
        return done.stdout.decode(errors="replace")
