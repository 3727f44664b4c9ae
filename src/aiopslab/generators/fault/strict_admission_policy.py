"""An admission policy refuses the pods of the application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site

REGISTRATION: Final = "admissionregistration.k8s.io"
RULES: Final = {
    "trusted-images": ("c.image.startsWith('registry.internal/')", "images must come from registry.internal"),
    "memory-limits": (
        "has(c.resources.limits) && 'memory' in c.resources.limits",
        "every container must have a memory limit",
    ),
    "readiness-required": ("has(c.readinessProbe)", "every container must have a readiness probe"),
    "no-root": (
        "has(c.securityContext) && has(c.securityContext.runAsNonRoot) && c.securityContext.runAsNonRoot",
        "containers must set runAsNonRoot",
    ),
}
"""What a policy demands of each container, by the policy's name, and its message."""


@fault
@dataclass(frozen=True)
class StrictAdmissionPolicy(BlockedPods):
    """The platform team enforces a policy in all namespaces of applications before they comply with it."""

    policy: str = draw_from(*RULES)
    name: ClassVar[str] = "strict_admission_policy"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The policy and its binding."""
        kinds = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
        return tuple((f"{kind}.{REGISTRATION}", self.policy, "") for kind in kinds)

    def release(self, site: Site) -> None:
        """Create the policy and bind it."""
        demand, message = RULES[self.policy]
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": f"object.spec.containers.all(c, {demand})", "message": message}],
        }
        system = {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": ["kube-system", "monitoring", "local-path-storage"],
        }
        binding = {
            "policyName": self.policy,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchExpressions": [system]}},
        }
        site.add(f"{REGISTRATION}/v1", "ValidatingAdmissionPolicy", self.policy, {"spec": spec})
        site.add(f"{REGISTRATION}/v1", "ValidatingAdmissionPolicyBinding", self.policy, {"spec": binding})
