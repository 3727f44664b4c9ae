"""Volumes and claims in a description: of pods, of templates, and the source of a PersistentVolume."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.golang import sprint
from simcloud.kubectl.describe.page import INDENT, NONE, Page
from simcloud.kubectl.describe.parts import LONGEST_NOTE, annotation_lines, label_lines, shorten_line
from simcloud.kubectl.describe.volume_sources import OF_PODS, PERSISTENT, Source, flag
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.tables import access_modes, cells, class_of

_LEVEL = 2


def write_volumes(page: Page, volumes: Sequence[Object], level: int = 0) -> None:
    """The volumes of a pod, or of a template, which stands deeper."""
    if not volumes:
        page.field("Volumes", NONE, level)
        return
    page.line("Volumes:", level=level)
    for volume in volumes:
        page.line(f"{' ' * level}{cells.text(volume, 'name')}:", level=1)
        _write_source(page, volume, OF_PODS)


def write_persistent_source(page: Page, spec: Object) -> None:
    """What a PersistentVolume is made of."""
    _write_source(page, spec, PERSISTENT)


def _write_source(page: Page, holder: Object, known: dict[str, Source]) -> None:
    if holder.get("projected") is not None:
        _write_projected(page, holder["projected"])
        return
    if holder.get("downwardAPI") is not None:
        _write_downward(page, holder["downwardAPI"])
        return
    if holder.get("ephemeral") is not None:
        _write_ephemeral(page, holder["ephemeral"])
        return
    kind = next((key for key in known if holder.get(key) is not None), None)
    if kind is None:
        page.line("<unknown>", level=1)
        return
    source, (what, lines) = holder[kind], known[kind]
    page.field("Type", what, _LEVEL)
    for line in lines:
        page.line(line.heading, line.shown(source.get(line.field)), level=_LEVEL)
    if kind == "csi":
        _write_attributes(page, source.get("volumeAttributes") or {})


def _write_attributes(page: Page, attributes: Object) -> None:
    # Each further attribute is indented twice before its tab and once after it, and so is the first one.
    shown = [shorten_line(f"{key}={value}", LONGEST_NOTE) for key, value in sorted(attributes.items())]
    if not shown:
        page.field("VolumeAttributes", NONE, _LEVEL)
    else:
        page.several("VolumeAttributes", (f"    {line}" for line in shown), _LEVEL)


def _write_projected(page: Page, projected: Object) -> None:
    page.field("Type", "Projected (a volume that contains injected data from multiple sources)", _LEVEL)
    for source in cells.items(projected, "sources"):
        if (secret := source.get("secret")) is not None:
            page.field("SecretName", cells.text(secret, "name"), _LEVEL)
            page.field("Optional", flag(secret.get("optional")), _LEVEL)
        elif source.get("downwardAPI") is not None:
            page.field("DownwardAPI", "true", _LEVEL)
        elif (config := source.get("configMap")) is not None:
            page.field("ConfigMapName", cells.text(config, "name"), _LEVEL)
            page.field("Optional", flag(config.get("optional")), _LEVEL)
        elif (token := source.get("serviceAccountToken")) is not None:
            page.field("TokenExpirationSeconds", cells.count(token, "expirationSeconds"), _LEVEL)


def _write_downward(page: Page, downward: Object) -> None:
    page.field("Type", "DownwardAPI (a volume populated by information about the pod)", _LEVEL)
    page.line("Items:", level=_LEVEL)
    for item in cells.items(downward, "items"):
        for reference, field in (("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")):
            if item.get(reference) is not None:
                page.line(f"{cells.text(item[reference], field)} -> {cells.text(item, 'path')}", level=3)


def _write_ephemeral(page: Page, ephemeral: Object) -> None:
    what = "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)"
    page.field("Type", what, _LEVEL)
    template = ephemeral.get("volumeClaimTemplate")
    if template is not None:
        write_claim(page, template, _LEVEL)


def write_claim(page: Page, claim: Object, level: int = 0, phase: str | None = None) -> None:
    """A claim; ``phase`` is None for a template, which has no name, no state and no finalizers to show."""
    metadata, spec, status = (
        cells.part(claim, "metadata"),
        cells.part(claim, "spec"),
        cells.part(claim, "status"),
    )
    if phase is not None:
        page.field("Name", metadata["name"], level)
        page.field("Namespace", metadata.get("namespace", ""), level)
    page.field("StorageClass", class_of(claim), level)
    if phase is not None:
        page.field("Status", phase, level)
    page.field("Volume", cells.text(spec, "volumeName"), level)
    for title, lines in (
        ("Labels", label_lines(metadata.get("labels"))),
        ("Annotations", annotation_lines(metadata.get("annotations"))),
    ):
        # Inside a pod these values are indented once more, which is how kubectl happens to print them.
        page.several(title, (f"{INDENT * level}{line}" for line in lines or [NONE]), level)
    if phase is not None:
        page.field("Finalizers", sprint(cells.items(metadata, "finalizers")), level)
    bound = bool(spec.get("volumeName"))
    page.field(
        "Capacity", cells.amount(cells.part(status, "capacity").get("storage")) if bound else "", level
    )
    page.field("Access Modes", access_modes(cells.items(status, "accessModes")) if bound else "", level)
    page.optional("VolumeMode", spec.get("volumeMode"), level)
    source = spec.get("dataSource")
    if source is not None:
        page.line("DataSource:", level=level)
        page.optional("APIGroup", source.get("apiGroup"), level + 1)
        page.field("Kind", cells.text(source, "kind"), level + 1)
        page.field("Name", cells.text(source, "name"), level + 1)
