"""Sources of volumes: paths of the machine, and files that are made from objects.

hostPath and local volumes use the machine's paths; configMap, secret, downwardAPI and projected volumes are made from
objects. ``VolumeError`` and ``ClaimError`` say why a volume cannot be used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.access.tokens import Bound
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.kubelet.pods import downward_api
from simcloud.kubernetes.kubelet.pods.environment import contents
from simcloud.kubernetes.kubelet.pods.parts import find_part
from simcloud.machine import Machine
from simcloud.machine.files import FileError, Volume


class VolumeError(Exception):
    """A volume cannot be set up now; ``name`` is what the mount's event calls it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name

    @property
    def message(self) -> str:
        """The event's sentence."""
        return f'MountVolume.SetUp failed for volume "{self.name}" : {self}'


class ClaimError(Exception):
    """A claim cannot be used now: the whole pod waits for it."""


_NOUNS: Final = {
    "Directory": "directory",
    "File": "file",
    "Socket": "socket file",
    "CharDevice": "character device",
    "BlockDevice": "block device",
}


def check_type(machine: Machine, source: Object, name: str, mode: int = 0o755) -> None:
    """Make sure that a hostPath is what it is said to be, or make it where that is asked for, a directory with a mode."""
    files, path, kind = machine.host.files, source["path"], source.get("type") or ""
    present = files.node_kind(path)
    if kind == "DirectoryOrCreate" or (not kind and present is None):
        if present is None:
            files.mkdir(path, 0o755, parents=True)
            files.chmod(path, mode)
            files.sync()
        elif kind and not files.is_dir(path):
            raise VolumeError(name, f"hostPath type check failed: {path} is not a directory")
        return
    if kind == "FileOrCreate":
        if present is None:
            try:
                files.put(path, b"", 0o644)
            except FileError as error:
                raise VolumeError(name, f"open {path}: {error.strerror.lower()}") from None
        elif not files.is_file(path):
            raise VolumeError(name, f"hostPath type check failed: {path} is not a file")
        return
    right = {"Directory": files.is_dir(path), "File": files.is_file(path), "": True}.get(
        kind, present in ("socket", "device")
    )
    if not right:
        raise VolumeError(name, f"hostPath type check failed: {path} is not a {_NOUNS.get(kind, kind)}")


def place_of(machine: Machine, path: str) -> tuple[Volume, str]:
    """The volume of the machine that a path is on, and the path there."""
    files = machine.host.files
    real = files.realpath(path)
    mount, _ = files.find(path)
    inside = real.removeprefix(mount.path).strip("/") if mount.path != "/" else real.strip("/")
    return mount.volume, inside


DEFAULT_MODE: Final = 0o644
TOKEN_SECONDS: Final = 3600
LONG_TOKEN_SECONDS: Final = 365 * 24 * 3600
"""What the API server makes of the token that every pod gets, for clients that never read it again."""


class File(Struct, frozen=True):
    """One file of a projection."""

    data: bytes
    mode: int


class Projector(Struct, frozen=True):
    """Makes the files of a pod's projections. ``status`` is the newest of the pod."""

    client: ComponentClient
    pod: Object
    status: Object
    allocatable: Object

    def files(self, volume: Object) -> dict[str, File]:
        """The files of a volume by their paths. ``VolumeError`` when an object or a key is missing."""
        name = volume["name"]
        if "configMap" in volume:
            source = volume["configMap"]
            return self._object(name, "ConfigMap", source.get("name") or "", source, _mode(source))
        if "secret" in volume:
            source = volume["secret"]
            return self._object(name, "Secret", source.get("secretName") or "", source, _mode(source))
        if "downwardAPI" in volume:
            return self._downward(volume["downwardAPI"], _mode(volume["downwardAPI"]))
        made: dict[str, File] = {}
        projected = volume["projected"]
        for source in projected.get("sources") or ():
            made |= self._source(name, source, _mode(projected))
        return made

    def _source(self, name: str, source: Object, mode: int) -> dict[str, File]:
        if "configMap" in source:
            said = source["configMap"]
            return self._object(name, "ConfigMap", said.get("name") or "", said, mode)
        if "secret" in source:
            said = source["secret"]
            return self._object(name, "Secret", said.get("name") or "", said, mode)
        if "downwardAPI" in source:
            return self._downward(source["downwardAPI"], mode)
        if "serviceAccountToken" in source:
            said = source["serviceAccountToken"]
            return {said["path"]: File(self._token(name, said).encode(), mode)}
        return {}

    def _object(self, volume: str, kind: str, name: str, source: Object, mode: int) -> dict[str, File]:
        plural = "configmaps" if kind == "ConfigMap" else "secrets"
        obj = self.client.get(plural, self.pod["metadata"]["namespace"], name)
        if obj is None:
            if source.get("optional"):
                return {}
            raise VolumeError(volume, f'{kind.lower()} "{name}" not found')
        data = contents(obj)
        if not source.get("items"):
            return {key: File(value, mode) for key, value in data.items()}
        made = {}
        for item in source["items"]:
            if item["key"] in data:
                made[item["path"]] = File(data[item["key"]], item.get("mode") or mode)
            elif not source.get("optional"):
                word = "config" if kind == "ConfigMap" else "secret"
                prefix = "configmap " if kind == "ConfigMap" else ""
                raise VolumeError(volume, f"{prefix}references non-existent {word} key: {item['key']}")
        return made

    def _downward(self, source: Object, mode: int) -> dict[str, File]:
        made = {}
        for item in source.get("items") or ():
            if "fieldRef" in item:
                text = downward_api.field(self.pod, item["fieldRef"]["fieldPath"], self.status)
            else:
                reference = item["resourceFieldRef"]
                part = find_part(self.pod, reference.get("containerName") or "")
                text = downward_api.resource(part.spec if part else {}, reference, self.allocatable)
            made[item["path"]] = File(text.encode(), item.get("mode") or mode)
        return made

    def _token(self, volume: str, source: Object) -> str:
        metadata = self.pod["metadata"]
        name = self.pod["spec"].get("serviceAccountName") or "default"
        account = self.client.get("serviceaccounts", metadata["namespace"], name)
        if account is None:
            missing = f'serviceaccounts "{name}" not found'
            raise VolumeError(volume, f"failed to fetch token: {missing}")
        api = self.client.api
        asked = source.get("expirationSeconds") or TOKEN_SECONDS
        usual = asked == TOKEN_SECONDS + 7 and not source.get("audience")
        return api.tokens.issue(
            account,
            now_s=api.now_s,
            expires_s=LONG_TOKEN_SECONDS if usual else asked,
            token_id=api.new_uid(),
            audiences=(source["audience"],) if source.get("audience") else (),
            bound=Bound(pod=self.pod, node=self.client.get("nodes", "", self.pod["spec"]["nodeName"])),
            warn_after_s=asked if usual else 0,
        )


def _mode(source: Object) -> int:
    mode = source.get("defaultMode")
    return DEFAULT_MODE if mode is None else int(mode)


def is_projection(volume: Object) -> bool:
    """Whether a volume's files are made from objects."""
    return any(kind in volume for kind in ("configMap", "secret", "downwardAPI", "projected"))


def references(pod: Object) -> Iterator[tuple[str, str]]:
    """The ConfigMaps and Secrets (by plural and name) whose change changes a volume of the pod."""
    for volume in pod["spec"].get("volumes") or ():
        sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
        for source in sources:
            if "configMap" in source:
                yield "configmaps", source["configMap"].get("name") or ""
            if "secret" in source:
                said = source["secret"]
                yield "secrets", said.get("secretName") or said.get("name") or ""
