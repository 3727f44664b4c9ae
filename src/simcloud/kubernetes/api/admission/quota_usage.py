"""The usage of an object that a ResourceQuota counts: of pods, services and claims, and the count of other objects.

The quota controller and admission must agree: both use ``select_measured``, ``in_scopes`` and ``usage``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from simcloud.kubernetes.api import quantity, times
from simcloud.kubernetes.api.admission.plugin import CLAIMS, PODS
from simcloud.kubernetes.api.admission.storage import class_of
from simcloud.kubernetes.api.amounts import ONE, Amount, Amounts, amount, parse_amounts, pod_amounts
from simcloud.kubernetes.api.errors import qualify
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.strategies.pods import qos_class

SERVICES: Final = ("", "services")
_COUNTED_BY_NAME: Final = ("configmaps", "secrets", "replicationcontrollers", "resourcequotas")
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_OF_PODS: Final = frozenset(
    {"pods", "count/pods", *_COMPUTE}
    | {f"{part}.{name}" for part in ("requests", "limits") for name in _COMPUTE}
)
_OF_SERVICES: Final = frozenset(
    {"services", "services.nodeports", "services.loadbalancers", "count/services"}
)
_OF_CLAIMS: Final = ("persistentvolumeclaims", "requests.storage")
_BY_CLASS: Final = ".storageclass.storage.k8s.io/"
_NEEDED: Final = frozenset(
    f"{part}{name}" for part in ("", "requests.", "limits.") for name in ("cpu", "memory")
)
"""Every container must set these if a quota limits them."""


def select_measured(key: tuple[str, str], names: Iterable[str]) -> list[str]:
    """Those names of a quota that objects of this resource are charged for."""
    if key == PODS:
        return [name for name in names if name in _OF_PODS or _of_pods(name)]
    if key == SERVICES:
        return [name for name in names if name in _OF_SERVICES]
    if key == CLAIMS:
        return [name for name in names if name == "count/persistentvolumeclaims" or _of_claims(name)]
    own = count_names(key)
    return [name for name in names if name in own]


def resource_measured(name: str) -> tuple[str, str] | None:
    """The resource whose objects are charged under a name of a quota; None if none is."""
    if name.startswith("count/"):
        plural, _, group = name.removeprefix("count/").partition(".")
        return group, plural
    for key in (PODS, SERVICES, CLAIMS, *(("", plural) for plural in _COUNTED_BY_NAME)):
        if select_measured(key, [name]):
            return key
    return None


def count_names(key: tuple[str, str]) -> tuple[str, ...]:
    """Under which names objects of this resource are counted."""
    group, plural = key
    counted = f"count/{qualify(plural, group)}"
    return (counted, plural) if not group and plural in _COUNTED_BY_NAME else (counted,)


def _of_pods(name: str) -> bool:
    if name.startswith(("hugepages-", "requests.hugepages-")):
        return True
    rest = name.removeprefix("requests.")
    return name != rest and "/" in rest and "kubernetes.io/" not in rest and _BY_CLASS not in name


def _of_claims(name: str) -> bool:
    return name in _OF_CLAIMS or any(name.endswith(_BY_CLASS + measure) for measure in _OF_CLAIMS)


def usage(key: tuple[str, str], obj: Object, now_s: float) -> Amounts:
    """What an object is charged."""
    if key == PODS:
        return _pod(obj, now_s)
    if key == SERVICES:
        return _service(obj)
    if key == CLAIMS:
        return _claim(obj)
    return dict.fromkeys(count_names(key), ONE)


def _pod(pod: Object, now_s: float) -> Amounts:
    """A pod that has ended, or should have been gone by now, is only counted."""
    counted: Amounts = {"count/pods": ONE}
    if not is_charged(pod, now_s):
        return counted
    spec = pod["spec"]
    return {
        **counted,
        "pods": ONE,
        **_compute(pod_amounts(spec, "requests"), pod_amounts(spec, "limits")),
    }


def is_charged(pod: Object, now_s: float) -> bool:
    """Whether a pod still costs more than its place: not once it has ended, or should have."""
    return at(pod, "status", "phase") not in ("Failed", "Succeeded") and not _overdue(pod, now_s)


def _overdue(pod: Object, now_s: float) -> bool:
    metadata = pod["metadata"]
    if "deletionTimestamp" not in metadata or "deletionGracePeriodSeconds" not in metadata:
        return False
    # The time of deletion already holds the grace period once; the genuine rule adds it again.
    grace_s = float(metadata["deletionGracePeriodSeconds"])
    return now_s > times.parse(metadata["deletionTimestamp"]) + grace_s


def _compute(requests: Amounts, limits: Amounts) -> Amounts:
    found: Amounts = {}
    for name, value in requests.items():
        if name in _COMPUTE or name.startswith("hugepages-"):
            found[name] = found[f"requests.{name}"] = value
        elif "/" in name:
            found[f"requests.{name}"] = value
    found |= {f"limits.{name}": value for name, value in limits.items() if name in _COMPUTE}
    return found


def _service(service: Object) -> Amounts:
    spec = service.get("spec") or {}
    kind, ports = spec.get("type"), spec.get("ports") or []
    node_ports = 0
    if kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)):
        node_ports = len(ports)
    elif kind == "LoadBalancer":
        node_ports = sum(1 for port in ports if port.get("nodePort"))
    return {
        "count/services": ONE,
        "services": ONE,
        "services.nodeports": Amount(Fraction(node_ports)),
        "services.loadbalancers": Amount(Fraction(kind == "LoadBalancer")),
    }


def _claim(claim: Object) -> Amounts:
    found: Amounts = {"count/persistentvolumeclaims": ONE, "persistentvolumeclaims": ONE}
    asked = at(claim, "spec", "resources", "requests", "storage")
    allocated = at(claim, "status", "allocatedResources", "storage")
    if asked is not None:
        size = amount(asked)
        if allocated is not None and quantity.parse(allocated) > size.value:
            size = amount(allocated)
        found["requests.storage"] = Amount(Fraction(quantity.whole(str(size))), size.family)
    name = class_of(claim)
    if name:
        found |= {f"{name}{_BY_CLASS}{measure}": found[measure] for measure in _OF_CLAIMS if measure in found}
    return found


def missing(pod: Object, names: Iterable[str]) -> str:
    """What a pod must say and does not, of the names that a quota measures; empty if nothing is missing."""
    spec = pod["spec"]
    needed = sorted(_NEEDED.intersection(names))
    whole = _read_amounts(spec)
    lacking: list[str] = []
    for name in needed:
        silent = sorted(
            {
                str(container["name"])
                for part in ("containers", "initContainers")
                for container in spec.get(part) or ()
                if name not in whole and name not in _read_amounts(container)
            }
        )
        if silent:
            lacking.append(f"{name} for: {','.join(silent)}")
    return f"must specify {'; '.join(lacking)}" if lacking else ""


def _read_amounts(holder: Object) -> Amounts:
    resources = holder.get("resources") or {}
    return _compute(parse_amounts(resources.get("requests")), parse_amounts(resources.get("limits")))


def covers(quota: Object, key: tuple[str, str], obj: Object) -> bool:
    """Whether a quota speaks of an object: it measures such objects, and every scope of it holds."""
    return bool(select_measured(key, at(quota, "status", "hard") or {})) and in_scopes(
        quota["spec"], key, obj
    )


def in_scopes(spec: Object, key: tuple[str, str], obj: Object) -> bool:
    """Whether every scope that a quota's spec names holds for an object."""
    terms = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    terms += at(spec, "scopeSelector", "matchExpressions") or []
    return all(_in_scope(term, key, obj) for term in terms)


def _in_scope(term: Object, key: tuple[str, str], obj: Object) -> bool:
    scope, spec = str(term["scopeName"]), obj.get("spec") or {}
    if key == CLAIMS and scope == "VolumeAttributesClass":
        status = obj.get("status") or {}
        names = [spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName")]
        names.append(at(status, "modifyVolumeStatus", "targetVolumeAttributesClassName"))
        return any(_matches_selector(term, name) for name in dict.fromkeys(names) if name) or (
            not any(names) and _matches_selector(term, "")
        )
    if key != PODS:
        return False
    match scope:
        case "Terminating" | "NotTerminating":
            return (spec.get("activeDeadlineSeconds") is not None) == (scope == "Terminating")
        case "BestEffort" | "NotBestEffort":
            return (qos_class(spec) == "BestEffort") == (scope == "BestEffort")
        case "PriorityClass":
            return _matches_selector(term, spec.get("priorityClassName") or "")
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(spec)
    return False


def _matches_selector(term: Object, name: str) -> bool:
    values: list[str] = term.get("values") or []
    match term["operator"]:
        case "In":
            return name in values if name else False
        case "NotIn":
            return name not in values
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
    return False


def _crosses_namespaces(spec: Object) -> bool:
    terms: list[Object] = []
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = at(spec, "affinity", kind) or {}
        terms += affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [preference.get("podAffinityTerm") or {} for preference in preferred]
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)
