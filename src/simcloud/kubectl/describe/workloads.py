"""Deployments, ReplicaSets, ReplicationControllers, StatefulSets and DaemonSets."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.golang import sprint
from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import NONE, Page
from simcloud.kubectl.describe.parts import (
    controller_of,
    write_brief_conditions,
    write_controller,
    write_created,
    write_labels,
    write_metadata,
    write_name,
)
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubectl.describe.templates import pods_status, write_template
from simcloud.kubernetes.api import ApiError, Object, meta, selectors
from simcloud.kubernetes.api.tables import cells, class_of
from simcloud.kubernetes.controllers.deployments import by_age, new_and_old


@describes("apps", "Deployment")
async def describe_deployment(reader: Reader, obj: Object, show_events: bool) -> str:
    """A Deployment and its ReplicaSets."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    write_name(page, obj)
    write_created(page, obj)
    write_metadata(page, obj)
    page.field("Selector", selectors.from_label_selector(spec.get("selector")))
    counts = [f"{cells.count(spec, 'replicas')} desired", f"{cells.count(status, 'updatedReplicas')} updated"]
    counts += [
        f"{cells.count(status, 'replicas')} total",
        f"{cells.count(status, 'availableReplicas')} available",
    ]
    counts += [f"{cells.count(status, 'unavailableReplicas')} unavailable"]
    page.field("Replicas", " | ".join(counts))
    page.field("StrategyType", cells.part(spec, "strategy").get("type", ""))
    page.field("MinReadySeconds", cells.count(spec, "minReadySeconds"))
    rolling = cells.part(spec, "strategy").get("rollingUpdate")
    if rolling is not None:
        bounds = f"{rolling.get('maxUnavailable')} max unavailable, {rolling.get('maxSurge')} max surge"
        page.field("RollingUpdateStrategy", bounds)
    write_template(page, cells.part(spec, "template"))
    write_brief_conditions(page, cells.items(status, "conditions"))
    await _write_replica_sets(page, reader, obj)
    await write_events(page, reader, obj, show_events)
    return page.text()


async def _write_replica_sets(page: Page, reader: Reader, deployment: Object) -> None:
    metadata = meta(deployment)
    wanted = str(selectors.from_label_selector(cells.part(deployment, "spec").get("selector")))
    try:
        listed = await reader.list(reader.resource("replicasets.apps"), metadata["namespace"], labels=wanted)
    except ApiError:
        return
    owned = [item for item in listed if (controller_of(item) or {}).get("uid") == metadata["uid"]]
    new, old = new_and_old(deployment, by_age(owned))
    if owned:
        page.field("OldReplicaSets", _sizes(old))
        page.field("NewReplicaSet", _sizes([new] if new is not None else []))


def _sizes(sets: Sequence[Object]) -> str:
    shown = (
        f"{meta(replica_set)['name']} ({cells.count(cells.part(replica_set, 'status'), 'replicas')}/{cells.count(cells.part(replica_set, 'spec'), 'replicas')}"
        " replicas created)"
        for replica_set in sets
    )
    return ", ".join(shown) or NONE


@describes("apps", "ReplicaSet")
async def describe_replica_set(reader: Reader, obj: Object, show_events: bool) -> str:
    """A ReplicaSet."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    write_name(page, obj)
    page.field("Selector", cells.selector(spec.get("selector")))
    write_metadata(page, obj)
    write_controller(page, obj)
    page.field(
        "Replicas", f"{cells.count(status, 'replicas')} current / {cells.count(spec, 'replicas')} desired"
    )
    try:
        pods = await pods_status(reader, obj, selectors.from_label_selector(spec.get("selector")))
    except ApiError as error:
        pods = f"error in fetching pods: {error.message}"
    page.field("Pods Status", pods)
    write_template(page, cells.part(spec, "template"))
    write_brief_conditions(page, cells.items(status, "conditions"))
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes("", "ReplicationController")
async def describe_replication_controller(reader: Reader, obj: Object, show_events: bool) -> str:
    """A ReplicationController."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    pods = await pods_status(reader, obj, selectors.from_set(spec.get("selector")))
    write_name(page, obj)
    page.field("Selector", cells.labels(spec.get("selector")))
    write_metadata(page, obj)
    page.field(
        "Replicas", f"{cells.count(status, 'replicas')} current / {cells.count(spec, 'replicas')} desired"
    )
    page.field("Pods Status", pods)
    write_template(page, spec.get("template"))
    write_brief_conditions(page, cells.items(status, "conditions"))
    await write_events(page, reader, obj, show_events)
    return page.text()


@describes("apps", "StatefulSet")
async def describe_stateful_set(reader: Reader, obj: Object, show_events: bool) -> str:
    """A StatefulSet."""
    page, spec = Page(), cells.part(obj, "spec")
    wanted = selectors.from_label_selector(spec.get("selector"))
    pods = await pods_status(reader, obj, wanted)
    write_name(page, obj)
    write_created(page, obj)
    page.field("Selector", wanted)
    write_metadata(page, obj)
    total = cells.count(cells.part(obj, "status"), "replicas")
    page.field("Replicas", f"{cells.count(spec, 'replicas')} desired | {total} total")
    page.field("Update Strategy", cells.part(spec, "updateStrategy").get("type", ""))
    rolling = cells.part(spec, "updateStrategy", "rollingUpdate")
    if rolling.get("partition") is not None:
        page.field("Partition", rolling["partition"], 1)
        if rolling.get("maxUnavailable") is not None:
            page.field("MaxUnavailable", rolling["maxUnavailable"], 1)
    page.field("Pods Status", pods)
    write_template(page, cells.part(spec, "template"))
    _write_claim_templates(page, cells.items(spec, "volumeClaimTemplates"))
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_claim_templates(page: Page, templates: Sequence[Object]) -> None:
    if not templates:
        page.field("Volume Claims", NONE)
        return
    page.line("Volume Claims:")
    for template in templates:
        metadata, spec = cells.part(template, "metadata"), cells.part(template, "spec")
        page.field("Name", cells.text(metadata, "name"), 1)
        page.field("StorageClass", class_of(template), 1)
        write_labels(page, "Labels", metadata.get("labels"), 1)
        write_labels(page, "Annotations", metadata.get("annotations"), 1)
        capacity = cells.part(spec, "resources", "requests").get("storage")
        page.field("Capacity", "<default>" if capacity is None else cells.amount(capacity), 1)
        page.field("Access Modes", sprint(cells.items(spec, "accessModes")), 1)


@describes("apps", "DaemonSet")
async def describe_daemon_set(reader: Reader, obj: Object, show_events: bool) -> str:
    """A DaemonSet."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    wanted = selectors.from_label_selector(spec.get("selector"))
    pods = await pods_status(reader, obj, wanted)
    write_name(page, obj)
    page.field("Selector", wanted)
    page.field("Node-Selector", cells.labels(cells.part(spec, "template", "spec").get("nodeSelector")))
    write_metadata(page, obj)
    for title, key in (
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ):
        page.line(f"{title}: {cells.count(status, key)}")
    page.field("Pods Status", pods)
    write_template(page, cells.part(spec, "template"))
    await write_events(page, reader, obj, show_events)
    return page.text()
