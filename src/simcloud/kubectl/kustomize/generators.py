"""Config maps and secrets that kustomizations generate from literals and files."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

from simcloud.golang import format_json
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.input.sources import Pairs, env_pairs
from simcloud.kubectl.kustomize.resources import Res
from simcloud.kubernetes.api import Object

ReadFile = Callable[[str], bytes]
_HASH_LETTERS: Final = str.maketrans({"0": "g", "1": "h", "3": "k", "a": "m", "e": "t"})
_HASH_LENGTH: Final = 10
BEHAVIORS: Final = ("", "unspecified", "create", "merge", "replace")


def generate(resources: list[Res], kind: str, generator: Object, common: Object, read: ReadFile) -> None:
    """Create an object, or change the existing one, according to ``behavior``."""
    name, behavior = str(generator.get("name") or ""), str(generator.get("behavior") or "").lower()
    if not name:
        raise KubectlError(f"{kind} generator has no name")
    if behavior not in BEHAVIORS:
        raise KubectlError(f'unknown behavior "{behavior}"')
    made = Res(_make_object(kind, generator, _options(common, generator), read), hashed=True)
    made.hashed = not _options(common, generator).get("disableNameSuffixHash")
    there = next(
        (resource for resource in resources if resource.kind == kind and resource.has_name(name)), None
    )
    if behavior in ("merge", "replace"):
        if there is None:
            raise KubectlError(f"id {made.format_identity()} does not exist; cannot merge or replace")
        _change(there, made, merge=behavior == "merge")
        return
    if there is not None:
        raise KubectlError(f"may not add resource with an already registered id: {made.format_identity()}")
    resources.append(made)


def _options(common: Object, generator: Object) -> Object:
    own = generator.get("options") or {}
    merged = {**common, **own}
    for part in ("labels", "annotations"):
        pairs = {**(common.get(part) or {}), **(own.get(part) or {})}
        if pairs:
            merged[part] = pairs
    return merged


def _make_object(kind: str, generator: Object, options: Object, read: ReadFile) -> Object:
    metadata: Object = {"name": generator["name"]}
    if generator.get("namespace"):
        metadata["namespace"] = generator["namespace"]
    for part in ("labels", "annotations"):
        if options.get(part):
            metadata[part] = dict(options[part])
    obj: Object = {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    for key, value in _pairs(generator, read):
        _put(obj, kind, key, value)
    if kind == "Secret":
        obj["type"] = generator.get("type") or "Opaque"
    if options.get("immutable"):
        obj["immutable"] = True
    return obj


def _put(obj: Object, kind: str, key: str, value: bytes) -> None:
    if key in obj.get("data", {}) or key in obj.get("binaryData", {}):
        raise KubectlError(
            f"cannot add key {key}, another key by that name already exists: {obj['metadata']}"
        )
    if kind == "Secret":
        obj.setdefault("data", {})[key] = b64encode(value).decode()
        return
    try:
        obj.setdefault("data", {})[key] = value.decode()
    except UnicodeDecodeError:
        obj.setdefault("binaryData", {})[key] = b64encode(value).decode()
        if not obj["data"]:
            del obj["data"]


def _pairs(generator: Object, read: ReadFile) -> Pairs:
    found: Pairs = []
    env_files = [*(generator.get("envs") or ()), *([generator["env"]] if generator.get("env") else ())]
    for path in env_files:
        found.extend(env_pairs(read(str(path)), str(path), {}))
    for said in generator.get("files") or ():
        key, equals, path = str(said).partition("=")
        found.append((key, read(path)) if equals else (key.rpartition("/")[2], read(key)))
    for said in generator.get("literals") or ():
        key, equals, value = str(said).partition("=")
        if not equals or not key:
            raise KubectlError(f"invalid literal source {said}, expected key=value")
        found.append((key, _unquote(value).encode()))
    return found


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _change(there: Res, made: Res, *, merge: bool) -> None:
    obj = there.obj
    for part in ("labels", "annotations"):
        pairs = {**(obj["metadata"].get(part) or {}), **(made.obj["metadata"].get(part) or {})}
        if pairs:
            obj["metadata"][part] = pairs
    for part in ("data", "binaryData"):
        before = obj.get(part) or {} if merge else {}
        pairs = {**before, **(made.obj.get(part) or {})}
        if pairs:
            obj[part] = pairs
        else:
            obj.pop(part, None)
    there.hashed = there.hashed and made.hashed


def name_with_hash(one: Res) -> str:
    """Return the name with the hash of the content."""
    content: dict[str, Any] = {"kind": one.kind, "name": "", "data": one.obj.get("data") or ""}
    if one.kind == "Secret":
        content["type"] = one.obj.get("type") or ""
    elif one.obj.get("binaryData"):
        content["binaryData"] = one.obj["binaryData"]
    return f"{one.name}-{content_hash(content)}"


def content_hash(content: dict[str, Any]) -> str:
    """Return the suffix for the name of a config map or a secret; its alphabet has no vowels and no similar digits."""
    digest = sha256(format_json(content).encode()).hexdigest()
    return digest[:_HASH_LENGTH].translate(_HASH_LETTERS)
