"""HorizontalPodAutoscalers, PodDisruptionBudgets and PriorityClasses."""

from __future__ import annotations

from typing import Any, Final

from simcloud.golang import quote, sprint
from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import UNSET, Page
from simcloud.kubectl.describe.parts import write_created, write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubernetes.api import Object, meta, name_of, namespace_of
from simcloud.kubernetes.api.tables import cells

_UNKNOWN: Final = "<unknown>"
_SOURCES: Final = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


@describes("autoscaling", "HorizontalPodAutoscaler")
async def describe_autoscaler(reader: Reader, obj: Object, show_events: bool) -> str:
    """A HorizontalPodAutoscaler, in its second version whichever was asked for."""
    resource = reader.resource("horizontalpodautoscalers.autoscaling")
    if obj["apiVersion"] != resource.api_version:
        obj = await reader.get(resource, namespace_of(obj), name_of(obj))
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    target = cells.part(spec, "scaleTargetRef")
    write_name(page, obj)
    write_metadata(page, obj)
    write_created(page, obj)
    page.field("Reference", f"{cells.text(target, 'kind')}/{cells.text(target, 'name')}")
    page.field("Metrics", "( current / target )")
    seen = cells.items(status, "currentMetrics")
    for number, metric in enumerate(cells.items(spec, "metrics")):
        page.line(*_metric(metric, seen[number] if number < len(seen) else {}), level=1)
    least = spec.get("minReplicas")
    page.field("Min replicas", UNSET if least is None else least)
    page.field("Max replicas", cells.count(spec, "maxReplicas"))
    if spec.get("behavior") is not None:
        page.line("Behavior:")
        for title, key in (("Scale Up", "scaleUp"), ("Scale Down", "scaleDown")):
            _write_behaviour(page, title, spec["behavior"].get(key))
    current, desired = cells.count(status, "currentReplicas"), cells.count(status, "desiredReplicas")
    page.field(f"{cells.text(target, 'kind')} pods", f"{current} current / {desired} desired")
    conditions = cells.items(status, "conditions")
    if conditions:
        page.line("Conditions:")
        rows = [
            (
                cells.text(condition, "type"),
                cells.text(condition, "status"),
                cells.text(condition, "reason"),
                cells.text(condition, "message"),
            )
            for condition in conditions
        ]
        page.table(("Type", "Status", "Reason", "Message"), rows)
    await write_events(page, reader, obj, show_events)
    return page.text()


def _metric(metric: Object, seen: Object) -> tuple[str, ...]:
    """A metric's name, and its current and wanted value."""
    kind = cells.text(metric, "type")
    key = _SOURCES.get(kind)
    if key is None:
        return (f"<unknown metric type {quote(kind)}>",)
    source, target = cells.part(metric, key), cells.part(metric, key, "target")
    current = cells.part(seen, key, "current") if seen.get(key) is not None else None
    name = cells.part(source, "metric").get("name", "")
    if key == "external":
        by = "averageValue" if target.get("averageValue") is not None else "value"
        heading = f"{quote(name)} (target {'average ' if by == 'averageValue' else ''}value):"
        missing = by == "averageValue" and (current or {}).get(by) is None
        return heading, f"{_UNKNOWN if missing else _value(current, by)} / {cells.amount(target.get(by))}"
    if key == "pods":
        heading = f"{quote(name)} on pods:"
        return heading, f"{_value(current, 'averageValue')} / {cells.amount(target.get('averageValue'))}"
    if key == "object":
        described = cells.part(source, "describedObject")
        by = "averageValue" if target.get("type") == "AverageValue" else "value"
        word = "average value" if by == "averageValue" else "value"
        heading = (
            f'"{name}" on {cells.text(described, "kind")}/{cells.text(described, "name")} (target {word}):'
        )
        return heading, f"{_value(current, by)} / {cells.amount(target.get(by))}"
    return _usage(source, target, current, key)


def _usage(source: Object, target: Object, current: Object | None, key: str) -> tuple[str, ...]:
    """Of a resource of pods, or of one container of them."""
    container = f' of container "{cells.text(source, "container")}"' if key == "containerResource" else ""
    heading = f"resource {cells.text(source, 'name')}{container} on pods"
    if target.get("averageValue") is not None:
        return f"{heading}:", f"{_value(current, 'averageValue')} / {cells.amount(target['averageValue'])}"
    shown = _UNKNOWN
    if current is not None and current.get("averageUtilization") is not None:
        shown = f"{current['averageUtilization']}% ({_value(current, 'averageValue')})"
    wanted = target.get("averageUtilization")
    return (
        f"{heading}  (as a percentage of request):",
        f"{shown} / {'<auto>' if wanted is None else f'{wanted}%'}",
    )


def _value(current: Object | None, by: str) -> str:
    if current is None:
        return _UNKNOWN
    value: Any = current.get(by)
    return "<nil>" if value is None else cells.amount(value)


def _write_behaviour(page: Page, title: str, rules: Object | None) -> None:
    if rules is None:
        return
    page.line(f"{title}:", level=1)
    if rules.get("stabilizationWindowSeconds") is not None:
        page.line(f"Stabilization Window: {rules['stabilizationWindowSeconds']} seconds", level=2)
    policies = cells.items(rules, "policies")
    if policies:
        page.line(f"Select Policy: {rules.get('selectPolicy') or 'Max'}", level=2)
        page.line("Policies:", level=2)
    for policy in policies:
        period = f"Period: {cells.count(policy, 'periodSeconds')} seconds"
        page.line(
            f"- Type: {cells.text(policy, 'type')}", f"Value: {cells.count(policy, 'value')}", period, level=3
        )


@describes("policy", "PodDisruptionBudget")
async def describe_disruption_budget(reader: Reader, obj: Object, show_events: bool) -> str:
    """A PodDisruptionBudget."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    write_name(page, obj)
    if spec.get("minAvailable") is not None:
        page.field("Min available", spec["minAvailable"])
    elif spec.get("maxUnavailable") is not None:
        page.field("Max unavailable", spec["maxUnavailable"])
    page.field("Selector", UNSET if spec.get("selector") is None else cells.selector(spec["selector"]))
    page.line("Status:")
    page.field("Allowed disruptions", cells.count(status, "disruptionsAllowed"), 2)
    page.field("Current", cells.count(status, "currentHealthy"), 2)
    page.field("Desired", cells.count(status, "desiredHealthy"), 2)
    page.field("Total", cells.count(status, "expectedPods"), 2)
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes("scheduling.k8s.io", "PriorityClass")
async def describe_priority_class(reader: Reader, obj: Object, show_events: bool) -> str:
    """A PriorityClass."""
    page = Page()
    write_name(page, obj, namespace=False)
    page.field("Value", cells.count(obj, "value"))
    page.field("GlobalDefault", sprint(bool(obj.get("globalDefault"))))
    page.field("PreemptionPolicy", cells.text(obj, "preemptionPolicy"))
    page.field("Description", cells.text(obj, "description"))
    page.field("Annotations", cells.labels(meta(obj).get("annotations")))
    await write_events(page, reader, obj, show_events)
    return page.text()
