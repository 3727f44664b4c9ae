"""What a kubelet serves beside logs and exec: resource statistics, its pods, its configuration, the node's log files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any, Final

import yaml

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.kubelet.image_store import image_inodes, measure_unpacked
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodRecord, Sandbox
from simcloud.machine.files import FileError, Space
from simcloud.machine.network import HttpResponse, Namespace, respond
from simcloud.machine.proc import measure_memory, vary
from simcloud.machine.process import Container

LOGS: Final = "/var/log"
NANO: Final = 10**9


def serve_page(node: Node, pods: Iterable[Object], path: str) -> HttpResponse | None:
    """The page at a path, or None."""
    if path in ("/stats/summary", "/stats/summary/"):
        return _respond_json(summarize(node))
    if path in ("/pods", "/pods/", "/runningpods/"):
        return _respond_json(
            {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": list(pods)}, indent=None
        )
    if path == "/configz":
        config = yaml.safe_load(node.machine.host.files.read("/var/lib/kubelet/config.yaml"))
        return _respond_json({"kubeletconfig": config}, indent=None)
    if path == "/logs":
        return respond(301, "", Location="logs/")
    return _serve_logs(node, path.removeprefix("/logs")) if path.startswith("/logs/") else None


def _respond_json(value: Any, indent: int | None = 1) -> HttpResponse:
    return respond(200, json.dumps(value, indent=indent), Content_Type="application/json")


def _serve_logs(node: Node, path: str) -> HttpResponse:
    """A file below /var/log, or the list of a folder there."""
    files = node.machine.host.files
    where = f"{LOGS}{path}".rstrip("/")
    try:
        if not files.is_dir(where):
            return respond(200, files.read(where), Content_Type="text/plain; charset=utf-8")
        names = [
            f"{name}/" if files.is_dir(f"{where}/{name}") else name for name in sorted(files.listdir(where))
        ]
    except FileError:
        return respond(404, "404 page not found\n")
    links = "".join(f'<a href="{escape(name)}">{escape(name)}</a>\n' for name in names)
    head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
    return respond(200, f"{head}<pre>\n{links}</pre>\n", Content_Type="text/html; charset=utf-8")


# -- /stats/summary --------------------------------------------------------------------------------


def summarize(node: Node) -> Object:
    """The usage of a node and of its pods."""
    machine = node.machine
    now_s, up_s = machine.clock(), machine.kernel.now - machine.booted_at
    machine.cpu.settle(machine.kernel.now)
    stamp, memory, images = rfc3339(now_s), measure_memory(machine), node.images.list_images()
    space = {"time": stamp, **_space(machine.host.files.space("/"))}
    image_space = space | {
        "usedBytes": sum(map(measure_unpacked, images)),
        "inodesUsed": sum(map(image_inodes, images)),
    }
    used = {
        "availableBytes": memory.available,
        "usageBytes": memory.total - memory.free,
        "workingSetBytes": memory.total - memory.available,
        "rssBytes": memory.anonymous,
        "pageFaults": int(up_s * 912),
        "majorPageFaults": int(up_s * 0.05) + 211,
    }
    return {
        "node": {
            "nodeName": node.name,
            "startTime": rfc3339(now_s - up_s),
            "cpu": _cpu(stamp, machine.cpu.load[0], machine.cpu.used_s),
            "memory": {"time": stamp, **used},
            "network": _network(machine.host.namespace, stamp),
            "fs": space,
            "runtime": {"imageFs": image_space, "containerFs": space},
            "rlimit": {"time": stamp, "maxpid": 4_194_304, "curproc": len(machine.processes)},
        },
        "pods": [
            _summarize_pod(node, pod, pod.sandbox, space)
            for pod in node.runtime.pods.values()
            if pod.sandbox is not None
        ],
    }


def _summarize_pod(node: Node, pod: PodRecord, sandbox: Sandbox, space: Object) -> Object:
    running = [(record, record.container) for record in pod.containers if record.running]
    containers = [_summarize_container(record, live, space) for record, live in running if live is not None]
    volumes = [
        space
        | {
            "name": mounted.name,
            "usedBytes": mounted.volume.used_bytes,
            "inodesUsed": mounted.volume.inodes_used,
        }
        for mounted in node.volumes.of(pod.uid).values()
    ]
    stamp, network = space["time"], {"network": _network(sandbox.namespace, space["time"])}
    return {
        "podRef": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "startTime": rfc3339(min((record.started_s for record, _ in running), default=0.0)),
        "containers": containers,
        "cpu": {"time": stamp, **_sum(containers, "cpu", "usageNanoCores", "usageCoreNanoSeconds")},
        "memory": {
            "time": stamp,
            **_sum(containers, "memory", "usageBytes", "workingSetBytes", "rssBytes", "pageFaults"),
        },
        **(network if sandbox.ready else {}),
        "volume": volumes,
        "ephemeral-storage": space | _sum(containers, "rootfs", "usedBytes", "inodesUsed"),
        "process_stats": {
            "process_count": sum(len(live.processes) for _, live in running if live is not None)
        },
    }


def _summarize_container(record: ContainerRecord, container: Container, space: Object) -> Object:
    up_s = max(1.0, container.machine.clock() - record.started_s)
    used = container.memory_bytes // 4096 * 4096
    root = container.files.mounts()[0].volume
    rate = container.cpu.used_s / up_s * (0.9 + 0.2 * vary(record.id, container.kernel.now, 10.0))
    memory = {"usageBytes": used, "workingSetBytes": used, "rssBytes": used}
    memory |= {"pageFaults": used // 2900, "majorPageFaults": 0}
    if container.memory_limit_bytes is not None:
        memory["availableBytes"] = max(0, container.memory_limit_bytes - used)
    return {
        "name": record.name,
        "startTime": rfc3339(record.started_s),
        "cpu": _cpu(space["time"], rate, container.cpu.used_s),
        "memory": {"time": space["time"], **memory},
        "rootfs": space | {"usedBytes": root.used_bytes, "inodesUsed": root.inodes_used},
        "logs": space,
    }


def _cpu(stamp: str, rate: float, used_s: float) -> Object:
    return {"time": stamp, "usageNanoCores": int(rate * NANO), "usageCoreNanoSeconds": int(used_s * NANO)}


def _sum(containers: list[Object], part: str, *names: str) -> dict[str, int]:
    return {name: sum(container[part][name] for container in containers) for name in names}


def _space(space: Space) -> dict[str, int]:
    return {
        "availableBytes": space.available_bytes,
        "capacityBytes": space.total_bytes,
        "usedBytes": space.used_bytes,
        "inodesFree": space.inodes - space.inodes_used,
        "inodes": space.inodes,
        "inodesUsed": space.inodes_used,
    }


def _network(namespace: Namespace, stamp: str) -> dict[str, Any]:
    rows = [
        {
            "name": each.name,
            "rxBytes": each.received_bytes,
            "rxErrors": each.receive_errors,
            "txBytes": each.sent_bytes,
            "txErrors": 0,
        }
        for each in namespace.interfaces()
        if each.name != "lo"
    ]
    return {"time": stamp, **(rows[0] if rows else {"name": ""}), "interfaces": rows}
