"""Causes outside the application: rules that refuse pods, nodes that are closed or broken, parts of the cluster that do not run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Final

from aiopslab.agents.runbook.survey import Object, Steps, Survey, parse_lines, run


@dataclass(frozen=True)
class Cause:
    """A hypothesis: what is wrong where, and what would repair it."""

    components: tuple[str, ...]
    level: str
    kind: str
    why: str
    repair: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(self.components)}: {self.why}"


WEBHOOKS: Final = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o json"
NEWEST_LIMITS: Final = (
    "$(kubectl -n {ns} get limitranges --sort-by=.metadata.creationTimestamp -o name | tail -1)"
)
REFUSALS: Final = (
    (r"(?:exceeded|failed) quota: ([\w.-]+)", "kubectl -n {ns} delete resourcequota {0}"),
    (
        r"(?:maximum|minimum) (?:cpu|memory) usage per|limit to request ratio",
        f"kubectl -n {{ns}} delete {NEWEST_LIMITS}",
    ),
    (r"violates PodSecurity", "kubectl label namespace {ns} pod-security.kubernetes.io/enforce-"),
    (
        r"ValidatingAdmissionPolicy '[^']+' with binding '([^']+)'",
        "kubectl delete validatingadmissionpolicybinding {0}",
    ),
    (
        r'(?:failed calling|admission) webhook "([^"]+)"',
        f'kubectl delete $({WEBHOOKS} | jq -r \'.items[] | select(any(.webhooks[]; .name == "{{0}}")) | .kind + "/" + .metadata.name\')',
    ),
)
"""Messages with which the cluster refuses pods, and what removes the rule; ``{0}`` is its name."""
REGISTER: Final = (
    "sleep 30; kubectl -n {ns} get deployments -o name | grep -v -E 'mongo|memcached|redis|consul|jaeger' | "
    "xargs kubectl -n {ns} rollout restart"
)
"""Restarts what keeps no data: connections to a node that has gone hang."""


DNS: Final = """kubectl -n kube-system get service kube-dns -o json | jq -c '{kind: "DnsService", selector: .spec.selector}'
kubectl -n kube-system get deployment coredns -o json | jq -c '{kind: "DnsPods", labels: .spec.template.metadata.labels, ready: (.status.readyReplicas // 0)}'
kubectl -n kube-system get networkpolicies -o json | jq -c '.items[] | {kind: "DnsPolicy", name: .metadata.name, spec}'
kubectl -n kube-system get configmap coredns -o json | jq -c '{kind: "Corefile", text: .data.Corefile}'"""
COREFILE: Final = """.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
"""
"""The configuration that kubeadm gives a cluster's DNS."""


def check_dns() -> Steps[list[Cause]]:
    """Look at the cluster's DNS: its Service, its policies, its configuration."""
    found = {thing["kind"]: thing for thing in parse_lines((yield from run(DNS)))}
    causes: list[tuple[str, str, tuple[str, ...]]] = []
    if "DnsPolicy" in found:
        name = found["DnsPolicy"]["name"]
        why = f"the NetworkPolicy {name} in kube-system isolates the cluster's DNS"
        causes.append(("Misconfiguration", why, (f"kubectl -n kube-system delete networkpolicy {name}",)))
    selector, labels = (
        found.get(kind, {}).get(field, {})
        for kind, field in (("DnsService", "selector"), ("DnsPods", "labels"))
    )
    if selector and not selector.items() <= labels.items():
        patch = json.dumps([{"op": "replace", "path": "/spec/selector", "value": {"k8s-app": "kube-dns"}}])
        why = f"the Service kube-dns selects {selector}, but its pods have the labels {labels}, so it has no endpoints"
        causes.append(
            (
                "Misconfiguration",
                why,
                (f"kubectl -n kube-system patch service kube-dns --type=json -p {quote(patch)}",),
            )
        )
    given, usual = found.get("Corefile", {}).get("text", COREFILE).splitlines(), COREFILE.splitlines()
    if given != usual:
        added = [line.strip() for line in given if line not in usual]
        lost = [line.strip() for line in usual if line not in given]
        why = f"the Corefile of the cluster's DNS is not the usual one: it has the lines {added}, and lacks {lost}"
        patch = json.dumps({"data": {"Corefile": COREFILE}})
        fix = f"kubectl -n kube-system patch configmap coredns -p {quote(patch)}"
        causes.append(
            ("Misconfiguration", why, (fix, "kubectl -n kube-system rollout restart deployment/coredns"))
        )
    return [Cause(("coredns",), "Virtualization", kind, why, fix) for kind, why, fix in causes]


def find_refused_pods(seen: Survey, namespace: str) -> Iterator[Cause]:
    """Find Deployments whose new pods the cluster refuses, and the rule that does it."""
    for name, found in seen.deployments.items():
        message = next(iter(found["failures"]), "")
        for pattern, fix in REFUSALS:
            rule = re.search(pattern, message)
            if rule:
                line = fix.replace("{ns}", namespace).replace("{0}", next(iter(rule.groups()), ""))
                why = f"new pods of {name} are refused: {message[:250]}"
                yield Cause((name,), "Virtualization", "Misconfiguration", why, (line,))
                return  # the others are refused by the same rule


def find_closed_nodes(seen: Survey) -> Iterator[Cause]:
    """Find pods that no node accepts, because nodes are cordoned or tainted."""
    waiting = [
        pod
        for pod in seen.pods
        if pod["phase"] == "Pending" and "nodes are available" in pod.get("message", "")
    ]
    names = tuple(
        dict.fromkeys(name for name in seen.deployments if any(pod in waiting for pod in seen.pods_of(name)))
    )
    messages = " ".join(pod["message"] for pod in waiting)
    fixes = []
    for node, known in seen.nodes.items():
        if known["unschedulable"] and "were unschedulable" in messages:
            fixes.append(f"kubectl uncordon {node}")
        fixes += [
            f"kubectl taint node {node} {taint}-"
            for taint in known["taints"]
            if "untolerated taint" in messages
        ]
    if names and fixes:
        why = f"no node accepts the pods of {', '.join(names)}, because nodes are cordoned or tainted: {messages[:200]}"
        yield Cause(names, "Virtualization", "Operation Error", why, tuple(fixes))


def check_nodes(seen: Survey, namespace: str) -> Steps[list[Cause]]:
    """Look at nodes that are not ready, and repair what has stopped there, or take them out of use."""
    causes = []
    for name, node in seen.nodes.items():
        if node["trouble"]:
            causes.append((yield from _check_node(name, node["trouble"], namespace)))
    return causes


def find_flapping_nodes(seen: Survey, namespace: str) -> Iterator[Cause]:
    """Suspect nodes that are ready now, but were lost in the last hour; not if all were, when the cluster was started."""
    if set(seen.nodes) <= set(seen.lost_nodes):
        return
    for name, count in seen.lost_nodes.items():
        if not seen.nodes.get(name, {"trouble": True})["trouble"]:
            why = f"the node {name} is flapping: it was lost {count} times in the last hour; its hardware or its link is not reliable"
            yield Cause((name,), "Hardware", "Network/Storage Issue", why, _vacate(name, namespace))


def _check_node(name: str, trouble: list[str], namespace: str) -> Steps[Cause]:
    text = yield from run(f"ssh -o ConnectTimeout=5 {name} systemctl is-active kubelet containerd 2>&1")
    states = dict(zip(("kubelet", "containerd"), text.split(), strict=False))
    stopped = [unit for unit, state in states.items() if state in ("inactive", "failed")]
    why = f"the node {name} is not ready: {'; '.join(trouble)[:200]}"
    if "ssh:" in text:
        why, fixes = f"{why}; it does not answer", _vacate(name, namespace)
    elif stopped:
        why += f"; stopped there: {', '.join(stopped)}"
        fixes = tuple(
            f"ssh {name} 'systemctl unmask {unit}; systemctl enable --now {unit}'" for unit in stopped
        )
    elif "cni" in " ".join(trouble).lower():
        why += "; the configuration of its network plugin is gone"
        fixes = (f"kubectl -n kube-system delete pod -l app=kindnet --field-selector spec.nodeName={name}",)
    else:
        why += "; its services run, but do not answer"
        fixes = (f"ssh {name} systemctl restart containerd kubelet",)
    return Cause((name,), "Operating System", "Operation Error", why, fixes)


def _vacate(node: str, namespace: str) -> tuple[str, ...]:
    """Return the lines that take a node out of use, whether or not it answers."""
    return (
        f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --disable-eviction --force --grace-period=0 --timeout=90s",
        REGISTER.replace("{ns}", namespace),
    )


def find_broken_system(seen: Survey) -> list[Cause]:
    """Suspect workloads of the cluster itself that are not ready."""
    return [
        Cause(
            (thing["name"],),
            "Virtualization",
            "Operation Error",
            f"{thing['name']} of the cluster has {thing['ready']} of {thing['wanted']} pods ready; its {thing['of']} is restricted to "
            f"nodes with the labels {thing['selector']}",
            _start_workload(thing),
        )
        for thing in seen.system
        if thing["kind"] == "System" and (thing["ready"] < thing["wanted"] or not thing["wanted"])
    ]


def _start_workload(thing: Object) -> tuple[str, ...]:
    """Return the line that gives a workload of the cluster its pods back, if none are wanted."""
    if thing["wanted"]:
        return ()
    if thing["of"] == "Deployment":
        return (f"kubectl -n kube-system scale deployment/{thing['name']} --replicas=2",)
    patch = [
        {"op": "replace", "path": "/spec/template/spec/nodeSelector", "value": {"kubernetes.io/os": "linux"}}
    ]
    return (
        f"kubectl -n kube-system patch daemonset/{thing['name']} --type=json -p {quote(json.dumps(patch))}",
    )
