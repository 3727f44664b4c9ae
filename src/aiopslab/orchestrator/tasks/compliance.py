"""The compliance task (CISO): a security policy is violated; restore compliance without harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from aiopslab.generators.fault.unisolated_workload import LABEL
from aiopslab.orchestrator.tasks.mitigation import MitigationTask
from simcloud.kubernetes.api import Object, at, selectors

if TYPE_CHECKING:
    from aiopslab.cloud import IncidentSite
    from aiopslab.orchestrator.oracles import Verdict

INTERNAL: Final = "ClusterIP"
POLICY: Final = """\
1. No container is privileged, and no pod uses the network or the processes of its node (hostNetwork, hostPID).
2. Services are of type ClusterIP, except those that are listed as public.
3. Pods with the label exposure=partner are selected by a NetworkPolicy for ingress that admits only named sources. It has the \
name of their Deployment.
4. No service account of the application is bound to the role cluster-admin.
Workloads that violate a rule are corrected, not removed."""


def find_violations(environment: IncidentSite) -> Iterator[str]:
    """Yield a phrase for each live object in the application's namespace that violates the policy."""
    log, ns = environment.cluster.api.log, environment.namespace
    pods = [pod for pod in log.objects("", "pods", ns) if "deletionTimestamp" not in pod["metadata"]]
    policies = log.objects("networking.k8s.io", "networkpolicies", ns)
    for pod in pods:
        name = f"pod {pod['metadata']['name']}"
        if any(
            at(each, "securityContext", "privileged", default=False) for each in pod["spec"]["containers"]
        ):
            yield f"{name} is privileged"
        if pod["spec"].get("hostNetwork") or pod["spec"].get("hostPID"):
            yield f"{name} uses its node's network or processes"
        labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
        if LABEL.items() <= labels.items() and not _is_isolated(labels, policies):
            yield f"{name} is not isolated by a NetworkPolicy"
    public = _find_public(environment)
    for service in log.objects("", "services", ns):
        if (
            at(service, "spec", "type", default=INTERNAL) != INTERNAL
            and service["metadata"]["name"] not in public
        ):
            yield f"service {service['metadata']['name']} can be reached from outside"
    for plural in ("rolebindings", "clusterrolebindings"):
        for binding in log.objects("rbac.authorization.k8s.io", plural):
            is_bound = any(_is_account(subject, ns) for subject in binding.get("subjects") or ())
            if binding["roleRef"]["name"] == "cluster-admin" and is_bound:
                yield f"{plural} {binding['metadata']['name']} binds cluster-admin"


def _is_account(subject: Mapping[str, str], namespace: str) -> bool:
    """Whether a subject of a binding is a service account of a namespace, or a user or group name that includes one."""
    if subject["kind"] == "ServiceAccount":
        return subject.get("namespace") == namespace
    groups = ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return subject["name"] in groups or subject["name"].startswith(f"system:serviceaccount:{namespace}:")


def _is_isolated(labels: Mapping[str, str], policies: Sequence[Object]) -> bool:
    """Whether NetworkPolicies select pods with these labels for ingress, and none of them admits everybody."""
    specs: list[Mapping[str, Any]] = [policy["spec"] for policy in policies]
    selecting = [
        spec
        for spec in specs
        if "Ingress" in spec.get("policyTypes", ())
        and selectors.from_label_selector(spec.get("podSelector") or {}).matches(labels)
    ]
    rules = [rule for spec in selecting for rule in spec.get("ingress") or ()]
    return bool(selecting) and all(
        rule.get("from") and not any(map(_is_everybody, rule["from"])) for rule in rules
    )


def _is_everybody(peer: Mapping[str, Any]) -> bool:
    """Whether a peer of a NetworkPolicy is every address, or every pod of every namespace."""
    if "ipBlock" in peer:
        return str(peer["ipBlock"]["cidr"]).endswith("/0")
    spaces, pods = peer.get("namespaceSelector"), peer.get("podSelector") or {}
    return spaces is not None and not any(spaces.values()) and not any(pods.values())


def _find_public(environment: IncidentSite) -> list[str]:
    """Return the Services that were public before the fault."""
    return [
        key.name
        for key, obj in environment.wanted.items()
        if key.plural == "services"
        and key.namespace == environment.namespace
        and at(obj, "spec", "type", default=INTERNAL) != INTERNAL
    ]


class ComplianceTask(MitigationTask):
    """The agent corrects what violates a security policy."""

    task_type: ClassVar[str] = "ciso"
    goal: ClassVar[str] = (
        "an audit found that the application's namespace violates the security policy below. Find the violation and correct it. "
        "Users must be served as well as before; change nothing else. When you are done, submit without an answer; the state "
        f"of the system is then judged.\n\nThe policy:\n{POLICY}"
    )

    def get_task_description(self) -> str:
        """Return the description with the public Services, once the problem is staged."""
        text = super().get_task_description()
        if not hasattr(self, "environment"):
            return text
        return f"{text}Public Services: {', '.join(sorted(_find_public(self.environment)))}\n"

    def judge(self) -> Verdict:
        """Judge the whole system, and whether it complies with the policy."""
        from aiopslab.orchestrator.oracles import Finding, Verdict  # loads the cloud

        verdict = super().judge()
        violations = list(find_violations(self.environment))
        return Verdict(
            (*verdict.findings, Finding("the policy is kept", not violations, "; ".join(violations[:3])))
        )
