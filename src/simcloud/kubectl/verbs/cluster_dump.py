"""``kubectl cluster-info dump``: the objects of the system and the logs of its pods."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl.command import command
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.output import printer_of
from simcloud.kubectl.printing.lists import without_managed_fields
from simcloud.kubectl.printing.output import OBJECT_FORMATS, Printer
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes import ApiClient
from simcloud.kubernetes.api import ApiError, LogOptions, Object, Resource
from simcloud.kubernetes.api.schema import in_struct_order
from simcloud.kubernetes.api.subresources import open_log
from simcloud.machine.files import FileError
from simcloud.sim import Event

KINDS: Final = {
    "events": "events",
    "replication-controllers": "replicationcontrollers",
    "services": "services",
    "daemonsets": "daemonsets.apps",
    "deployments": "deployments.apps",
    "replicasets": "replicasets.apps",
    "pods": "pods",
}
"""What is dumped of a namespace: a file's name, and the resource."""
ENDINGS: Final = {"json": ".json", "yaml": ".yaml"}
EXAMPLES: Final = ("kubectl cluster-info dump --output-directory=/tmp/state", "kubectl cluster-info dump -A")


@command("cluster-info dump", "Dump what is needed to find a fault of the cluster", examples=EXAMPLES)
async def dump(kubectl: Kubectl) -> None:
    """Objects and logs to the terminal, or into a folder."""
    flags = kubectl.flags
    connection = await kubectl.connect()
    printer = printer_of(kubectl, OBJECT_FORMATS, keep_order=True)
    assert printer is not None  # json is the default output
    ending = ENDINGS.get(flags["output"], ".txt")
    await _dump(kubectl, connection, printer, "nodes", None, f"nodes{ending}")
    for namespace in await _namespaces(kubectl, connection):
        for name, resource in KINDS.items():
            await _dump(kubectl, connection, printer, resource, namespace, f"{namespace}/{name}{ending}")
        for pod in await connection.list(connection.resource("pods"), namespace):
            await _logs(kubectl, connection, pod)
    folder = flags["output-directory"]
    if folder not in ("", "-"):
        await kubectl.out(f"Cluster info dumped to {folder}\n")


async def _namespaces(kubectl: Kubectl, connection: ApiClient) -> list[str]:
    if kubectl.flags["all-namespaces"]:
        found = await connection.list(connection.resource("namespaces"), None)
        return [item["metadata"]["name"] for item in found]
    return kubectl.flags["namespaces"] or ["kube-system", kubectl.namespace]


async def _dump(
    kubectl: Kubectl, connection: ApiClient, printer: Printer, name: str, namespace: str | None, path: str
) -> None:
    resource = connection.resource(name)
    listed = await connection.get_list(resource, namespace)
    items = [_as_list_item(item, resource) for item in listed["items"]]
    whole: Object = {
        "kind": resource.list_kind,
        "apiVersion": resource.api_version,
        "metadata": listed["metadata"],
        "items": items or None,
    }
    await _write(kubectl, path, printer.print(whole))


def _as_list_item(obj: Object, resource: Resource) -> Object:
    """Return an object as in a list of its kind, without kind and version of its own."""
    bare = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    ordered: Object = in_struct_order(without_managed_fields(bare), resource.schema)
    return ordered


async def _logs(kubectl: Kubectl, connection: ApiClient, pod: Object) -> None:
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    parts = []
    spec = pod["spec"]
    for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        about = f"logs for container {container['name']} of pod {namespace}/{name} ====\n"
        parts.append(f"==== START {about}")
        try:
            connection.check("get", connection.resource("pods"), namespace, name, "log")
            parts.append(await _log(kubectl, connection, namespace, name, container["name"]))
        except ApiError as error:
            parts.append(f"Request log error: {error.message}\n")
        parts.append(f"==== END {about}")
    await _write(kubectl, f"{namespace}/{name}/logs.txt", "".join(parts))


async def _log(kubectl: Kubectl, connection: ApiClient, namespace: str, pod: str, container: str) -> str:
    stream = open_log(connection.api, namespace, pod, LogOptions(container=container))
    ended: Event[None] = Event(kubectl.ctx.kernel)
    written: list[bytes] = []
    stream.on_data, stream.on_end = written.append, lambda: ended.set(None)
    try:
        await ended.wait()
    finally:
        stream.stop()
    return b"".join(written).decode(errors="replace")


async def _write(kubectl: Kubectl, path: str, text: str) -> None:
    folder = kubectl.flags["output-directory"]
    if folder in ("", "-"):
        await kubectl.out(text)
        return
    files, whole = kubectl.ctx.files, f"{folder.rstrip('/')}/{path}"
    try:
        files.mkdir(whole.rpartition("/")[0], 0o755, parents=True)
        files.put(whole, text.encode())
    except FileError as error:
        raise KubectlError(f"open {whole}: {error.strerror.lower()}") from None
