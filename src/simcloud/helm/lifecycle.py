"""The lifecycle of a release: install, upgrade, rollback, uninstall; each step is recorded before and after it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from simcloud.helm.charts import Chart
from simcloud.helm.engine import no_lookup
from simcloud.helm.errors import HelmError, NoRelease
from simcloud.helm.functions.dates import format_rfc3339
from simcloud.helm.hooks import Hooks
from simcloud.helm.kube import Item, build, create, own, remove, take_existing, update
from simcloud.helm.manifests import Manifest, documents
from simcloud.helm.objects import Capabilities
from simcloud.helm.releases import PENDING, Release, Storage
from simcloud.helm.render import Rendered, check_name, release_facts, render
from simcloud.helm.session import Helm
from simcloud.helm.values import merge_maps
from simcloud.helm.wait_loop import until_ready
from simcloud.kubectl import Flags
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import VERSION, ApiError, copy

BUSY = "another operation (install/upgrade/rollback) is in progress"


def capabilities(connection: ApiClient) -> Capabilities:
    """What the cluster at hand can do."""
    found: dict[str, bool] = {}
    for resource in connection.catalogue:
        found[resource.api_version] = True
        found[f"{resource.api_version}/{resource.kind}"] = True
    return Capabilities(str(VERSION["gitVersion"]), list(found))


class Lifecycle(Struct):
    """Does what one command asks for. ``flags`` say how."""

    helm: Helm
    connection: ApiClient
    storage: Storage
    flags: Flags

    @property
    def _namespace(self) -> str:
        return self.helm.namespace

    def now(self) -> str:
        """The time of day, as releases hold it."""
        return format_rfc3339(self.connection.now_s)

    @property
    def timeout_s(self) -> float:
        """How long to wait for anything."""
        return float(self.flags["timeout"])

    async def install(self, name: str, chart: Chart, given: dict[str, Any]) -> Release:
        """Install a chart under a name."""
        check_name(name)
        dry = dry_run(self.flags)
        revision = 1
        if not dry:
            revision = await self._free(name)
        rendered = self._render(chart, given, name, revision, upgrade=False, ask=dry != "client")
        release = self._release(name, chart, given, rendered, revision, "pending-install")
        release.description = "Initial install underway"
        if not self.flags["skip-crds"] and not dry:
            await self._crds(chart)
        items = self._build(rendered.manifests)
        own(items, name, self._namespace)
        there: list[Item] = []
        try:
            take = bool(self.flags["take-ownership"])
            there = await take_existing(self.connection, items, name, self._namespace, take=take)
        except HelmError as error:
            raise HelmError(f"Unable to continue with install: {error}") from None
        if dry:
            release.description = "Dry run complete"
            return release
        if self.flags["create-namespace"]:
            await self._make_namespace()
        await self.storage.create(release)
        try:
            await self._carry_out(release, "install", items, there)
        except HelmError as error:
            await self._fail(release, f'Release "{name}" failed: {error}')
            await self._undo_install(release, error)
            raise
        self._settle(release, "deployed", self.flags["description"] or "Install complete")
        await self.storage.update(release)
        return release

    async def _free(self, name: str) -> int:
        try:
            last = await self.storage.last(name)
        except NoRelease:
            return 1
        if self.flags.get("replace") and last.status in ("uninstalled", "failed"):
            return last.version + 1
        raise HelmError("cannot re-use a name that is still in use")

    async def _undo_install(self, release: Release, error: HelmError) -> None:
        if not self.flags["atomic"]:
            return
        await remove(self.connection, build(self.connection, documents(release.manifest), self._namespace))
        for revision in await self.storage.history(release.name):
            await self.storage.delete(revision)
        raise HelmError(
            f"release {release.name} failed, and has been uninstalled due to atomic being set: {error}"
        )

    async def _carry_out(self, release: Release, verb: str, items: list[Item], there: list[Item]) -> None:
        hooks = Hooks(self.helm.ctx, self.connection, release, self.timeout_s)
        await self._hooks(hooks, f"pre-{verb}")
        if there:
            await update(self.connection, there, items, [], force=bool(self.flags["force"]))
        else:
            await create(self.connection, items)
        await self._wait(items)
        await self._hooks(hooks, f"post-{verb}")

    async def _hooks(self, hooks: Hooks, event: str) -> None:
        if self.flags["no-hooks"]:
            return
        try:
            await hooks.run(event)
        except HelmError as error:
            words = {"install": f"failed {event}: ", "upgrade": f"{event} hooks failed: "}
            raise HelmError(f"{words.get(event.partition('-')[2], '')}{error}") from None

    async def _wait(self, items: list[Item]) -> None:
        if self.flags["wait"] or self.flags.get("atomic"):
            jobs = bool(self.flags["wait-for-jobs"])
            await until_ready(self.helm.ctx, self.connection, items, self.timeout_s, jobs=jobs)

    async def upgrade(self, name: str, chart: Chart, given: dict[str, Any]) -> Release:
        """Turn a release into what a chart says now."""
        check_name(name)
        dry = dry_run(self.flags)
        try:
            last = await self.storage.last(name)
        except NoRelease:
            raise HelmError(f'"{name}" has no deployed releases') from None
        if last.status in PENDING:
            raise HelmError(BUSY)
        if last.status == "deployed" or last.status not in ("failed", "superseded"):
            current = last
        else:
            current = await self._find_deployed_or(last)
        if last.status == "uninstalled":
            raise HelmError(f'"{name}" has no deployed releases')
        config = self._config(chart, current, given)
        revision = last.version + 1
        rendered = self._render(chart, config, name, revision, upgrade=True, ask=dry != "client")
        release = self._release(name, chart, config, rendered, revision, "pending-upgrade")
        release.first_deployed = current.first_deployed
        release.description = "Preparing upgrade"
        release.labels = {**current.labels, **release.labels}
        before = self._build(current.manifest, "current release manifest")
        items = self._build(rendered.manifests, "new release manifest")
        own(items, name, self._namespace)
        new = [item for item in items if item.key not in {old_item.key for old_item in before}]
        try:
            take = bool(self.flags["take-ownership"])
            before += await take_existing(self.connection, new, name, self._namespace, take=take)
        except HelmError as error:
            raise HelmError(f"Unable to continue with update: {error}") from None
        if dry:
            release.description = self.flags["description"] or "Dry run complete"
            return release
        await self.storage.create(release)
        await self._upgrade_to(release, current, before, items)
        await self._forget_old(name)
        return release

    async def _upgrade_to(
        self, release: Release, current: Release, before: list[Item], items: list[Item]
    ) -> None:
        hooks = Hooks(self.helm.ctx, self.connection, release, self.timeout_s)
        made: list[Item] = []
        try:
            await self._hooks(hooks, "pre-upgrade")
            await update(self.connection, before, items, made, force=bool(self.flags["force"]))
            await self._wait(items)
            await self._hooks(hooks, "post-upgrade")
        except HelmError as error:
            await self._fail(release, f'Upgrade "{release.name}" failed: {error}')
            if self.flags["cleanup-on-fail"] and made:
                await remove(self.connection, made)
            if self.flags["atomic"]:
                await self._undo_upgrade(release, error)
            raise
        current.status = "superseded"
        await self.storage.update(current)
        self._settle(release, "deployed", self.flags["description"] or "Upgrade complete")
        await self.storage.update(release)

    async def _undo_upgrade(self, release: Release, error: HelmError) -> None:
        history = await self.storage.history(release.name)
        good = [
            revision
            for revision in history
            if revision.status in ("deployed", "superseded") and revision.version < release.version
        ]
        if not good:
            raise HelmError(
                f"unable to find a previously successful release when attempting to rollback. original upgrade error: {error}"
            )
        values = {**self.flags.values, "wait": True, "atomic": False, "dry-run": False}
        again = replace(self, flags=replace(self.flags, values=values))
        await again.rollback(release.name, good[-1].version)
        raise HelmError(
            f"release {release.name} failed, and has been rolled back due to atomic being set: {error}"
        )

    async def _find_deployed_or(self, last: Release) -> Release:
        try:
            return await self.storage.find_deployed(last.name)
        except HelmError:
            if last.status in ("failed", "superseded"):
                return last
            raise

    def _config(self, chart: Chart, current: Release, given: dict[str, Any]) -> dict[str, Any]:
        """The values of an upgrade: those given now, over the old ones where that is asked for."""
        if self.flags["reset-values"]:
            return given
        if self.flags["reset-then-reuse-values"]:
            return merge_maps(current.config, given)
        if self.flags["reuse-values"]:
            chart.values = merge_maps(chart.values, copy(merge_maps(current.chart.values, current.config)))
            return merge_maps(current.config, given)
        return given if given else copy(current.config)

    async def rollback(self, name: str, version: int) -> None:
        """Go back to what a release was."""
        check_name(name)
        if version < 0:
            raise HelmError("invalid release version")
        history = await self.storage.history(name)
        last = history[-1]
        wanted = version or last.version - 1
        target = next((revision for revision in history if revision.version == wanted), None)
        if target is None:
            if version:
                raise HelmError(f"release has no {version} version")
            raise NoRelease
        release = Release(
            name, last.namespace, target.chart, target.config, target.manifest, target.hooks, last.version + 1,
            "pending-rollback", self.flags.get("description") or f"Rollback to {wanted}", target.notes,
            last.first_deployed, self.now(), labels=target.labels,
        )  # fmt: skip
        if self.flags["dry-run"]:
            return
        await self.storage.create(release)
        before = self._build(last.manifest, "current release manifest")
        items = self._build(target.manifest, "new release manifest")
        own(items, name, self._namespace)
        hooks = Hooks(self.helm.ctx, self.connection, release, self.timeout_s)
        await self._hooks(hooks, "pre-rollback")
        try:
            known = {item.key for item in before}
            adopted = await take_existing(
                self.connection,
                [item for item in items if item.key not in known],
                name,
                self._namespace,
                take=True,
            )
            await update(self.connection, before + adopted, items, [], force=bool(self.flags["force"]))
            await self._wait(items)
        except HelmError as error:
            if last.status == "deployed":
                last.status = "superseded"
                await self.storage.update(last)
            message = f'Rollback "{name}" failed: {error}'
            await self._fail(release, message)
            raise
        await self._hooks(hooks, "post-rollback")
        for revision in history:
            if revision.status == "deployed":
                revision.status = "superseded"
                await self.storage.update(revision)
        self._settle(release, "deployed", release.description)
        await self.storage.update(release)
        await self._forget_old(name)

    def _render(
        self, chart: Chart, given: dict[str, Any], name: str, revision: int, *, upgrade: bool, ask: bool
    ) -> Rendered:
        facts = release_facts(name, self._namespace, revision, upgrade=upgrade)
        return render(
            self.helm,
            chart,
            given,
            facts,
            capabilities(self.connection),
            self.lookup if ask else no_lookup,
            subchart_notes=bool(self.flags["render-subchart-notes"]),
            check=not self.flags["skip-schema-validation"],
        )

    def lookup(self, api_version: str, kind: str, namespace: str, name: str) -> dict[str, Any]:
        """An object, or all of a kind, as templates find them."""
        resource = self.connection.catalogue.of_kind(api_version, kind)
        if resource is None:
            return {}
        try:
            self.connection.check("get" if name else "list", resource, namespace, name)
            if name:
                found: dict[str, Any] = copy(self.connection.api.get(resource, namespace, name))
            else:
                found = copy(self.connection.api.list(resource, namespace or None))
        except ApiError:
            return {}
        return found

    def _release(
        self, name: str, chart: Chart, config: dict[str, Any], rendered: Rendered, revision: int, status: str
    ) -> Release:
        labels = dict(pair.split("=", 1) for pair in self.flags["labels"] if "=" in pair)
        return Release(
            name, self._namespace, chart, config, rendered.manifest(), rendered.hooks, revision, status, "",
            rendered.notes, self.now(), self.now(), labels=labels,
        )  # fmt: skip

    def _build(self, manifest: str | list[Manifest], what: str = "release manifest") -> list[Item]:
        """Build the objects of a stored manifest, or of one that was just rendered and therefore is parsed already."""
        try:
            parsed = documents(manifest) if isinstance(manifest, str) else manifest
            return build(self.connection, parsed, self._namespace)
        except HelmError as error:
            raise HelmError(f"unable to build kubernetes objects from {what}: {error}") from None

    async def _crds(self, chart: Chart) -> None:
        for path, data in chart.crds():
            manifests = documents(data.decode(errors="replace"), path)
            for item in build(self.connection, manifests, self._namespace):
                try:
                    await self.connection.create(item.resource, item.namespace, item.obj)
                except ApiError as error:
                    if error.reason != "AlreadyExists":
                        raise HelmError(f"failed to install CRD {path}: {error.message}") from None
                    continue
                await until_ready(self.helm.ctx, self.connection, [item], 60.0, jobs=False)

    async def _make_namespace(self) -> None:
        obj = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self._namespace, "labels": {"name": self._namespace}},
        }
        try:
            await self.connection.create(self.connection.resource("namespaces"), "", obj)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise HelmError(error.message) from None

    async def _fail(self, release: Release, message: str) -> None:
        release.status, release.description = "failed", message
        await self.storage.update(release)

    def _settle(self, release: Release, status: str, description: str) -> None:
        release.status, release.description = status, description

    async def _forget_old(self, name: str) -> None:
        """Delete the oldest revisions beyond ``--history-max``, except the deployed one."""
        most = int(self.flags["history-max"])
        history = await self.storage.history(name)
        for revision in history[: max(0, len(history) - most)] if most > 0 else ():
            if revision.status != "deployed":
                await self.storage.delete(revision)


def dry_run(flags: Flags) -> str:
    """``client`` or ``server`` if nothing is to be changed, else empty; raises ``HelmError``."""
    said = str(flags["dry-run"])
    if said in ("", "false", "none"):
        return ""
    if said in ("true", "client"):
        return "client"
    if said == "server":
        return "server"
    raise HelmError("Invalid dry-run flag. Flag must one of the following: false, true, none, client, server")
