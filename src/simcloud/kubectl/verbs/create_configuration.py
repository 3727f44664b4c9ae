"""``kubectl create configmap`` and ``kubectl create secret``."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Final

from simcloud.golang import format_json
from simcloud.kubectl.command import command, group
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.sources import Pairs, gather_pairs
from simcloud.kubectl.kustomize.generators import content_hash
from simcloud.kubectl.object_creation import create_built, the_name
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import Object
from simcloud.kubernetes.api.validation import config_map_key
from simcloud.machine.files import FileError

group("create secret", "Create a secret of one of the types", silent=True)

DOCKER_KEY: Final = ".dockerconfigjson"
_PEM: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n[A-Za-z0-9+/=\s]*-----END \1-----")
REFUSED: Final = "failed to create secret"


@command(
    "create configmap",
    "Create a config map from literals and files",
    examples=(
        "kubectl create configmap settings --from-literal=level=debug",
        "kubectl create configmap settings --from-file=app.conf --from-file=folder/",
        "kubectl create configmap settings --from-env-file=.env",
    ),
    aliases=("cm",),
)
async def config_map(kubectl: Kubectl) -> None:
    """Make a ConfigMap."""
    name = the_name(kubectl)
    obj: Object = {"metadata": {"name": name}}
    for key, value in await gather_pairs(kubectl):
        if faults := config_map_key(key):
            raise KubectlError(f'"{key}" is not a valid key name for a ConfigMap: {",".join(faults)}')
        for field, where in (("data", "Data"), ("binaryData", "BinaryData")):
            if key in obj.get(field, {}):
                raise KubectlError(
                    f'cannot add key "{key}", another key by that name already exists in {where} for '
                    f'ConfigMap "{name}"'
                )
        try:
            obj.setdefault("data", {})[key] = value.decode()
        except UnicodeDecodeError:
            obj.setdefault("binaryData", {})[key] = b64encode(value).decode()
    obj = {key: value for key, value in obj.items() if value}
    if kubectl.flags["append-hash"]:
        content = {"kind": "ConfigMap", "name": name, "data": obj.get("data")}
        if "binaryData" in obj:
            content["binaryData"] = obj["binaryData"]
        obj["metadata"] = {"name": f"{name}-{content_hash(content)}"}
    await create_built(kubectl, "configmaps", obj, "failed to create configmap:")


@command(
    "create secret generic",
    "Create a secret from literals and files",
    examples=(
        "kubectl create secret generic db --from-literal=password=s3cret",
        "kubectl create secret generic keys --from-file=ssh-privatekey=id_rsa",
    ),
)
async def generic(kubectl: Kubectl) -> None:
    """Make a Secret of any type."""
    name = the_name(kubectl)
    await _secret(kubectl, name, await gather_pairs(kubectl), kubectl.flags["type"])


@command(
    "create secret tls",
    "Create a secret from a certificate and its key",
    examples=("kubectl create secret tls web --cert=web.crt --key=web.key",),
)
async def tls(kubectl: Kubectl) -> None:
    """Make a Secret of a certificate."""
    name, flags = the_name(kubectl), kubectl.flags
    if not flags["cert"] or not flags["key"]:
        raise KubectlError("key and cert must be specified")
    certificate, key = await _read(kubectl, flags["cert"]), await _read(kubectl, flags["key"])
    _check_pem(certificate, "certificate", "CERTIFICATE")
    _check_pem(key, "key", "PRIVATE KEY")
    await _secret(kubectl, name, [("tls.crt", certificate), ("tls.key", key)], "kubernetes.io/tls")


async def _read(kubectl: Kubectl, path: str) -> bytes:
    try:
        return await kubectl.ctx.read_file(path)
    except FileError as error:
        raise KubectlError(f"Cannot read file {path}, open {path}: {error.strerror.lower()}") from None


def _check_pem(data: bytes, what: str, kind: str) -> None:
    kinds = [found.decode() for found in _PEM.findall(data)]
    if not kinds:
        raise KubectlError(f"tls: failed to find any PEM data in {what} input")
    if any(entry == kind or (what == "key" and entry.endswith(f" {kind}")) for entry in kinds):
        return
    wanted = (
        '"CERTIFICATE" PEM block' if what == "certificate" else 'PEM block with type ending in "PRIVATE KEY"'
    )
    raise KubectlError(
        f"tls: failed to find {wanted} in {what} input after skipping PEM blocks of the following types: "
        f"[{' '.join(kinds)}]"
    )


@command(
    "create secret docker-registry",
    "Create a secret that opens a registry of images",
    examples=(
        "kubectl create secret docker-registry reg --docker-server=reg.example.com --docker-username=me "
        "--docker-password=s3cret",
    ),
)
async def docker_registry(kubectl: Kubectl) -> None:
    """Make a Secret for pulling images."""
    name, flags = the_name(kubectl), kubectl.flags
    pairs = await gather_pairs(kubectl)
    if not pairs:
        user, password, server = (flags[f"docker-{part}"] for part in ("username", "password", "server"))
        if not (user and password and server):
            raise KubectlError(
                "either --from-file or the combination of --docker-username, --docker-password and --docker-server "
                "is required"
            )
        entry = {"username": user, "password": password}
        if flags["docker-email"]:
            entry["email"] = flags["docker-email"]
        entry["auth"] = b64encode(f"{user}:{password}".encode()).decode()
        pairs = [(DOCKER_KEY, format_json({"auths": {server: entry}}, keep_order=True).encode())]
    await _secret(kubectl, name, pairs, "kubernetes.io/dockerconfigjson")


async def _secret(kubectl: Kubectl, name: str, pairs: Pairs, kind: str) -> None:
    data: dict[str, str] = {}
    for key, value in pairs:
        if faults := config_map_key(key):
            raise KubectlError(f'"{key}" is not valid key name for a Secret {";".join(faults)}')
        if key in data:
            raise KubectlError(f"cannot add key {key}, another key by that name already exists")
        data[key] = b64encode(value).decode()
    obj: Object = {"metadata": {"name": name}}
    if data:
        obj["data"] = data
    if kind:
        obj["type"] = kind
    if kubectl.flags["append-hash"]:
        content = {"kind": "Secret", "type": kind, "name": name, "data": data}
        obj["metadata"] = {"name": f"{name}-{content_hash(content)}"}
    await create_built(kubectl, "secrets", obj, REFUSED)
