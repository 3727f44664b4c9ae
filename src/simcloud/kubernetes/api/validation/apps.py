"""Workloads that keep pods running: Deployments, ReplicaSets, DaemonSets, StatefulSets, ReplicationControllers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object, name_of
from simcloud.kubernetes.api.validation.common import (
    Errors,
    items,
    make_errors,
    mapping,
    non_negative,
    non_negative_fields,
    number,
    one_of,
    same,
    text,
)
from simcloud.kubernetes.api.validation.go_types import as_go
from simcloud.kubernetes.api.validation.labels import (
    by_key,
    format_selector,
    is_empty,
    is_sound,
    same_selector,
    selector_errors,
)
from simcloud.kubernetes.api.validation.names import dns1123_label, percent
from simcloud.kubernetes.api.validation.pods import claims
from simcloud.kubernetes.api.validation.pods.template import (
    NOT_SELECTED,
    always_running,
    check_selected,
    pod_template,
)
from simcloud.kubernetes.api.validation.pods.warnings import for_template, hostname_warning
from simcloud.kubernetes.api.validation.registry import validates, warns

_SET_MAY_CHANGE = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)


@validates("apps", "Deployment")
def _deployment(new: Object, old: Object | None) -> Errors:
    spec, template = mapping(new, "spec"), mapping(mapping(new, "spec"), "template")
    errors = non_negative("spec.replicas", number(spec, "replicas"))
    errors += _selector(spec, "deployment")
    errors += _check_replica_template(spec, template)
    errors += _deployment_strategy(spec.get("strategy") or {})
    errors += non_negative("spec.minReadySeconds", number(spec, "minReadySeconds"))
    errors += non_negative_fields("spec", spec, "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= number(spec, "minReadySeconds"):
        errors.append(
            invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
        )
    return errors + _same_selector(spec, old)


@validates("apps", "ReplicaSet")
def _replica_set(new: Object, old: Object | None) -> Errors:
    spec, template = mapping(new, "spec"), mapping(mapping(new, "spec"), "template")
    errors = non_negative("spec.replicas", number(spec, "replicas"))
    errors += non_negative("spec.minReadySeconds", number(spec, "minReadySeconds"))
    errors += _selector(spec, "deployment")
    return errors + _check_replica_template(spec, template) + _same_selector(spec, old)


def _selector(spec: Mapping[str, Any], kind: str) -> Errors:
    selector = spec.get("selector")
    if selector is None:
        return [required("spec.selector")]
    errors = selector_errors("spec.selector", selector)
    if is_empty(selector):
        errors.append(
            invalid("spec.selector", format_selector(selector), f"empty selector is invalid for {kind}")
        )
    return errors


def _check_replica_template(spec: Mapping[str, Any], template: Mapping[str, Any]) -> Errors:
    """The template of a Deployment or a ReplicaSet."""
    selector = spec.get("selector")
    if not is_sound(selector):
        return [invalid("spec.selector", format_selector(selector), "invalid label selector")]
    errors = (
        []
        if is_empty(selector) and selector is not None
        else check_selected("spec.template", template, selector)
    )
    return (
        errors
        + pod_template("spec.template", template)
        + always_running("spec.template", template, "ReplicaSet")
    )


def _same_selector(spec: Mapping[str, Any], old: Object | None) -> Errors:
    if old is None:
        return []
    return same_selector("spec.selector", spec.get("selector"), mapping(old, "spec").get("selector"))


def _deployment_strategy(strategy: Mapping[str, Any]) -> Errors:
    kind, rolling = text(strategy, "type"), strategy.get("rollingUpdate")
    at = "spec.strategy.rollingUpdate"
    if kind == "Recreate":
        message = "may not be specified when strategy `type` is 'Recreate'"
        return [] if rolling is None else [forbidden(at, message)]
    if kind != "RollingUpdate":
        shown = as_go("DeploymentStrategy", strategy)
        return [not_supported("spec.strategy", shown, ("Recreate", "RollingUpdate"))]
    if rolling is None:
        return [required(at, "this should be defaulted and never be nil")]
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    errors = int_or_percent(f"{at}.maxUnavailable", unavailable) + int_or_percent(f"{at}.maxSurge", surge)
    if parse_int_or_percent(unavailable) == 0 and parse_int_or_percent(surge) == 0:
        errors.append(invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0"))
    return errors + at_most_all(f"{at}.maxUnavailable", unavailable)


def int_or_percent(path: str, value: int | str) -> Errors:
    """A number of zero or more, or a share."""
    if isinstance(value, str):
        return make_errors(path, value, percent(value))
    return non_negative(path, value)


def parse_int_or_percent(value: int | str) -> int:
    """The number, or the number before the percent sign."""
    if isinstance(value, int):
        return value
    return int(value[:-1][:18]) if not percent(value) else 0


def at_most_all(path: str, value: int | str) -> Errors:
    """A share of no more than the whole."""
    if isinstance(value, int) or parse_int_or_percent(value) <= 100:
        return []
    return [invalid(path, value, "must not be greater than 100%")]


@validates("apps", "DaemonSet")
def _daemon_set(new: Object, old: Object | None) -> Errors:
    spec, template = mapping(new, "spec"), mapping(mapping(new, "spec"), "template")
    selector = spec.get("selector")
    errors = selector_errors("spec.selector", selector)
    if is_sound(selector) and not (selector is not None and is_empty(selector)):
        errors += check_selected("spec.template", template, selector)
    if selector is not None and is_empty(selector):
        errors.append(
            invalid("spec.selector", format_selector(selector), "empty selector is invalid for daemonset")
        )
    errors += pod_template("spec.template", template)
    errors += always_running("spec.template", template, "DaemonSet")
    errors += non_negative("spec.minReadySeconds", number(spec, "minReadySeconds"))
    errors += _daemon_strategy(spec.get("updateStrategy") or {})
    errors += non_negative_fields("spec", spec, "revisionHistoryLimit")
    return errors + _same_selector(spec, old)


def _daemon_strategy(strategy: Mapping[str, Any]) -> Errors:
    kind, rolling, at = (
        text(strategy, "type"),
        strategy.get("rollingUpdate"),
        "spec.updateStrategy.rollingUpdate",
    )
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        shown = as_go("DaemonSetUpdateStrategy", strategy)
        return [not_supported("spec.updateStrategy", shown, ("RollingUpdate", "OnDelete"))]
    if rolling is None:
        return [required(at)]
    values = [(f"{at}.{key}", rolling.get(key, 0)) for key in ("maxUnavailable", "maxSurge")]
    errors = [error for path, value in values for error in int_or_percent(path, value)]
    errors += [error for path, value in values for error in at_most_all(path, value)]
    unavailable, surge = (parse_int_or_percent(value) for _, value in values)
    if unavailable and surge:
        message = "may not be set when maxUnavailable is non-zero"
        errors.append(invalid(f"{at}.maxSurge", values[1][1], message))
    elif not unavailable and not surge:
        errors.append(required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return errors


@validates("apps", "StatefulSet")
def _stateful_set(new: Object, old: Object | None) -> Errors:
    spec = mapping(new, "spec")
    errors = _stateful_spec(spec, old is None)
    if old is None:
        return errors
    former = mapping(old, "spec")
    kept = {**spec, **{key: former.get(key) for key in _SET_MAY_CHANGE}}
    if not same(kept, former):
        message = (
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
            "'minReadySeconds' are forbidden"
        )
        errors.append(forbidden("spec", message))
    return errors


def _stateful_spec(spec: Mapping[str, Any], is_new: bool) -> Errors:
    template, selector = mapping(spec, "template"), spec.get("selector")
    errors = _pod_management(text(spec, "podManagementPolicy"))
    errors += _stateful_strategy(spec.get("updateStrategy") or {})
    errors += _retention(spec.get("persistentVolumeClaimRetentionPolicy"))
    for key in ("replicas", "minReadySeconds"):
        errors += non_negative(f"spec.{key}", number(spec, key))
    errors += non_negative("spec.ordinals.start", number(mapping(spec, "ordinals"), "start"))
    service = text(spec, "serviceName")
    if is_new and service:
        errors += make_errors("spec.serviceName", service, dns1123_label(service))
    errors += _selector(spec, "statefulset")
    if not is_sound(selector):
        errors.append(invalid("spec.selector", format_selector(selector), ""))
    elif selector is None or not is_empty(selector):
        errors += check_selected("spec.template", template, selector)
    errors += pod_template("spec.template", _with_claims(spec, template))
    errors += always_running("spec.template", template, "StatefulSet")
    for index, claim in enumerate(items(spec, "volumeClaimTemplates")):
        errors += claims.claim_spec(f"spec.volumeClaimTemplates[{index}].spec", mapping(claim, "spec"))
    return errors


def _with_claims(spec: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """The template as its pods will be: with a volume for each claim, in place of one of that name."""
    names = dict.fromkeys(
        text(mapping(claim, "metadata"), "name") for claim in items(spec, "volumeClaimTemplates")
    )
    pod = mapping(template, "spec")
    others = [volume for volume in items(pod, "volumes") if text(volume, "name") not in names]
    made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return {**template, "spec": {**pod, "volumes": [*others, *made]}}


def _pod_management(policy: str) -> Errors:
    path = "spec.podManagementPolicy"
    if not policy:
        return [required(path)]
    if policy in ("OrderedReady", "Parallel"):
        return []
    return [invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")]


def _stateful_strategy(strategy: Mapping[str, Any]) -> Errors:
    kind, rolling, path = text(strategy, "type"), strategy.get("rollingUpdate"), "spec.updateStrategy"
    if not kind:
        return [required(path)]
    if kind == "OnDelete":
        message = "only allowed for updateStrategy 'RollingUpdate'"
        shown = as_go("RollingUpdateStatefulSet", rolling or {})
        return [] if rolling is None else [invalid(f"{path}.rollingUpdate", shown, message)]
    if kind != "RollingUpdate":
        shown = as_go("StatefulSetUpdateStrategy", strategy)
        return [invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]
    if rolling is None:
        return []
    errors = non_negative(f"{path}.rollingUpdate.partition", number(rolling, "partition"))
    unavailable, at = rolling.get("maxUnavailable"), f"{path}.rollingUpdate.maxUnavailable"
    if unavailable is not None:
        errors += int_or_percent(at, unavailable)
        if parse_int_or_percent(unavailable) == 0:
            errors.append(invalid(at, unavailable, "cannot be 0"))
        errors += at_most_all(at, unavailable)
    return errors


def _retention(policy: Mapping[str, Any] | None) -> Errors:
    if policy is None:
        return []
    path = "spec.persistentVolumeClaimRetentionPolicy"
    return [
        error
        for key in ("whenDeleted", "whenScaled")
        for error in one_of(f"{path}.{key}", text(policy, key), ("Retain", "Delete"))
    ]


@validates("", "ReplicationController")
def _replication_controller(new: Object, old: Object | None) -> Errors:
    spec = mapping(new, "spec")
    template, chosen = spec.get("template"), mapping(spec, "selector")
    errors = non_negative("spec.minReadySeconds", number(spec, "minReadySeconds"))
    if not chosen:
        errors.append(required("spec.selector"))
    if spec.get("replicas") is None:
        errors.append(required("spec.replicas"))
    else:
        errors += non_negative("spec.replicas", spec["replicas"])
    if template is None:
        return [*errors, required("spec.template")]
    labels = mapping(template, "metadata").get("labels")
    if any((labels or {}).get(key) != value for key, value in chosen.items()):
        errors.append(invalid("spec.template.metadata.labels", by_key(labels), NOT_SELECTED))
    errors += pod_template("spec.template", template)
    return errors + always_running("spec.template", template, "ReplicationController")


@warns("apps", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")
@warns("", "ReplicationController")
def _warnings(new: Object, old: Object | None) -> list[str]:
    messages: list[str] = []
    spec = mapping(new, "spec")
    if old is None and new.get("kind") in ("Deployment", "ReplicaSet", "ReplicationController"):
        messages += hostname_warning(name_of(new), "Pod names and hostnames")
    if old is None or not same(spec.get("template"), mapping(old, "spec").get("template")):
        messages += for_template("spec.template", mapping(spec, "template"))
    if new.get("kind") == "StatefulSet" and number(spec, "revisionHistoryLimit") < 0:
        why = "a negative value retains all historical revisions; a value >= 0 is recommended"
        messages.append(f"spec.revisionHistoryLimit: {why}")
    return messages
