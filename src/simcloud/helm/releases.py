"""Releases and their storage: Secrets with packed JSON, as written by the genuine tool."""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from simcloud.golang import format_json
from simcloud.helm.charts import Chart, Named
from simcloud.helm.errors import HelmError, NoRelease
from simcloud.helm.goyaml import as_float
from simcloud.helm.manifests import Hook, Manifest, documents
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, Object

TYPE: Final = "helm.sh/release.v1"
ZERO: Final = "0001-01-01T00:00:00Z"
PENDING: Final = ("pending-install", "pending-upgrade", "pending-rollback")
_OWN_LABELS: Final = ("modifiedAt", "createdAt", "version", "status", "owner", "name")


class Release(Struct):
    """One revision of a release. Times are RFC 3339 texts."""

    name: str
    namespace: str
    chart: Chart
    config: dict[str, Any] = field(default_factory=dict)
    manifest: str = ""
    hooks: list[Hook] = field(default_factory=list)
    version: int = 1
    status: str = "unknown"
    description: str = ""
    notes: str = ""
    first_deployed: str = ""
    last_deployed: str = ""
    deleted: str = ""
    labels: dict[str, str] = field(default_factory=dict)

    def info(self) -> dict[str, Any]:
        """Return the release's ``info``: times, status, description, notes."""
        info = {
            "first_deployed": self.first_deployed,
            "last_deployed": self.last_deployed,
            "deleted": self.deleted,
            "description": self.description,
            "status": self.status,
        }
        return {**info, "notes": self.notes} if self.notes else info

    def as_json(self) -> dict[str, Any]:
        """The whole, as it is stored."""
        document: dict[str, Any] = {"name": self.name, "info": self.info(), "chart": _chart_json(self.chart)}
        if self.config:
            document["config"] = in_order(self.config)
        document["manifest"] = self.manifest
        if self.hooks:
            document["hooks"] = [hook_json(hook) for hook in self.hooks]
        return {**document, "version": self.version, "namespace": self.namespace}


def in_order(value: Any) -> Any:
    """A value whose maps are in the order of their keys, as Go writes maps."""
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list) else value


def _chart_json(chart: Chart) -> dict[str, Any]:
    return {
        "metadata": chart.metadata,
        "lock": chart.lock,
        "templates": _files_json(chart.templates),
        "values": in_order(chart.values),
        "schema": base64.b64encode(chart.schema).decode() if chart.schema else None,
        "files": _files_json(chart.files),
    }


def _files_json(files: list[Named]) -> list[dict[str, str]]:
    return [{"name": name, "data": base64.b64encode(data).decode()} for name, data in files]


def hook_json(hook: Hook) -> dict[str, Any]:
    """A hook as it is stored."""
    unset = {"started_at": "", "completed_at": "", "phase": ""}
    document: dict[str, Any] = {
        "name": hook.manifest.name,
        "kind": hook.manifest.kind,
        "path": hook.manifest.path,
        "manifest": hook.manifest.text,
        "events": hook.events,
        "last_run": hook.last_run or unset,
    }
    if hook.weight:
        document["weight"] = hook.weight
    return {**document, "delete_policies": hook.delete_policies} if hook.delete_policies else document


def pack(release: Release) -> bytes:
    """Pack a release for storage: JSON, gzipped, in base64."""
    text = format_json(release.as_json(), keep_order=True).encode()
    return base64.b64encode(gzip.compress(text, 9, mtime=0))


def unpack(data: bytes, labels: dict[str, str]) -> Release:
    """Unpack a stored release; raises ``HelmError``."""
    try:
        raw = base64.b64decode(data)
        document = msgspec.json.decode(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        return _read(document, labels)
    except (
        binascii.Error, ValueError, OSError, EOFError, zlib.error, msgspec.DecodeError, KeyError, TypeError, AttributeError,
    ) as error:  # fmt: skip
        raise HelmError(f"failed to decode release: {error}") from None


def _read(document: dict[str, Any], labels: dict[str, str]) -> Release:
    info, held = document["info"], document["chart"]
    chart = Chart(
        held.get("metadata") or {},
        as_float(held.get("values") or {}),
        _read_files(held.get("templates")),
        _read_files(held.get("files")),
        schema=base64.b64decode(held.get("schema") or ""),
        lock=held.get("lock"),
    )
    return Release(
        str(document["name"]),
        str(document.get("namespace", "")),
        chart,
        as_float(document.get("config") or {}),
        str(document.get("manifest", "")),
        [_read_hook(hook) for hook in document.get("hooks") or ()],
        int(document.get("version", 1)),
        str(info.get("status", "unknown")),
        str(info.get("description", "")),
        str(info.get("notes", "")),
        _time(info.get("first_deployed")),
        _time(info.get("last_deployed")),
        _time(info.get("deleted")),
        {name: value for name, value in labels.items() if name not in _OWN_LABELS},
    )


def _time(moment: Any) -> str:
    return "" if not moment or moment == ZERO else str(moment)


def _read_files(files: Any) -> list[Named]:
    return [(str(file["name"]), base64.b64decode(file.get("data") or "")) for file in files or ()]


def _read_hook(document: dict[str, Any]) -> Hook:
    text = str(document["manifest"])
    head = next(iter(documents(text)), Manifest("", "", {})).head
    manifest = Manifest(str(document["path"]), text, head)
    return Hook(
        manifest, list(document["events"]), int(document.get("weight", 0)), list(document.get("delete_policies") or ()),
        document.get("last_run") or {},
    )  # fmt: skip


class Storage:
    """The releases of a namespace, or of all if it is empty."""

    def __init__(self, connection: ApiClient, namespace: str) -> None:
        self._connection = connection
        self._namespace = namespace
        self._secrets = connection.resource("secrets")

    async def all(self, labels: str = "") -> list[Release]:
        """Every revision of every release; what cannot be read is passed over."""
        chosen = f"owner=helm,{labels}" if labels else "owner=helm"
        secrets = await self._connection.list(self._secrets, self._namespace or None, labels=chosen)
        found = []
        for secret in secrets:
            try:
                found.append(from_secret(secret))
            except HelmError:
                continue
        return found

    async def history(self, name: str) -> list[Release]:
        """The revisions of a release, oldest first; raises ``NoRelease`` if there is none."""
        found = sorted(await self.all(f"name={name}"), key=lambda release: release.version)
        if not found:
            raise NoRelease
        return found

    async def get(self, name: str, version: int) -> Release:
        """One revision."""
        try:
            return from_secret(
                await self._connection.get(self._secrets, self._namespace, secret_name(name, version))
            )
        except ApiError as error:
            if error.reason == "NotFound":
                raise NoRelease from None
            raise

    async def last(self, name: str) -> Release:
        """The newest revision."""
        return (await self.history(name))[-1]

    async def find_deployed(self, name: str) -> Release:
        """Find the newest revision that was deployed."""
        try:
            found = [release for release in await self.history(name) if release.status == "deployed"]
        except NoRelease:
            found = []
        if not found:
            raise HelmError(f'"{name}" has no deployed releases')
        return found[-1]

    async def create(self, release: Release) -> None:
        """Keep a new revision."""
        secret = as_secret(release, {"createdAt": str(int(self._connection.now_s))})
        try:
            await self._connection.create(self._secrets, self._namespace, secret)
        except ApiError as error:
            raise HelmError(f"create: failed to create: {error.message}") from None

    async def update(self, release: Release) -> None:
        """Keep what has become of a revision."""
        secret = as_secret(release, {"modifiedAt": str(int(self._connection.now_s))})
        await self._connection.update(
            self._secrets, self._namespace, secret_name(release.name, release.version), secret
        )

    async def delete(self, release: Release) -> None:
        """Forget a revision."""
        await self._connection.delete(
            self._secrets, self._namespace, secret_name(release.name, release.version)
        )


def as_secret(release: Release, more: dict[str, str]) -> Object:
    """The Secret that keeps a revision, with labels that say more than what it is."""
    labels = {
        **release.labels,
        **more,
        "name": release.name,
        "owner": "helm",
        "status": release.status,
        "version": str(release.version),
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret_name(release.name, release.version), "labels": labels},
        "type": TYPE,
        "data": {"release": base64.b64encode(pack(release)).decode()},
    }


def secret_name(name: str, version: int) -> str:
    """The name of the Secret that keeps a revision."""
    return f"sh.helm.release.v1.{name}.v{version}"


def from_secret(secret: Object) -> Release:
    """The revision that a Secret keeps; raises ``HelmError``."""
    data = base64.b64decode((secret.get("data") or {}).get("release", ""))
    return unpack(data, secret["metadata"].get("labels") or {})
