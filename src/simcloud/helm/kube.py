"""helm's changes of the cluster: creates, updates and deletes the objects of a manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from simcloud.helm.errors import HelmError
from simcloud.helm.manifests import KEEP, UNINSTALL_ORDER, Manifest, documents, in_order
from simcloud.kubectl.apply import merge_three_way
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, DeleteOptions, Object, Resource, at, copy

MANAGED_BY = "app.kubernetes.io/managed-by"
RELEASE_NAME = "meta.helm.sh/release-name"
RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"


class Item(Struct):
    """An object of a manifest, and where it belongs."""

    resource: Resource
    namespace: str
    name: str
    obj: Object

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from others."""
        return (self.resource.group, self.resource.kind, self.namespace, self.name)


def build(connection: ApiClient, manifests: Iterable[Manifest], namespace: str) -> list[Item]:
    """The objects of manifests; raises ``HelmError`` for kinds that the cluster does not have."""
    found: list[Item] = []
    missing: list[str] = []
    for manifest in manifests:
        for obj in _flat(manifest.head):
            item = _item(connection, obj, namespace)
            found.append(item) if isinstance(item, Item) else missing.append(item)
    if len(missing) > 1:
        raise HelmError("[" + ", ".join(missing) + "]")
    if missing:
        raise HelmError(missing[0])
    return found


def _flat(obj: Object) -> Iterator[Object]:
    if not obj:
        return
    if str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), list):
        for inner in obj["items"]:
            yield from _flat(inner)
    else:
        yield obj


def _item(connection: ApiClient, obj: Object, namespace: str) -> Item | str:
    unset = [f"{name} not set" for name in ("apiVersion", "kind") if not obj.get(name)]
    if unset:
        message = f"[{', '.join(unset)}]" if len(unset) > 1 else unset[0]
        return f'error validating "": error validating data: {message}'
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name, own = str(metadata.get("name") or ""), str(metadata.get("namespace") or "")
    resource = connection.catalogue.of_kind(str(obj["apiVersion"]), str(obj["kind"]))
    if resource is None:
        return (
            f'resource mapping not found for name: "{name}" namespace: "{own}" from "": no matches for kind '
            f'"{obj["kind"]}" in version "{obj["apiVersion"]}"\nensure CRDs are installed first'
        )
    return Item(resource, (own or namespace) if resource.namespaced else "", name, copy(obj))


def own(items: list[Item], release: str, namespace: str) -> None:
    """Say on the objects whose they are."""
    for item in items:
        metadata = item.obj.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), MANAGED_BY: "Helm"}
        metadata["annotations"] = {
            **(metadata.get("annotations") or {}),
            RELEASE_NAME: release,
            RELEASE_NAMESPACE: namespace,
        }


async def present(connection: ApiClient, item: Item) -> Object | None:
    """An item as the cluster has it."""
    try:
        return await connection.get(item.resource, item.namespace, item.name)
    except ApiError as error:
        if error.reason == "NotFound":
            return None
        raise HelmError(f"could not get information about the resource: {error.message}") from None


async def take_existing(
    connection: ApiClient, items: list[Item], release: str, namespace: str, *, take: bool
) -> list[Item]:
    """The items that are in the cluster already and are this release's; raises ``HelmError`` if one is another's."""
    found = []
    for item in items:
        there = await present(connection, item)
        if there is None:
            continue
        faults = [] if take else _ownership(there, release, namespace)
        if faults:
            where = item.namespace
            raise HelmError(
                f'{item.resource.kind} "{item.name}" in namespace "{where}" exists and cannot be imported into the '
                f"current release: invalid ownership metadata; {'; '.join(faults)}"
            )
        found.append(item)
    return found


def _ownership(obj: Object, release: str, namespace: str) -> list[str]:
    faults = []
    for part, name, wanted in (
        ("label", MANAGED_BY, "Helm"),
        ("annotation", RELEASE_NAME, release),
        ("annotation", RELEASE_NAMESPACE, namespace),
    ):
        held = at(obj, "metadata", f"{part}s", name)
        if held is None:
            faults.append(f'{part} validation error: missing key "{name}": must be set to "{wanted}"')
        elif held != wanted:
            faults.append(
                f'{part} validation error: key "{name}" must equal "{wanted}": current value is "{held}"'
            )
    return faults


async def create(connection: ApiClient, items: list[Item]) -> None:
    """Make objects, in order; raises ``HelmError`` with all that the server refuses."""
    faults = []
    for item in items:
        try:
            await _create(connection, item)
        except HelmError as error:
            faults.append(str(error))
    if faults:
        raise HelmError(format_faults(faults))


def format_faults(faults: list[str]) -> str:
    """Format several faults as one error, as the genuine tool does."""
    head = "1 error occurred:" if len(faults) == 1 else f"{len(faults)} errors occurred:"
    return f"{head}\n" + "".join(f"\t* {fault}\n" for fault in faults) + "\n"


async def _create(connection: ApiClient, item: Item) -> None:
    try:
        await connection.create(item.resource, item.namespace, item.obj)
    except ApiError as error:
        raise HelmError(error.message) from None


async def update(
    connection: ApiClient, before: list[Item], wanted: list[Item], made: list[Item], *, force: bool
) -> None:
    """Turn the objects of one manifest into those of another; what is made new goes into ``made``."""
    known = {item.key: item for item in before}
    faults = []
    for item in wanted:
        there = await present(connection, item)
        if there is None:
            try:
                await _create(connection, item)
            except HelmError as error:
                raise HelmError(f"failed to create resource: {error}") from None
            made.append(item)
            continue
        old = known.get(item.key)
        if old is None:
            raise HelmError(f'no {item.resource.kind} with the name "{item.name}" found')
        try:
            await _change(connection, old, item, there, force=force)
        except HelmError as error:
            faults.append(str(error))
    if faults:
        raise HelmError(" && ".join(faults))
    kept = {item.key for item in wanted}
    await remove(connection, [item for item in before if item.key not in kept])


async def _change(connection: ApiClient, old: Item, item: Item, there: Object, *, force: bool) -> None:
    try:
        if force:
            obj = copy(item.obj)
            obj["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"]
            await connection.update(item.resource, item.namespace, item.name, obj)
            return
        patch = merge_three_way(item.resource, old.obj, item.obj, there)
        if patch.body:
            await connection.patch(item.resource, item.namespace, item.name, patch)
    except ApiError as error:
        what = (
            "failed to replace object"
            if force
            else f'cannot patch "{item.name}" with kind {item.resource.kind}'
        )
        raise HelmError(f"{what}: {error.message}") from None


async def remove(connection: ApiClient, items: list[Item], propagation: str = "Background") -> list[str]:
    """Take objects away; the answer is what the server said against it."""
    faults = []
    for item in items:
        there = await present(connection, item)
        if there is None or at(there, "metadata", "annotations", KEEP) == "keep":
            continue
        try:
            await connection.delete(
                item.resource, item.namespace, item.name, DeleteOptions(propagation=propagation)
            )
        except ApiError as error:
            if error.reason != "NotFound":
                faults.append(error.message)
    return faults


def for_removal(manifest: str) -> tuple[list[Manifest], list[Manifest]]:
    """A release's documents to take away, in order, and those that its chart keeps."""
    ordered = in_order(documents(manifest), UNINSTALL_ORDER)
    kept = [item for item in ordered if str(item.annotations.get(KEEP, "")).lower() == "keep"]
    return [item for item in ordered if item not in kept], kept
