"""The localization task: where is it wrong?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from aiopslab.apps import Application
from aiopslab.orchestrator.tasks.base import Task
from aiopslab.utils import InvalidSubmissionError

MAX_NAMES: Final = 100
KINDS: Final = (
    "cj", "cm", "configmap", "configmaps", "cronjob", "cronjobs", "daemonset", "daemonsets", "deploy", "deployment",
    "deployments", "ds", "endpoints", "endpointslice", "ep", "horizontalpodautoscaler", "horizontalpodautoscalers", "hpa",
    "ing", "ingress", "ingresses", "job", "jobs", "limitrange", "limitranges", "limits", "namespace", "namespaces", "netpol",
    "networkpolicies", "networkpolicy", "no", "node", "nodes", "ns", "persistentvolume", "persistentvolumeclaim",
    "persistentvolumeclaims", "persistentvolumes", "po", "pod", "pods", "pv", "pvc", "quota", "replicaset", "replicasets",
    "resourcequota", "resourcequotas", "rs", "sa", "secret", "secrets", "service", "serviceaccount", "serviceaccounts",
    "services", "statefulset", "statefulsets", "sts", "svc",
)  # fmt: skip
"""Kinds that may precede a slash in a name, also with a group, as in ``deployment.apps``."""
SCHEME: Final = re.compile(r"\A[a-z][a-z0-9+]*://(?:[^@/]*@)?([^/]*).*")
PORT: Final = re.compile(r":[0-9]+\Z")
POD_SUFFIX: Final = re.compile(r"-[{0}]{{6,10}}(-[{0}]{{5}})?\Z".format("bcdfghjklmnpqrstvwxz2456789"))
"""Suffix of a Deployment's ReplicaSets and pods; Kubernetes avoids letters that could form words."""


class LocalizationTask(Task):
    """The agent submits the names of the faulty components."""

    task_type: ClassVar[str] = "localization"
    goal: ClassVar[str] = (
        "find the faulty components: where the problem has its cause, not where its symptoms show. "
        "It may also be in the cluster itself: a node, or a system component such as coredns. "
        "Submit the list of their names, the most likely first, or an empty list if nothing is wrong."
    )
    example: ClassVar[str] = 'submit(["component-a", "component-b"])'

    def submit(self, faulty_components: list[str]) -> list[str]:
        """Submit the answer. This ends the session.

        Args:
            faulty_components (list[str]): names of the faulty components, the most likely first; an empty list if none is.

        Example:
            submit(["component-a", "component-b"])
        """
        # A single name instead of a list is unambiguous.
        given = [faulty_components] if isinstance(faulty_components, str) else faulty_components
        if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
            raise InvalidSubmissionError(
                'The answer must be a list of names: submit(["component-a", "component-b"]), or submit([]) '
                "if nothing is wrong."
            )
        if len(given) > MAX_NAMES:
            raise InvalidSubmissionError(
                f"The answer may have at most {MAX_NAMES} names. Name only the faulty components."
            )
        return list(dict.fromkeys(resolve_component(self.app, name) for name in given))

    def get_expected(self) -> list[str]:
        """Return the faulty components."""
        return [right[0] for right in self.get_right_answers()]

    def get_right_answers(self) -> list[tuple[str, ...]]:
        """Return the accepted names of each faulty component, the best first."""
        if self.ans is not None:
            return [(name,) for name in ([self.ans] if isinstance(self.ans, str) else self.ans)]
        if not self.faults and vars(self).get("faulty_service"):  # set by the public release's problems
            return [(self.faulty_service,)]
        first = [
            (truth.component, *truth.also_right, *own)
            for truth, own in zip(self.truths, self._find_faulty_nodes(), strict=True)
        ]
        others = [(name,) for truth in self.truths for name in truth.also_at_fault]
        return list(dict.fromkeys([*first, *others]))

    def _find_faulty_nodes(self) -> list[tuple[str, ...]]:
        """Return the faulty nodes of each fault; none before the problem is staged."""
        staged = hasattr(self, "environment")
        return [fault.machines_at_fault(self.environment) if staged else () for fault in self.faults]

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        if self.find_expected() is None:
            return self.fill_results({"TTL": duration})
        right = self.get_right_answers()
        named: Sequence[str] = soln if soln is not None else ()
        contains = soln is not None and _count_found(right, named) == len(right)
        exact = contains and all(any(name in names for names in right) for name in named)
        partly = 100.0 / len(named) if contains and named and right else 0.0
        computed = {
            "Localization Accuracy": 100.0 if exact else partly,
            "success": exact,
            "is_subset": contains,
            "accuracy@1": _compute_accuracy_at(1, right, named, exact),
            "accuracy@3": _compute_accuracy_at(3, right, named, exact),
            "TTL": duration,
            "expected": self.get_expected(),
        }
        return self.fill_results(computed)


def _count_found(right: Sequence[tuple[str, ...]], named: Sequence[str]) -> int:
    """Return the number of faulty components that are named."""
    return sum(any(name in names for name in named) for names in right)


def _compute_accuracy_at(
    k: int, right: Sequence[tuple[str, ...]], named: Sequence[str], exact: bool
) -> float:
    """Return the percentage of the faulty components that the first ``k`` names contain, of those that fit in ``k``."""
    if not right:
        return 100.0 if exact else 0.0
    return 100.0 * min(_count_found(right, named[:k]) / min(k, len(right)), 1.0)


def resolve_component(app: Application, name: str) -> str:
    """Return the component that a name of a pod, workload or address refers to, or else the bare name."""
    known = {component.name for component in app.components}
    plain = PORT.sub("", _strip_prefix(app, name.strip().strip("`'\"").lower()))
    host, _, domain = plain.partition(".")
    if f"{domain}.".startswith(f"{app.namespace}."):
        plain = host
    if plain in known:
        return plain
    workload = POD_SUFFIX.sub("", plain)
    return workload if workload in known else plain


def _strip_prefix(app: Application, name: str) -> str:
    """Return a name without scheme, kind and namespace. A name in another namespace stays as it is."""
    *before, last = SCHEME.sub(r"\1", name).split("/")
    is_local = all(part.partition(".")[0] in KINDS or part == app.namespace for part in before)
    return last if is_local else name
