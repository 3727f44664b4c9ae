"""Decides what to do for a pod from its observed state; a pure function."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.pods.container_start import spec_hash
from simcloud.kubernetes.kubelet.pods.parts import (
    EPHEMERAL,
    Part,
    init_parts,
    main_parts,
    should_restart,
)
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodState

Health = Callable[[Part, ContainerRecord], str]
"""The probe that a running container has failed for good (``livenessProbe``, ``startupProbe``), or nothing."""

Started = Callable[[Part, ContainerRecord], bool]


class Kill(Struct):
    """A running container that must go."""

    part: Part
    record: ContainerRecord
    message: str
    probe: str = ""


class Actions(Struct):
    """What to do, in this order."""

    new_sandbox: bool = False
    lost_sandbox: bool = False
    kill: list[Kill] = field(default_factory=list)
    start_ephemeral: list[Part] = field(default_factory=list)
    start_init: list[Part] = field(default_factory=list)
    start: list[Part] = field(default_factory=list)


def decide(pod: Object, state: PodState, health: Health, started: Started) -> Actions:
    """The actions that bring a pod closer to its spec."""
    actions = Actions()
    if not state.sandbox_ready:
        return _without_sandbox(pod, state, actions)
    for spec in pod["spec"].get("ephemeralContainers") or ():
        if state.newest(spec["name"]) is None:
            actions.start_ephemeral.append(Part(EPHEMERAL, spec))
    if not _has_initialized(pod, state, health, started, actions):
        return actions
    for part in main_parts(pod):
        record = state.newest(part.name)
        if record is None or not record.running:
            if should_restart(pod, part, state):
                actions.start.append(part)
            continue
        kill = _unfit(part, record, health)
        if kill is not None:
            actions.kill.append(kill)
            if kill.message.endswith("restarted") and _comes_again(pod, part):
                actions.start.append(part)
    return actions


def _comes_again(pod: Object, part: Part) -> bool:
    return str(pod["spec"].get("restartPolicy", "Always")) != "Never" or part.sidecar


def _without_sandbox(pod: Object, state: PodState, actions: Actions) -> Actions:
    done = [part for part in main_parts(pod) if not should_restart(pod, part, state)]
    if len(done) == len(main_parts(pod)) and state.containers:
        return actions
    actions.new_sandbox = True
    actions.lost_sandbox = bool(state.sandbox_id)
    inits = init_parts(pod)
    if inits:
        actions.start_init.append(inits[0])
    else:
        actions.start += [part for part in main_parts(pod) if should_restart(pod, part, state)]
    return actions


def _has_initialized(
    pod: Object, state: PodState, health: Health, started: Started, actions: Actions
) -> bool:
    """Whether the main containers' time has come; until then, what the next init container needs.

    Once a main container was started, only sidecars are looked after.
    """
    begun = any(state.newest(part.name) is not None for part in main_parts(pod))
    for part in init_parts(pod):
        if begun and not part.sidecar:
            continue
        record = state.newest(part.name)
        if record is not None and record.running:
            kill = _unfit(part, record, health)
            if kill is not None:
                actions.kill.append(kill)
                if part.sidecar:
                    actions.start_init.append(part)
            if begun or (part.sidecar and kill is None and started(part, record)):
                continue
            return False
        if record is not None and record.exited and not part.sidecar and record.exit_code == 0:
            continue
        if should_restart(pod, part, state):
            actions.start_init.append(part)
        if not begun:
            return False
    return True


def _unfit(part: Part, record: ContainerRecord, health: Health) -> Kill | None:
    if record.spec_hash != spec_hash(part.spec):
        return Kill(part, record, f"Container {part.name} definition changed, will be restarted")
    failed = health(part, record)
    if failed:
        word = failed.removesuffix("Probe")
        return Kill(part, record, f"Container {part.name} failed {word} probe, will be restarted", failed)
    return None
