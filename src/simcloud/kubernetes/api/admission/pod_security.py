"""PodSecurity: the labels of a namespace set which pod security level is enforced and which only causes warnings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from simcloud.kubernetes.api.admission.plugin import PODS, Quiet, make_refusal, namespace_of
from simcloud.kubernetes.api.admission.pod_security_checks import LEVELS, violations
from simcloud.kubernetes.api.errors import Invalid
from simcloud.kubernetes.api.field_errors import FieldError, invalid
from simcloud.kubernetes.api.objects import Object, at

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_PREFIX: Final = "pod-security.kubernetes.io/"
_VERSION: Final = re.compile(r"latest|v1\.(0|[1-9][0-9]*)")
_IGNORED_PARTS: Final = (
    *("exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status", "resize"),
)
_TEMPLATES: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("", "podtemplates"): ("template",),
    ("", "replicationcontrollers"): ("spec", "template"),
    ("apps", "replicasets"): ("spec", "template"),
    ("apps", "deployments"): ("spec", "template"),
    ("apps", "daemonsets"): ("spec", "template"),
    ("apps", "statefulsets"): ("spec", "template"),
    ("batch", "jobs"): ("spec", "template"),
    ("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
}
_MOST_PODS: Final = 3000
"""Maximum number of existing pods checked when a namespace becomes stricter."""


class Standard(NamedTuple):
    """A level of the standards, as of a version."""

    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"


class Policy(NamedTuple):
    """What a namespace wants: of what is refused, noted, and warned of."""

    enforce: Standard
    audit: Standard
    warn: Standard
    errors: list[FieldError]


class PodSecurity(Quiet):
    """Holds pods to the standards of their namespace, and warns of templates that will not pass."""

    resources = (PODS, ("", "namespaces"), *_TEMPLATES)

    def check(self, write: Write) -> None:
        if write.operation == "DELETE":
            return
        key = write.resource.key
        if key == PODS:
            self._pod(write)
        elif key in _TEMPLATES and not write.subresource:
            self._template(write)
        elif key == ("", "namespaces") and not write.subresource:
            self._namespace(write)

    def _pod(self, write: Write) -> None:
        if write.subresource in _IGNORED_PARTS:
            return
        policy = _policy_of(write)
        if policy is None or (write.old is not None and not _significant(write.new, write.old)):
            return
        found = violations(policy.enforce.level, write.new["metadata"], write.new["spec"])
        if found:
            raise make_refusal(
                write, f'violates PodSecurity "{policy.enforce}": {", ".join(map(str, found))}'
            )
        _warn(write, policy, write.new)

    def _template(self, write: Write) -> None:
        policy = _policy_of(write)
        template = at(write.new, *_TEMPLATES[write.resource.key]) if policy is not None else None
        if policy is not None and template is not None and at(template, "spec") is not None:
            _warn(write, policy, template)

    def _namespace(self, write: Write) -> None:
        new = read_policy(write.new["metadata"].get("labels") or {})
        old = read_policy(((write.old or {}).get("metadata") or {}).get("labels") or {})
        if new.errors and new.errors != old.errors:
            raise Invalid("", "Namespace", write.key.name, new.errors)
        if write.old is None or new.enforce == old.enforce or new.enforce.level == "privileged":
            return
        levels = list(LEVELS)
        relaxed = levels.index(new.enforce.level) <= levels.index(old.enforce.level)
        if new.enforce.version == old.enforce.version and relaxed:
            return
        write.options.warnings.extend(_existing(write, new.enforce))


def read_policy(labels: dict[str, str]) -> Policy:
    """A namespace's policy from its labels; what cannot be read is privileged for enforcing, and an error."""
    errors: list[FieldError] = []
    read: list[Standard] = []
    for mode in ("enforce", "audit", "warn"):
        level, version = labels.get(_PREFIX + mode), labels.get(f"{_PREFIX}{mode}-version")
        place = f"metadata.labels[{_PREFIX}{mode}"
        if level is not None and level not in LEVELS:
            errors.append(invalid(f"{place}]", level, "must be one of privileged, baseline, restricted"))
            level = "restricted" if mode == "enforce" else "privileged"
        if version is not None and not _VERSION.fullmatch(version):
            errors.append(invalid(f"{place}-version]", version, 'must be "latest" or "v1.x"'))
            version = None
        read.append(Standard(level or "privileged", version or "latest"))
    enforce, audit, warn = read
    if _PREFIX + "warn" not in labels and enforce.level != "privileged":
        # Templates are only ever warned of: who enforces and says nothing of warnings wants them all the same.
        warn = enforce
    return Policy(enforce, audit, warn, errors)


def _policy_of(write: Write) -> Policy | None:
    """The policy that a write is held to; None where everything is allowed."""
    namespace = namespace_of(write)
    labels = (namespace or {}).get("metadata", {}).get("labels") or {}
    if not any(name.startswith(_PREFIX) for name in labels):
        return None
    return read_policy(labels)


def _warn(write: Write, policy: Policy, pod: Object) -> None:
    found = violations(policy.warn.level, pod.get("metadata") or {}, pod["spec"])
    if found:
        reasons = ", ".join(map(str, found))
        write.options.warnings.append(f'would violate PodSecurity "{policy.warn}": {reasons}')


def _significant(new: Object, old: Object) -> bool:
    """Of a pod's update only images and containers are of interest."""
    parts = ("containers", "initContainers", "ephemeralContainers")
    return any(
        [(container["name"], container.get("image")) for container in new["spec"].get(part) or ()]
        != [(container["name"], container.get("image")) for container in old["spec"].get(part) or ()]
        for part in parts
    )


def _existing(write: Write, standard: Standard) -> list[str]:
    """What is warned of pods that are there already when a namespace becomes stricter."""
    pods = write.api.log.objects("", "pods", write.key.name)
    names_by_reasons: dict[str, list[str]] = {}
    for pod in pods[:_MOST_PODS]:
        found = violations(standard.level, pod["metadata"], pod["spec"])
        if found:
            reasons = ", ".join(violation.reason for violation in found)
            names_by_reasons.setdefault(reasons, []).append(pod["metadata"]["name"])
    warnings = []
    if len(pods) > _MOST_PODS:
        warnings.append(
            f"new PodSecurity enforce level only checked against the first {_MOST_PODS} of {len(pods)} existing pods"
        )
    if names_by_reasons:
        warnings.append(
            f'existing pods in namespace "{write.key.name}" violate the new PodSecurity enforce level "{standard}"'
        )
    return warnings + sorted(f"{_pods(names)}: {reasons}" for reasons, names in names_by_reasons.items())


def _pods(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    others = "1 other pod" if len(names) == 2 else f"{len(names) - 1} other pods"
    return f"{min(names)} (and {others})"
