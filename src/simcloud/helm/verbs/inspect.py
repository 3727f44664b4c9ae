"""``helm list``, ``status``, ``history`` and ``get``: information about releases."""

from __future__ import annotations

from typing import Any

from simcloud.helm.command import command, group
from simcloud.helm.errors import HelmError
from simcloud.helm.functions.regexes import REGEXES
from simcloud.helm.releases import Release, in_order
from simcloud.helm.render import check_name
from simcloud.helm.session import Helm
from simcloud.helm.values import coalesce
from simcloud.helm.views import ansi, format_value, long_time, moment, table, write_release

group("get", "What is stored of a release: values, manifest, hooks, notes", aliases=())


@command("list", "Releases of the namespace", most=0, aliases=("ls",))
async def list_releases(helm: Helm) -> None:
    """Releases of the namespace, or of all."""
    flags = helm.flags
    storage = await helm.storage(everywhere=bool(flags["all-namespaces"]))
    found = _latest(await storage.all(flags["selector"]), helm)
    if flags["filter"]:
        matches = REGEXES["regexMatch"].call
        found = [release for release in found if matches(flags["filter"], release.name)]
    if flags["date"]:
        found.sort(key=lambda one: moment(one.last_deployed).seconds)
    else:
        found.sort(key=lambda one: one.name)
    if flags["reverse"]:
        found.reverse()
    start = int(flags["offset"])
    most = int(flags["max"]) or len(found)
    found = found[start : start + most]
    if flags["short"]:
        await _short(helm, found)
        return
    rows = [_row(release) for release in found]
    names = ("name", "namespace", "revision", "updated", "status", "chart", "app_version")
    if flags["output"] != "table":
        await helm.out(format_value(flags["output"], [dict(zip(names, row, strict=True)) for row in rows]))
        return
    head = ("NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION")
    await helm.out(table(() if flags["no-headers"] else head, rows))


async def _short(helm: Helm, found: list[Release]) -> None:
    names = [release.name for release in found]
    if helm.flags["output"] == "table":
        await helm.out("".join(f"{name}\n" for name in names))
    else:
        await helm.out(format_value(helm.flags["output"], names))


def _latest(releases: list[Release], helm: Helm) -> list[Release]:
    """The newest revision of each, if its state is asked for."""
    newest: dict[tuple[str, str], Release] = {}
    chosen = _states(helm)
    if "superseded" in chosen and len(chosen) < 8:
        return [release for release in releases if release.status in chosen]
    for release in releases:
        held = newest.get((release.namespace, release.name))
        if held is None or release.version > held.version:
            newest[release.namespace, release.name] = release
    return [release for release in newest.values() if release.status in chosen]


def _states(helm: Helm) -> list[str]:
    flags = helm.flags
    every = ["unknown", "deployed", "uninstalled", "superseded", "failed", "uninstalling"]
    pending = ["pending-install", "pending-upgrade", "pending-rollback"]
    if flags["all"]:
        return every + pending
    chosen = [
        name for name in ("deployed", "uninstalled", "uninstalling", "failed", "superseded") if flags[name]
    ]
    chosen += pending if flags["pending"] else []
    return chosen or ["deployed", "failed"]


def _row(one: Release) -> tuple[str, ...]:
    app = str(one.chart.metadata.get("appVersion", ""))
    updated = long_time(one.last_deployed) or "-"
    return (one.name, one.namespace, str(one.version), updated, one.status, _chart(one), app)


def _chart(one: Release) -> str:
    return f"{one.chart.name}-{one.chart.version}"


@command("history", "The revisions of a release", least=1, most=1, aliases=("hist",))
async def history(helm: Helm) -> None:
    """The revisions of a release."""
    check_name(helm.args[0])
    found = await (await helm.storage()).history(helm.args[0])
    found = found[-int(helm.flags["max"]) :] if helm.flags["max"] else []
    if helm.flags["output"] == "table":
        head = ("REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "DESCRIPTION")
        rows = [
            (str(release.version), ansi(release.last_deployed), release.status, _chart(release),
             str(release.chart.metadata.get("appVersion", "")), release.description)
            for release in found
        ]  # fmt: skip
        await helm.out(table(head, rows))
        return
    entries: list[Any] = [
        {
            "revision": release.version, "updated": release.last_deployed, "status": release.status, "chart": _chart(release),
            "app_version": str(release.chart.metadata.get("appVersion", "")), "description": release.description,
        }
        for release in found
    ]  # fmt: skip
    await helm.out(format_value(helm.flags["output"], entries))


async def _find_release(helm: Helm) -> Release:
    name, version = helm.args[0], int(helm.flags.get("revision", 0))
    check_name(name)
    storage = await helm.storage()
    return await (storage.get(name, version) if version > 0 else storage.last(name))


@command("status", "How a release is", least=1, most=1)
async def status(helm: Helm) -> None:
    """How a release is."""
    release = await _find_release(helm)
    await write_release(helm, release, description=bool(helm.flags["show-desc"]))


@command("get values", "The values of a release", least=1, most=1)
async def get_values(helm: Helm) -> None:
    """The values that were given for a release, or all of them."""
    release = await _find_release(helm)
    everything = bool(helm.flags["all"])
    values: Any = release.config or None
    if everything:
        values = coalesce(release.chart, release.config, lambda _: None)
    form = helm.flags["output"]
    if form == "table":
        await helm.out("COMPUTED VALUES:\n" if everything else "USER-SUPPLIED VALUES:\n")
    await helm.out(format_value("yaml" if form == "table" else form, in_order(values)))


@command("get manifest", "The manifest of a release", least=1, most=1)
async def get_manifest(helm: Helm) -> None:
    """The manifest of a release."""
    release = await _find_release(helm)
    await helm.out(f"{release.manifest}\n")


@command("get notes", "The notes of a release", least=1, most=1)
async def get_notes(helm: Helm) -> None:
    """The notes of a release."""
    release = await _find_release(helm)
    if release.notes:
        await helm.out(f"NOTES:\n{release.notes}\n")


@command("get hooks", "The hooks of a release", least=1, most=1)
async def get_hooks(helm: Helm) -> None:
    """The hooks of a release."""
    release = await _find_release(helm)
    await helm.out("".join(hook.manifest.format_document() for hook in release.hooks))


@command("get all", "All that is stored of a release", least=1, most=1)
async def get_all(helm: Helm) -> None:
    """All that is stored of a release."""
    if helm.flags["template"]:
        raise HelmError("templates of output are not known here")
    await write_release(helm, await _find_release(helm), everything=True)


@command("get metadata", "The metadata of a release", least=1, most=1)
async def get_metadata(helm: Helm) -> None:
    """The metadata of a release."""
    one = await _find_release(helm)
    annotations = one.chart.metadata.get("annotations") or {}
    needed = [str(held.get("name")) for held in one.chart.metadata.get("dependencies") or ()]
    metadata: dict[str, Any] = {
        "name": one.name,
        "chart": one.chart.name,
        "version": one.chart.version,
        "appVersion": str(one.chart.metadata.get("appVersion", "")),
        "annotations": annotations,
        "dependencies": one.chart.metadata.get("dependencies") or [],
        "namespace": one.namespace,
        "revision": one.version,
        "status": one.status,
        "deployedAt": one.last_deployed,
    }
    if helm.flags["output"] != "table":
        shown = {name: value for name, value in metadata.items() if value not in ({}, [])}
        await helm.out(format_value(helm.flags["output"], shown))
        return
    metadata["annotations"] = ",".join(f"{name}={annotations[name]}" for name in sorted(annotations))
    metadata["dependencies"] = ",".join(needed)
    await helm.out("".join(f"{_upper(name)}: {value}\n" for name, value in metadata.items()))


def _upper(name: str) -> str:
    return {"appVersion": "APP_VERSION", "deployedAt": "DEPLOYED_AT"}.get(name, name.upper())
