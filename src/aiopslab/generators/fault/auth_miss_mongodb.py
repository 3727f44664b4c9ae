"""A database takes encrypted connections only, and nobody has told its client: what the client dials is hung up on.

The setting stands in a ConfigMap that is read when the database starts. The certificate that it needs is there already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, fault
from aiopslab.generators.site import Site
from simcloud.kubernetes.api.objects import at

CERTIFICATE = "/etc/tls/tls.pem"
REQUIRED = "mode: requireTLS"


@fault
@dataclass(frozen=True)
class AuthMissMongodb(Fault):
    """Somebody hardens a database of SocialNetwork, and forgets the service that uses it."""

    database: str
    name: ClassVar[str] = "auth_miss_mongodb"
    layer: ClassVar[Layer] = "application"

    @property
    def truth(self) -> GroundTruth:
        """A wrong setting, of the database."""
        return GroundTruth(self.database, "Application", "Misconfiguration")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        """The database's configuration, and its Deployment, whose arguments could say otherwise."""
        return (("configmaps", self.database), ("deployments.apps", self.database))

    def inject(self, site: Site) -> None:
        """Require encryption, and have both start anew: the service when the database is back, for which nobody waits."""
        self._edit(site, rf"s#mode: disabled#{REQUIRED}\n        certificateKeyFile: {CERTIFICATE}#")
        service = self.database.replace("-mongodb", "-service")
        anew = f"kubectl -n {site.namespace} delete pod -l service={service} --wait=false"
        site.operate(f"{{ {' && '.join((*self._restart(site), anew))}; }} > /dev/null 2>&1 &")

    def recover(self, site: Site) -> None:
        """Take unencrypted connections again. The service goes on trying, and needs no restart."""
        self._edit(site, f"s#{REQUIRED}#mode: disabled#; /certificateKeyFile/d")
        for line in self._restart(site):
            site.operate(line)

    def present(self, site: Site) -> bool:
        """Whether the database is told to require encryption, or does so now, or nobody can tell."""
        settings = str(at(site.find("configmaps", self.database), "data", default=""))
        template = at(site.find("deployments.apps", self.database), "spec", "template", default="")
        told = REQUIRED in settings and "--tlsMode" not in str(template)
        plain = "mongo --quiet --eval 'print(\"here\")'"
        pod = f"--pod-running-timeout=1s deploy/{self.database}"
        asked = site.operate(f"kubectl -n {site.namespace} exec {pod} -- {plain}; true")
        return told or b"here" not in asked.stdout

    def _edit(self, site: Site, script: str) -> None:
        ns = f"kubectl -n {site.namespace}"
        site.operate(f"{ns} get configmap {self.database} -o yaml | sed '{script}' | {ns} apply -f -")

    def _restart(self, site: Site) -> tuple[str, str]:
        """Start the database anew, and wait for it."""
        ns, deployment = f"kubectl -n {site.namespace}", f"deployment/{self.database}"
        return f"{ns} rollout restart {deployment}", f"{ns} rollout status {deployment} --timeout=25s"
