"""Pod templates, and the counts of their pods."""

from __future__ import annotations

from collections import Counter

from simcloud.kubectl.describe.containers import write_containers
from simcloud.kubectl.describe.page import UNSET, Page
from simcloud.kubectl.describe.parts import (
    controller_of,
    write_annotations,
    write_labels,
    write_spread,
    write_tolerations,
)
from simcloud.kubectl.describe.pods import write_scheduling_group
from simcloud.kubectl.describe.registry import Reader
from simcloud.kubectl.describe.volumes import write_volumes
from simcloud.kubernetes.api import LabelSelector, Object, meta
from simcloud.kubernetes.api.tables import cells


def write_template(page: Page, template: Object | None) -> None:
    """What new pods will be like."""
    page.line("Pod Template:")
    if template is None:
        page.write(f"  {UNSET}")
        return
    metadata, spec = cells.part(template, "metadata"), cells.part(template, "spec")
    write_labels(page, "Labels", metadata.get("labels"), 1)
    if metadata.get("annotations"):
        write_annotations(page, metadata["annotations"], 1)
    page.optional("Service Account", spec.get("serviceAccountName"), 1)
    if cells.items(spec, "initContainers"):
        write_containers(page, "Init Containers", spec["initContainers"])
    write_containers(page, "Containers", cells.items(spec, "containers"))
    write_volumes(page, cells.items(spec, "volumes"), 1)
    write_spread(page, cells.items(spec, "topologySpreadConstraints"), 1)
    page.optional("Priority Class Name", spec.get("priorityClassName"), 1)
    write_labels(page, "Node-Selectors", spec.get("nodeSelector"), 1)
    write_tolerations(page, cells.items(spec, "tolerations"), 1)
    write_scheduling_group(page, spec, 1)


async def pods_status(reader: Reader, owner: Object, selector: LabelSelector) -> str:
    """How many pods of an owner are in which phase."""
    found = await reader.list(reader.resource("pods"), meta(owner)["namespace"], labels=str(selector))
    phases: Counter[str] = Counter()
    for pod in found:
        controller = controller_of(pod)
        if controller is not None and controller.get("uid") == meta(owner)["uid"]:
            phases[cells.text(cells.part(pod, "status"), "phase")] += 1
    return (
        f"{phases['Running']} Running / {phases['Pending']} Waiting / "
        f"{phases['Succeeded']} Succeeded / {phases['Failed']} Failed"
    )
