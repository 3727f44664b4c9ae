"""A database requires TLS, but its client does not use it, so the client's connections are closed.

The setting is in a ConfigMap that the database reads when it starts. The certificate is already mounted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import at

CERTIFICATE = "/etc/tls/tls.pem"
REQUIRED = "mode: requireTLS"


@fault
@dataclass(frozen=True)
class AuthMissMongodb(Fault):
    """An operator enables TLS in a database of SocialNetwork and forgets the service that uses it."""

    database: str
    name: ClassVar[str] = "auth_miss_mongodb"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting of the database."""
        return GroundTruth(
            self.database, "Application", "Misconfiguration", also_fault_types=("Authentication Issue",)
        )

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The database's ConfigMap, and its Deployment, whose arguments could override it."""
        return (("configmaps", self.database), ("deployments.apps", self.database))

    def inject(self, site: Site) -> None:
        """Require TLS and restart the database and then the service, in the background."""
        self._edit(site, rf"s#mode: disabled#{REQUIRED}\n        certificateKeyFile: {CERTIFICATE}#")
        service = self.database.replace("-mongodb", "-service")
        restart = f"kubectl -n {site.namespace} delete pod -l service={service} --wait=false"
        lines = (*self._list_restart_lines(site), restart)
        site.operate(f"{{ {' && '.join(lines)}; }} > /dev/null 2>&1 &")

    def recover(self, site: Site) -> None:
        """Disable TLS again and restart the database. The service keeps retrying and needs no restart."""
        self._edit(site, f"s#{REQUIRED}#mode: disabled#; /certificateKeyFile/d")
        for line in self._list_restart_lines(site):
            site.operate(line)

    def present(self, site: Site) -> bool:
        """Return whether the database is configured to require TLS, refuses a plain connection or cannot be asked."""
        settings = str(at(site.find("configmaps", self.database), "data", default=""))
        template = at(site.find("deployments.apps", self.database), "spec", "template", default="")
        is_configured = REQUIRED in settings and "--tlsMode" not in str(template)
        plain = "mongo --quiet --eval 'print(\"here\")'"
        pod = f"--pod-running-timeout=1s deploy/{self.database}"
        result = site.operate(f"kubectl -n {site.namespace} exec {pod} -- {plain}; true")
        return is_configured or b"here" not in result.stdout

    def _edit(self, site: Site, script: str) -> None:
        ns = f"kubectl -n {site.namespace}"
        site.operate(f"{ns} get configmap {self.database} -o yaml | sed '{script}' | {ns} apply -f -")

    def _list_restart_lines(self, site: Site) -> tuple[str, str]:
        """Return the commands that restart the database and wait for it."""
        ns, deployment = f"kubectl -n {site.namespace}", f"deployment/{self.database}"
        return f"{ns} rollout restart {deployment}", f"{ns} rollout status {deployment} --timeout=25s"
