"""Hooks: manifests of a release that run at certain points of its lifecycle, one after another."""

from __future__ import annotations

from simcloud.helm.errors import HelmError
from simcloud.helm.functions.dates import format_rfc3339
from simcloud.helm.kube import build, create, remove
from simcloud.helm.manifests import Hook, documents
from simcloud.helm.releases import Release
from simcloud.helm.wait_loop import until_done, until_gone
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError
from simcloud.machine.process import Context


class Hooks:
    """Runs the hooks of one release."""

    def __init__(self, ctx: Context, connection: ApiClient, release: Release, timeout_s: float) -> None:
        self._ctx = ctx
        self._connection = connection
        self._release = release
        self._timeout_s = timeout_s

    async def run(self, event: str) -> None:
        """Run those of a moment; raises ``HelmError`` at the first that fails."""
        chosen = [hook for hook in self._release.hooks if event in hook.events]
        chosen.sort(key=lambda hook: (hook.weight, hook.manifest.name))
        for hook in chosen:
            await self._one(hook, event)
        for hook in chosen:
            await self._tidy(hook, "hook-succeeded")

    async def _one(self, hook: Hook, event: str) -> None:
        if not hook.delete_policies:
            hook.delete_policies = ["before-hook-creation"]
        await self._tidy(hook, "before-hook-creation")
        try:
            items = build(self._connection, documents(hook.manifest.text), self._release.namespace)
        except HelmError as error:
            message = f"unable to build kubernetes object for {event} hook {hook.manifest.path}: {error}"
            raise HelmError(message) from None
        hook.last_run = {"started_at": self._now(), "completed_at": "", "phase": "Running"}
        try:
            await create(self._connection, items)
        except HelmError as error:
            self._end(hook, "Failed")
            raise HelmError(f"warning: Hook {event} {hook.manifest.path} failed: {error}") from None
        try:
            for item in items:
                await until_done(self._ctx, self._connection, item, self._timeout_s)
        except HelmError:
            self._end(hook, "Failed")
            await self._tidy(hook, "hook-failed")
            raise
        self._end(hook, "Succeeded")

    async def _tidy(self, hook: Hook, policy: str) -> None:
        if policy not in hook.delete_policies or hook.manifest.kind == "CustomResourceDefinition":
            return
        items = build(self._connection, documents(hook.manifest.text), self._release.namespace)
        try:
            await remove(self._connection, items)
        except ApiError as error:
            raise HelmError(error.message) from None
        await until_gone(self._ctx, self._connection, items, self._timeout_s)

    def _end(self, hook: Hook, phase: str) -> None:
        hook.last_run = {**hook.last_run, "completed_at": self._now(), "phase": phase}

    def _now(self) -> str:
        return format_rfc3339(self._connection.now_s)
