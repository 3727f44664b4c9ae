"""LimitRanger: apply a namespace's LimitRanges to new pods and claims, as defaults and as limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import (
    CLAIMS,
    PODS,
    Quiet,
    aggregate,
    creates,
    make_refusal,
    updates,
)
from simcloud.kubernetes.api.amounts import Amount, Amounts, parse_amounts, pod_amounts
from simcloud.kubernetes.api.objects import Object, at

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

ANNOTATION: Final = "kubernetes.io/limit-ranger"


class LimitRanger(Quiet):
    """Applies every LimitRange of the namespace, in the order of their names."""

    resources = (PODS, CLAIMS)

    def admit(self, write: Write) -> None:
        if creates(write, PODS):
            for limits in _ranges(write):
                _give_defaults(write.new, limits)

    def check(self, write: Write) -> None:
        pod = creates(write, PODS) or updates(write, PODS, "resize")
        if not pod and not creates(write, CLAIMS) and not updates(write, CLAIMS):
            return
        if write.old is not None and "deletionTimestamp" in write.old["metadata"]:
            return
        for limits in _ranges(write):
            problems = list(_pod_problems(write.new, limits) if pod else _claim_problems(write.new, limits))
            if problems:
                raise make_refusal(write, aggregate(problems))


def _ranges(write: Write) -> list[Object]:
    return write.api.log.objects("", "limitranges", write.key.namespace)


def _items(limits: Object) -> list[Object]:
    return at(limits, "spec", "limits") or []


def _give_defaults(pod: Object, limits: Object) -> None:
    requests: dict[str, str] = {}
    most: dict[str, str] = {}
    for item in _items(limits):
        if item["type"] == "Container":
            requests |= item.get("defaultRequest") or {}
            most |= item.get("default") or {}
    changes: list[str] = []
    for part, word in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(part) or ():
            for kind, defaults, name in (("requests", requests, "request"), ("limits", most, "limit")):
                given = _fill(container, kind, defaults)
                if given:
                    changes.append(f"{', '.join(given)} {name} for {word} {container.get('name', '')}")
    if changes:
        annotations = pod["metadata"].get("annotations") or {}
        pod["metadata"]["annotations"] = {
            **annotations,
            ANNOTATION: f"LimitRanger plugin set: {'; '.join(changes)}",
        }


def _fill(container: Object, kind: str, defaults: dict[str, str]) -> list[str]:
    """Give a container the defaults that it does not say itself; the names of what was given."""
    resources = container.get("resources") or {}
    said = resources.get(kind) or {}
    given = sorted(name for name in defaults if name not in said)
    if given:
        container["resources"] = {**resources, kind: {**said, **{name: defaults[name] for name in given}}}
    return given


def _pod_problems(pod: Object, limits: Object) -> Iterator[str]:
    spec = pod["spec"]
    for item in _items(limits):
        if item["type"] == "Container":
            for part in ("containers", "initContainers"):
                for container in spec.get(part) or ():
                    resources = container.get("resources") or {}
                    yield from _constraints(
                        item, parse_amounts(resources.get("requests")), parse_amounts(resources.get("limits"))
                    )
        elif item["type"] == "Pod":
            yield from _constraints(item, pod_amounts(spec, "requests"), pod_amounts(spec, "limits"))


def _constraints(item: Object, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = item["type"]
    for name, bound in sorted(parse_amounts(item.get("min")).items()):
        yield from _at_least(f"minimum {name} usage per {kind} is {bound}", bound, name, requests, limits)
    for name, bound in sorted(parse_amounts(item.get("max")).items()):
        yield from _at_most(f"maximum {name} usage per {kind} is {bound}", bound, name, requests, limits)
    for name, bound in sorted(parse_amounts(item.get("maxLimitRequestRatio")).items()):
        rule = f"{name} max limit to request ratio per {kind} is {bound}"
        yield from _ratio(rule, bound, requests.get(name), limits.get(name))


def _at_least(rule: str, bound: Amount, name: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    if name not in requests:
        yield f"{rule}.  No request is specified"
    elif requests[name].value < bound.value:
        yield f"{rule}, but request is {requests[name]}"
    elif name in limits and limits[name].value < bound.value:
        yield f"{rule}, but limit is {limits[name]}"


def _at_most(rule: str, bound: Amount, name: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    if name not in limits:
        yield f"{rule}.  No limit is specified"
    elif limits[name].value > bound.value:
        yield f"{rule}, but limit is {limits[name]}"
    elif name in requests and requests[name].value > bound.value:
        yield f"{rule}, but request is {requests[name]}"


def _ratio(rule: str, bound: Amount, request: Amount | None, limit: Amount | None) -> Iterator[str]:
    if request is None or not request.value:
        yield f"{rule}, but no request is specified or request is 0"
    elif limit is None or not limit.value:
        yield f"{rule}, but no limit is specified or limit is 0"
    elif limit.value / request.value > bound.value:
        yield f"{rule}, but provided ratio is {float(limit.value / request.value):f}"


def _claim_problems(claim: Object, limits: Object) -> Iterator[str]:
    requests = parse_amounts(at(claim, "spec", "resources", "requests"))
    for item in _items(limits):
        kind = item["type"]
        if kind != "PersistentVolumeClaim":
            continue
        for name, bound in sorted(parse_amounts(item.get("min")).items()):
            yield from _at_least(f"minimum {name} usage per {kind} is {bound}", bound, name, requests, {})
        for name, bound in sorted(parse_amounts(item.get("max")).items()):
            rule = f"maximum {name} usage per {kind} is {bound}"
            if name not in requests:
                yield f"{rule}.  No request is specified"
            elif requests[name].value > bound.value:
                yield f"{rule}, but request is {requests[name]}"
