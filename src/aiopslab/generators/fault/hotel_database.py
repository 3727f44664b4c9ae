"""Faults of the application's user in a database of HotelReservation with access control (geo's and rate's)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Fault, Layer
from aiopslab.generators.site import Site

USER: Final = "admin"
"""The user name of the services; their password is the same word."""


@dataclass(frozen=True)
class DatabaseUserFault(Fault):
    """The service loses access to its database, ``mongodb-geo`` or ``mongodb-rate``, which it reads when it starts."""

    database: str
    layer: ClassVar[Layer] = "application"

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """No declared objects: users and roles are in the database, and pods are restarted unchanged."""
        return ()

    def present(self, site: Site) -> bool:
        """Return whether the user cannot log in, read and write, or the database cannot be asked."""
        login = f"{self.service}-db -u {USER} -p {USER} --authenticationDatabase admin"
        script = 'db.nothing.findOne(); db.nothing.deleteMany({_id: 0}); print("may")'
        return "may" not in self._run_shell(site, login, script, "; true").splitlines()

    @property
    def service(self) -> str:
        """The service that uses the database."""
        return self.database.removeprefix("mongodb-")

    @property
    def role(self) -> str:
        """The role that the service needs, as an expression of the database's shell."""
        return f'{{role: "readWrite", db: "{self.service}-db"}}'

    def run_script(self, site: Site, script: str) -> None:
        """Run a script in the database's shell as its administrator."""
        self._run_shell(site, "admin -u root -p root", script)

    def await_database(self, site: Site) -> None:
        """Wait until the database is running, in case it was restarted."""
        site.operate(f"kubectl -n {site.namespace} rollout status deployment/{self.database} --timeout=25s")

    def restart(self, site: Site) -> None:
        """Restart the service."""
        site.operate(f"kubectl -n {site.namespace} delete pod -l io.kompose.service={self.service}")

    def _run_shell(self, site: Site, login: str, script: str, suffix: str = "") -> str:
        """Run a script in the database's shell; return its output."""
        pod = f"--pod-running-timeout=1s deploy/{self.database}"
        result = site.operate(
            f"kubectl -n {site.namespace} exec {pod} -- mongo {login} --quiet --eval '{script}'{suffix}"
        )
        return result.stdout.decode(errors="replace")
