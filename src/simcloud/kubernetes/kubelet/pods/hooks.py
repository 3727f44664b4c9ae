"""Lifecycle hooks: a command, a request or a pause after a container's start and before its end."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.machine.network import HTTP, HttpRequest, HttpResponse, Namespace, NetworkError
from simcloud.machine.process import Capture, CommandNotFound, ForkFailed, NotExecutable, Process, Signal


class HookFailed(Exception):
    """A hook did not succeed."""


async def run_hook(hook: Object, spec: Object, record: ContainerRecord, namespace: Namespace) -> None:
    """Run a hook to its end. ``HookFailed`` when it fails."""
    container = record.container
    if container is None:
        raise HookFailed("container not running")
    if "sleep" in hook:
        await container.kernel.sleep(float(hook["sleep"]["seconds"]))
    elif "exec" in hook:
        status, _ = await run_command(record, list(hook["exec"].get("command") or ()))
        if status != 0:
            raise HookFailed(f"command exited with {status}")
    elif "httpGet" in hook:
        await _request(hook["httpGet"], spec, namespace)


async def run_command(record: ContainerRecord, argv: list[str]) -> tuple[int, bytes]:
    """Run a command in a container; its exit code and all it wrote."""
    container = record.container
    if container is None or not record.running:
        return 126, b"container not running"
    output = Capture(10 * 1024)
    try:
        process = container.start(argv, uid=record.uid, gid=record.gid, streams={1: output, 2: output})
    except CommandNotFound:
        return 127, _not_started(argv, "executable file not found in $PATH")
    except (NotExecutable, ForkFailed) as error:
        return 126, _not_started(argv, str(error).lower())
    try:
        status = await process.wait()
    finally:
        end_family(process)
    return status, bytes(output.data)


def end_family(process: Process) -> None:
    """Kill a process that was started from outside, with its children."""
    for child in list(process.children.values()):
        end_family(child)
    process.send(Signal.KILL, outside=True)


def _not_started(argv: list[str], why: str) -> bytes:
    return (
        "OCI runtime exec failed: exec failed: unable to start container process: "
        f'exec: "{argv[0] if argv else ""}": {why}'
    ).encode()


async def _request(action: Object, spec: Object, namespace: Namespace) -> None:
    port = port_number(action.get("port"), spec)
    host = action.get("host") or namespace.address
    try:
        connection = await namespace.dial(host, port, HTTP, 30.0)
        request = HttpRequest("GET", action.get("path") or "/", {"Host": f"{host}:{port}"})
        connection.send(request, request.size_bytes)
        response = await connection.receive()
        connection.close()
    except NetworkError as error:
        raise HookFailed(str(error)) from None
    if not isinstance(response, HttpResponse) or not 200 <= response.status < 400:
        raise HookFailed("bad answer")


def port_number(port: object, spec: Object) -> int:
    """The number of a port, which may be named by the container's list of ports; 0 for none."""
    if isinstance(port, int):
        return port
    text = str(port or "")
    if text.isdecimal():
        return int(text)
    return next(
        (int(each["containerPort"]) for each in spec.get("ports") or () if each.get("name") == text), 0
    )
