"""The environment of a container: Services of its namespace, then envFrom, then env; later ones override.

``expand`` replaces the references ``$(NAME)`` in commands, arguments and values.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.kubelet.pods import downward_api

DEFAULT_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")


class ConfigError(Exception):
    """A container cannot be configured; the text is the kubelet's."""


class Environments:
    """Makes environments; remembers the Services of a namespace until they change."""

    def __init__(self, client: ComponentClient) -> None:
        self._client = client
        self._links: dict[str, tuple[list[Object], dict[str, str]]] = {}

    def make(self, pod: Object, container: Object, status: Object, allocatable: Object) -> dict[str, str]:
        """A container's variables, without those of its image. ``ConfigError`` when something is missing."""
        namespace = pod["metadata"]["namespace"]
        made: dict[str, str] = {}
        for source in container.get("envFrom") or ():
            prefix = source.get("prefix") or ""
            for key, value in self._all_of(source, namespace).items():
                made[prefix + key] = value
        services = self._services(namespace, pod["spec"].get("enableServiceLinks", True))
        known = {**services, **made}
        for entry in container.get("env") or ():
            said = self._value(entry, pod, container, status, allocatable, known)
            if said is not None:
                made[entry["name"]] = known[entry["name"]] = said
        for key, value in services.items():
            made.setdefault(key, value)
        return made

    def _value(
        self,
        entry: Object,
        pod: Object,
        container: Object,
        status: Object,
        allocatable: Object,
        known: Mapping[str, str],
    ) -> str | None:
        source = entry.get("valueFrom")
        if not source:
            return expand(entry.get("value") or "", known)
        namespace = pod["metadata"]["namespace"]
        if "fieldRef" in source:
            return downward_api.field(pod, source["fieldRef"]["fieldPath"], status)
        if "resourceFieldRef" in source:
            return downward_api.resource(
                _find_container(pod, source["resourceFieldRef"], container),
                source["resourceFieldRef"],
                allocatable,
            )
        if "configMapKeyRef" in source:
            return self._key("ConfigMap", source["configMapKeyRef"], namespace)
        if "secretKeyRef" in source:
            return self._key("Secret", source["secretKeyRef"], namespace)
        return None

    def _key(self, kind: str, reference: Object, namespace: str) -> str | None:
        name, key = reference.get("name") or "", reference["key"]
        found = self.data(kind, namespace, name)
        if found is None:
            if reference.get("optional"):
                return None
            raise ConfigError(f'{kind.lower()} "{name}" not found')
        if key not in found:
            if reference.get("optional"):
                return None
            raise ConfigError(f"couldn't find key {key} in {kind} {namespace}/{name}")
        return found[key].decode("utf-8", "surrogateescape")

    def _all_of(self, source: Object, namespace: str) -> dict[str, str]:
        kind = "ConfigMap" if "configMapRef" in source else "Secret"
        reference = source.get("configMapRef") or source.get("secretRef") or {}
        found = self.data(kind, namespace, reference.get("name") or "")
        if found is None:
            if reference.get("optional"):
                return {}
            raise ConfigError(f'{kind.lower()} "{reference.get("name") or ""}" not found')
        return {key: found[key].decode("utf-8", "surrogateescape") for key in sorted(found)}

    def data(self, kind: str, namespace: str, name: str) -> dict[str, bytes] | None:
        """The contents of a ConfigMap or Secret, if it is there."""
        plural = "configmaps" if kind == "ConfigMap" else "secrets"
        obj = self._client.get(plural, namespace, name)
        return contents(obj) if obj is not None else None

    def _services(self, namespace: str, links: bool) -> dict[str, str]:
        """Variables of the Services that a pod sees; always those of the API itself."""
        master = self._client.get("services", "default", "kubernetes")
        made = service_variables([master]) if master is not None else {}
        if links:
            present = self._client.api.log.objects("", "services", namespace)
            known = self._links.get(namespace)
            if known is None or known[0] is not present:
                known = self._links[namespace] = (present, service_variables(present))
            made = {**made, **known[1]}
        return made


def contents(obj: Object) -> dict[str, bytes]:
    """The keys of a ConfigMap or Secret."""
    plain = obj["kind"] == "ConfigMap"
    data = {
        key: value.encode("utf-8", "surrogateescape") if plain else base64.b64decode(value)
        for key, value in (obj.get("data") or {}).items()
    }
    for key, value in (obj.get("binaryData") or {}).items():
        data[key] = base64.b64decode(value)
    return data


def service_variables(services: list[Object]) -> dict[str, str]:
    """The variables by which a container finds Services, for programs that do not ask DNS."""
    made: dict[str, str] = {}
    for service in services:
        address = service["spec"].get("clusterIP") or ""
        ports = service["spec"].get("ports") or ()
        if address in ("", "None") or not ports:
            continue
        name = service["metadata"]["name"].upper().replace("-", "_")
        first = ports[0]
        made[f"{name}_SERVICE_HOST"] = address
        made[f"{name}_SERVICE_PORT"] = str(first["port"])
        for port in ports:
            if port.get("name"):
                made[f"{name}_SERVICE_PORT_{port['name'].upper().replace('-', '_')}"] = str(port["port"])
        made[f"{name}_PORT"] = _url(first, address)
        for port in ports:
            prefix = f"{name}_PORT_{port['port']}_{port.get('protocol', 'TCP').upper()}"
            made[prefix] = _url(port, address)
            made[f"{prefix}_PROTO"] = port.get("protocol", "TCP").lower()
            made[f"{prefix}_PORT"] = str(port["port"])
            made[f"{prefix}_ADDR"] = address
    return made


def _url(port: Object, address: str) -> str:
    return f"{port.get('protocol', 'TCP').lower()}://{address}:{port['port']}"


def _find_container(pod: Object, reference: Object, container: Object) -> Object:
    """The container that a resource reference means: the one it names, or the one it stands in."""
    name = reference.get("containerName")
    if not name:
        return container
    parts = ("containers", "initContainers")
    found = [
        candidate for part in parts for candidate in pod["spec"].get(part) or () if candidate["name"] == name
    ]
    return found[0] if found else container


def expand(text: str, known: Mapping[str, str]) -> str:
    """The text with its references replaced; ``$$`` is a plain dollar sign."""
    if "$" not in text:
        return text

    def replacement(match: re.Match[str]) -> str:
        name = match.group(1)
        if name is None:
            return "$"
        return known.get(name, match.group(0))

    return _REFERENCE.sub(replacement, text)
