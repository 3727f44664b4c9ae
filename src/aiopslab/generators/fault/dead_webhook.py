"""A validating webhook must approve every pod, and nothing answers at its Service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods, list_namespace
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site

REGISTRATION = "admissionregistration.k8s.io"


@fault
@dataclass(frozen=True)
class DeadWebhook(BlockedPods):
    """A team removed the server of its admission webhook and left the registration behind, which refuses what nobody approves."""

    engine: str = draw_from("image-policy", "pod-guard", "label-check", "manifest-linter")
    timeout_s: int = draw_from(3, 5, 10)
    name: ClassVar[str] = "dead_webhook"
    fault_type: ClassVar[str] = "Dependency Problem"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The registration of the webhook."""
        return ((f"validatingwebhookconfigurations.{REGISTRATION}", self.engine, ""),)

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """What is left of the webhook besides."""
        return (*super().concerned, ("services", self.engine, self.engine), *list_namespace(self.engine))

    def release(self, site: Site) -> None:
        """Create the namespace and the Service, which selects no pod, and register the webhook."""
        site.run(f"kubectl create namespace {self.engine}")
        site.run(f"kubectl -n {self.engine} create service clusterip {self.engine} --tcp=443:8443")
        elsewhere = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
        service = {"namespace": self.engine, "name": self.engine, "path": "/validate"}
        webhook = {
            "name": f"pods.{self.engine}.svc",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": self.timeout_s,
            "clientConfig": {"service": service},
            "namespaceSelector": {"matchExpressions": [elsewhere]},
            "rules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ],
        }
        site.add(f"{REGISTRATION}/v1", "ValidatingWebhookConfiguration", self.engine, {"webhooks": [webhook]})
