"""``helm uninstall`` and ``helm test``."""

from __future__ import annotations

from simcloud.helm.command import command
from simcloud.helm.errors import HelmError, NoRelease
from simcloud.helm.functions.dates import format_rfc3339
from simcloud.helm.hooks import Hooks
from simcloud.helm.kube import build, for_removal, remove
from simcloud.helm.releases import Release, Storage
from simcloud.helm.render import check_name
from simcloud.helm.session import Helm
from simcloud.helm.views import write_release
from simcloud.helm.wait_loop import until_gone
from simcloud.kubernetes.api import ApiError

PROPAGATION = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}


@command("uninstall", "Remove releases", least=1, aliases=("del", "delete", "un"))
async def uninstall(helm: Helm) -> None:
    """Remove releases with all their objects."""
    if helm.flags["cascade"] not in PROPAGATION:
        raise HelmError(
            f'invalid cascade value ({helm.flags["cascade"]}). Must be "background", "foreground", or "orphan"'
        )
    for name in helm.args:
        if helm.flags["dry-run"]:
            await _find(helm, await helm.storage(), name)
        else:
            kept = await _uninstall(helm, name)
            if kept:
                await helm.out(kept + "\n")
        await helm.out(f'release "{name}" uninstalled\n')


async def _find(helm: Helm, storage: Storage, name: str) -> Release | None:
    try:
        check_name(name)
        return await storage.last(name)
    except NoRelease as error:
        if helm.flags["ignore-not-found"]:
            return None
        raise HelmError(f"uninstall: Release not loaded: {name}: {error}") from None
    except HelmError as error:
        raise HelmError(f"uninstall: {error}") from None


async def _uninstall(helm: Helm, name: str) -> str:
    storage, connection = await helm.storage(), await helm.connect()
    release = await _find(helm, storage, name)
    if release is None:
        return ""
    history = await storage.history(name)
    keep = bool(helm.flags["keep-history"])
    if release.status == "uninstalled":
        if keep:
            raise HelmError(f'the release named "{name}" is already deleted')
        for revision in history:
            await storage.delete(revision)
        return ""
    timeout_s = float(helm.flags["timeout"])
    hooks = Hooks(helm.ctx, connection, release, timeout_s)
    release.status, release.description = "uninstalling", "Deletion in progress (or silently failed)"
    release.deleted = format_rfc3339(connection.now_s)
    if not helm.flags["no-hooks"]:
        await hooks.run("pre-delete")
    await storage.update(release)
    going, kept = for_removal(release.manifest)
    items = build(connection, going, release.namespace)
    faults = await remove(connection, items, PROPAGATION[helm.flags["cascade"]])
    if faults:
        raise HelmError(f"uninstallation completed with {len(faults)} error(s): {'; '.join(faults)}")
    if helm.flags["wait"]:
        await until_gone(helm.ctx, connection, items, timeout_s)
    if not helm.flags["no-hooks"]:
        await hooks.run("post-delete")
    release.status = "uninstalled"
    release.description = helm.flags["description"] or "Uninstallation complete"
    if keep:
        await storage.update(release)
    else:
        for revision in history:
            await storage.delete(revision)
    lines = "".join(f"[{resource.kind}] {resource.name}\n" for resource in kept)
    return f"These resources were kept due to the resource policy:\n{lines}" if kept else ""


@command("test", "Run the tests of a release", least=1, most=1)
async def test(helm: Helm) -> None:
    """Run the tests that a chart has for its release."""
    storage, connection = await helm.storage(), await helm.connect()
    release = await storage.last(helm.args[0])
    fault: HelmError | None = None
    try:
        await Hooks(helm.ctx, connection, release, float(helm.flags["timeout"])).run("test")
    except HelmError as error:
        fault = error
    try:
        await storage.update(release)
    except ApiError as error:
        raise HelmError(error.message) from None
    await write_release(helm, release, hide_notes=bool(helm.flags["hide-notes"]))
    if fault is not None:
        raise fault
