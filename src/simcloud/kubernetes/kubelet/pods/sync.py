"""Brings a pod closer to its spec: creates the sandbox, removes unfit containers, starts missing ones."""

from __future__ import annotations

from msgspec import Struct, field

from simcloud.golang import format_duration
from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.containerd import RuntimeFailed
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.node_status import NO_NETWORK
from simcloud.kubernetes.kubelet.pods.actions import Actions, Kill
from simcloud.kubernetes.kubelet.pods.container_start import StartFailed, start_container
from simcloud.kubernetes.kubelet.pods.container_stop import grace_of, stop_container, stop_pod
from simcloud.kubernetes.kubelet.pods.dns import dns_settings
from simcloud.kubernetes.kubelet.pods.parts import (
    Part,
    core_limit,
    full_name,
    limits_of,
    main_parts,
    pod_memory_limit,
)
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodState, Sandbox
from simcloud.kubernetes.network.pod_network import NetworkNotReady, PodNetworkError
from simcloud.sim import Event, gather


class Outcome(Struct):
    """How an attempt went: containers that were started, and those that were not, with why."""

    started: list[str] = field(default_factory=list)
    failed: dict[str, StartFailed] = field(default_factory=dict)
    other: bool = False
    """Something else went wrong."""


async def carry_out(
    node: Node, pod: Object, state: PodState, actions: Actions, interrupt: Event[None]
) -> Outcome:
    """Do what was decided; after an interrupt nothing more is started."""
    outcome = Outcome()
    sandbox = await _sandbox(node, pod, actions, outcome)
    if sandbox is None:
        return outcome
    works = [
        stop_container(node, pod, kill.part, record, kill.message, grace_of(pod, kill.part, kill.probe))
        for kill, record in _live_kills(node, pod, actions)
    ]
    if works:
        await gather(node.machine.kernel, works, "killing")
    for part in (*actions.start_ephemeral, *actions.start_init, *actions.start):
        if not interrupt.is_set:
            await _start(node, pod, part, state, sandbox, outcome, interrupt)
    return outcome


def _live_kills(node: Node, pod: Object, actions: Actions) -> list[tuple[Kill, ContainerRecord]]:
    """The containers to end, with their live records: what was seen of them is a copy."""
    uid = pod["metadata"]["uid"]
    pairs = [(kill, node.runtime.find(uid, kill.record.id)) for kill in actions.kill]
    return [(kill, record) for kill, record in pairs if record is not None and record.running]


async def _sandbox(node: Node, pod: Object, actions: Actions, outcome: Outcome) -> Sandbox | None:
    """The pod's sandbox, made when there is none."""
    uid = pod["metadata"]["uid"]
    if not actions.new_sandbox:
        record = node.runtime.pods.get(uid)
        return record.sandbox if record is not None else None
    if actions.lost_sandbox:
        changed = "Pod sandbox changed, it will be killed and re-created."
        node.recorder.event(pod, "Normal", "SandboxChanged", changed)
        await stop_pod(node, pod)
        await node.runtime.stop_sandbox(uid)
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    node.log.write_info("util.go:34", "No sandbox for pod can be found. Need to start a new one", pod=name)
    try:
        sandbox = await node.runtime.run_sandbox(pod, pod_memory_limit(pod))
    except RuntimeFailed as error:
        outcome.other = True
        why = f"Failed to create pod sandbox: {error}"
        node.recorder.event(pod, "Warning", "FailedCreatePodSandBox", why)
        node.log.sandbox_failed(pod, why)
        return None
    except NetworkNotReady as error:
        outcome.other = True
        node.recorder.event(
            pod, "Warning", "NetworkNotReady", f"network is not ready: {NO_NETWORK.format(error)}"
        )
        node.log.sync_failed(pod, f"network is not ready: {NO_NETWORK.format(error)}")
        return None
    except PodNetworkError as error:
        outcome.other = True
        why = _no_network(node, error)
        node.recorder.event(pod, "Warning", "FailedCreatePodSandBox", why)
        node.log.sandbox_failed(pod, why)
        return None
    sandbox.dns = dns_settings(pod, node.dns, sandbox.namespace.address)
    if not pod["spec"].get("hostNetwork"):
        node.network.set_dns(sandbox.namespace, sandbox.dns)
    node.statuses.set_sandbox_ready(pod)
    return sandbox


def _no_network(node: Node, error: PodNetworkError) -> str:
    return (
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "
        f'"{node.runtime.new_id()}": plugin type="ptp" failed (add): {error}'
    )


async def _start(
    node: Node,
    pod: Object,
    part: Part,
    state: PodState,
    sandbox: Sandbox,
    outcome: Outcome,
    interrupt: Event[None],
) -> None:
    try:
        _check_pause(node, pod, part, state)
        status = node.statuses.get(pod) | _addresses(node, sandbox)
        await start_container(node, pod, part, state, sandbox, status, interrupt)
    except StartFailed as failure:
        outcome.failed[part.name] = failure
    else:
        outcome.started.append(part.name)


def _addresses(node: Node, sandbox: Sandbox) -> Object:
    """What a status will say of addresses: containers may ask for them before it says so."""
    return {
        "podIP": sandbox.namespace.address,
        "podIPs": [{"ip": sandbox.namespace.address}],
        "hostIP": node.address,
        "hostIPs": [{"ip": node.address}],
    }


def _check_pause(node: Node, pod: Object, part: Part, state: PodState) -> None:
    """Hold back a container that ended a short while ago, longer each time."""
    last = state.last_exited(part.name)
    if last is None:
        return
    key = f"{pod['metadata']['uid']}_{part.name}_{part.spec.get('image')}"
    now_s = node.machine.clock()
    if node.crashes.holds_since(key, last.finished_s, now_s):
        node.tell(
            pod,
            part,
            "Warning",
            "BackOff",
            f"Back-off restarting failed container {part.name} in pod {full_name(pod)}",
        )
        pause_s = node.crashes.pause_s(key)
        message = f"back-off {format_duration(pause_s)} restarting failed container={part.name} pod={full_name(pod)}"
        until_s = node.machine.kernel.now + last.finished_s + pause_s - now_s
        raise StartFailed("CrashLoopBackOff", message, until_s)
    node.crashes.lengthen(key, last.finished_s, now_s)


def resize(node: Node, pod: Object) -> None:
    """Give running containers the limits that their spec says now."""
    live = node.runtime.pods.get(pod["metadata"]["uid"])
    if live is None:
        return
    for part in main_parts(pod):
        record = next((each for each in live.containers if each.name == part.name and each.running), None)
        wanted = {
            kind: dict(amounts)
            for kind, amounts in (part.spec.get("resources") or {}).items()
            if kind in ("limits", "requests") and amounts
        }
        if record is None or record.container is None or record.resources == wanted:
            continue
        limits = limits_of(part.spec)
        record.resources = wanted
        record.container.cpu.set_limit(core_limit(limits))
        record.container.memory_limit_bytes = quantity.whole(limits["memory"]) if "memory" in limits else None
        record.container.relieve_memory()
        node.runtime.on_change(live.uid)
