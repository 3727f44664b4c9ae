"""``kubectl create namespace``, ``quota``, ``poddisruptionbudget`` and ``priorityclass``."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.object_creation import create_built, the_name
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object, quantity, selectors

OPERATORS: Final = {"in": "In", "notin": "NotIn", "!=": "NotIn", "exists": "Exists", "!": "DoesNotExist"}


@command(
    "create namespace", "Create a namespace", examples=("kubectl create namespace shop",), aliases=("ns",)
)
async def namespace(kubectl: Kubectl) -> None:
    """Make a Namespace."""
    await create_built(kubectl, "namespaces", {"metadata": {"name": the_name(kubectl)}})


@command(
    "create quota",
    "Limit what a namespace may use",
    examples=("kubectl create quota small --hard=cpu=1,memory=1Gi,pods=10",),
    aliases=("resourcequota",),
)
async def quota(kubectl: Kubectl) -> None:
    """Make a ResourceQuota."""
    name, flags = the_name(kubectl), kubectl.flags
    spec: Object = {}
    if flags["hard"]:
        spec["hard"] = dict(_amount(said) for said in flags["hard"].split(","))
    if flags["scopes"]:
        spec["scopes"] = flags["scopes"].split(",")
    obj = {"metadata": {"name": name}, "spec": spec}
    await create_built(kubectl, "resourcequotas", obj, "failed to create quota:")


def _amount(said: str) -> tuple[str, str]:
    name, equals, amount = said.partition("=")
    if not equals or "=" in amount:
        raise KubectlError(f"Invalid argument syntax {said}, expected <resource>=<value>")
    try:
        return name, quantity.canonical(amount)
    except ValueError as error:
        raise KubectlError(str(error)) from None


@command(
    "create poddisruptionbudget",
    "Say how many pods must stay when nodes are emptied",
    examples=("kubectl create pdb web --selector=app=web --min-available=50%",),
    aliases=("pdb",),
)
async def pod_disruption_budget(kubectl: Kubectl) -> None:
    """Make a PodDisruptionBudget."""
    name, flags = the_name(kubectl), kubectl.flags
    least, most = flags["min-available"], flags["max-unavailable"]
    if not flags["selector"]:
        raise KubectlError("a selector must be specified")
    if not least and not most:
        raise KubectlError("one of min-available or max-unavailable must be specified")
    if least and most:
        raise KubectlError("min-available and max-unavailable cannot be both specified")
    for flag, said in (("min-available", least), ("max-unavailable", most)):
        if said and not re.fullmatch(r"[0-9]+%?", said):
            raise KubectlError(f"invalid value for {flag}: {said}")
    spec: Object = {"minAvailable": _number(least)} if least else {"maxUnavailable": _number(most)}
    spec["selector"] = _selector(flags["selector"])
    obj = {"metadata": {"name": name}, "spec": spec}
    await create_built(kubectl, "poddisruptionbudgets.policy", obj, "failed to create poddisruptionbudgets:")


def _number(said: str) -> Any:
    return int(said) if said.isdecimal() else said


def _selector(text: str) -> Object:
    try:
        requirements = selectors.parse_labels(text).requirements
    except ApiError as error:
        raise KubectlError(error.message) from None
    selector: Object = {}
    for requirement in requirements:
        if requirement.operator in ("=", "=="):
            selector.setdefault("matchLabels", {})[requirement.key] = requirement.values[0]
            continue
        expression = {
            "key": requirement.key,
            "operator": OPERATORS.get(requirement.operator, requirement.operator),
        }
        values = {"values": sorted(requirement.values)} if requirement.values else {}
        selector.setdefault("matchExpressions", []).append({**expression, **values})
    return selector


@command(
    "create priorityclass",
    "Create a class of priority for pods",
    examples=("kubectl create priorityclass urgent --value=1000",),
    aliases=("pc",),
)
async def priority_class(kubectl: Kubectl) -> None:
    """Make a PriorityClass."""
    name, flags = the_name(kubectl), kubectl.flags
    obj: Object = {
        "metadata": {"name": name},
        "value": flags["value"],
        "preemptionPolicy": flags["preemption-policy"],
    }
    if flags["global-default"]:
        obj["globalDefault"] = True
    if flags["description"]:
        obj["description"] = flags["description"]
    await create_built(kubectl, "priorityclasses.scheduling.k8s.io", obj, "failed to create priorityclass:")
