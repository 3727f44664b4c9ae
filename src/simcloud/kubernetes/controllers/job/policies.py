"""Pod failure policies: which failures of a pod fail its job or its index, or are ignored."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.kubernetes.api.objects import Object, at


class Judgement(NamedTuple):
    """What a pod failure policy says of a failed pod."""

    action: str = ""
    """The action of the rule that matched, or nothing."""
    message: str = ""
    """Why the job fails, if the action is FailJob."""

    @property
    def counts(self) -> bool:
        """Whether the failure counts towards the limits."""
        return self.action != "Ignore"


def judge(policy: Object | None, pod: Object) -> Judgement:
    """What the first matching rule says."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        seen = _exit_code(rule["onExitCodes"], pod) if rule.get("onExitCodes") else _condition(rule, pod)
        if seen:
            action: str = rule["action"]
            message = f"{seen} matching {action} rule at index {number}" if action == "FailJob" else ""
            return Judgement(action, message)
    return Judgement()


def _exit_code(wanted: Object, pod: Object) -> str:
    """A sentence on the container whose exit code a rule is about."""
    status, metadata = pod.get("status", {}), pod["metadata"]
    containers = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    for container in containers:
        code = at(container, "state", "terminated", "exitCode")
        if not code or wanted.get("containerName") not in (None, container["name"]):
            continue
        if (code in wanted["values"]) == (wanted["operator"] == "In"):
            place = f"{metadata['namespace']}/{metadata['name']}"
            return f"Container {container['name']} for pod {place} failed with exit code {code}"
    return ""


def _condition(rule: Object, pod: Object) -> str:
    """A sentence on the condition that a rule is about."""
    metadata = pod["metadata"]
    patterns = [
        (pattern["type"], pattern.get("status", "True")) for pattern in rule.get("onPodConditions") or ()
    ]
    for condition in pod.get("status", {}).get("conditions") or ():
        if (condition["type"], condition["status"]) in patterns:
            return f"Pod {metadata['namespace']}/{metadata['name']} has condition {condition['type']}"
    return ""
