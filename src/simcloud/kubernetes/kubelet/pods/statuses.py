"""A pod's status, from the state of the runtime, the results of probes and the errors of starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import rfc3339
from simcloud.kubernetes.kubelet.pods.parts import (
    EPHEMERAL,
    INIT,
    MAIN,
    STATUSES,
    Part,
    init_parts,
    limits_of,
    main_parts,
    parts,
    requests_of,
    should_restart,
)
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodState

Reason = tuple[str, str]
"""Why a container waits, and the words for it."""

Verdict = Callable[[Part, ContainerRecord], tuple[bool, bool]]
"""Whether a running container has started, and whether it is ready."""

_COUNTED: Final = ("cpu", "memory")


def container_statuses(
    pod: Object, state: PodState, old: Object, reasons: Mapping[str, Reason], verdict: Verdict
) -> Object:
    """The lists of container statuses; empty lists are left out."""
    made: Object = {}
    waiting = "PodInitializing" if pod["spec"].get(INIT) else "ContainerCreating"
    for part in parts(pod):
        field = STATUSES[part.kind]
        before = next((each for each in old.get(field) or () if each["name"] == part.name), None)
        reason = reasons.get(part.name)
        status = _container_status(pod, part, state, before, reason, waiting, verdict)
        made.setdefault(field, []).append(status)
    if MAIN in pod["spec"]:
        made[STATUSES[MAIN]].sort(key=lambda each: each["name"])
    return made


def _container_status(
    pod: Object,
    part: Part,
    state: PodState,
    before: Object | None,
    reason: Reason | None,
    waiting: str,
    verdict: Verdict,
) -> Object:
    records = [each for each in state.containers if each.name == part.name]
    if not records:
        status = _default_status(part, before, waiting)
    else:
        status = _record_status(part, records[0])
        last = _make_terminated(records[1]) if len(records) > 1 and records[1].exited else None
        status["lastState"] = {"terminated": last} if last else _keep_last_state(before, records[0])
        if records[0].running:
            started, ready = verdict(part, records[0])
            if part.kind != EPHEMERAL:
                status["started"] = started
                status["ready"] = ready and started and (part.kind == MAIN or part.sidecar)
        elif part.kind == INIT and not part.sidecar and records[0].exited and records[0].exit_code == 0:
            status["ready"] = True
    if reason is not None and should_restart(pod, part, state):
        if "terminated" in status["state"]:
            status["lastState"] = status["state"]
        details = {"message": reason[1]} if reason[1] else {}
        status["state"] = {"waiting": {**details, "reason": reason[0]}}
    if part.spec.get("volumeMounts"):
        status["volumeMounts"] = [_mount_status(each) for each in part.spec["volumeMounts"]]
    return {key: status[key] for key in sorted(status)}


def _keep_last_state(before: Object | None, record: ContainerRecord) -> Object:
    """The state before this container's, as reported earlier, because the runtime forgets old containers."""
    if before is None:
        return {}
    if before.get("containerID") == record.full_id:
        last: Object = before.get("lastState") or {}
        own = (last.get("terminated") or {}).get("containerID")
        return {} if own == record.full_id else last
    if "terminated" in before["state"]:
        return {"terminated": before["state"]["terminated"]}
    return before.get("lastState") or {}


def _default_status(part: Part, before: Object | None, waiting: str) -> Object:
    status: Object = {
        "name": part.name,
        "image": part.spec.get("image", ""),
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "lastState": {},
        "state": {"waiting": {"reason": waiting}},
    }
    if part.kind != EPHEMERAL:
        status["started"] = False
    if before is not None and before.get("containerID"):
        # The runtime has lost a container that was reported before: its machine was restarted.
        status["restartCount"] = before["restartCount"]
        lost = before["state"].get("terminated")
        status["lastState"] = {"terminated": lost} if lost else before.get("lastState") or {}
        if "running" in before["state"]:
            status["lastState"] = {"terminated": _make_lost(before)}
    return status


def _make_lost(before: Object) -> Object:
    return {
        "containerID": before["containerID"],
        "exitCode": 137,
        "finishedAt": None,
        "message": "The container could not be located when the pod was terminated",
        "reason": "ContainerStatusUnknown",
        "startedAt": None,
    }


def _record_status(part: Part, record: ContainerRecord) -> Object:
    status: Object = {
        "name": part.name,
        "containerID": record.full_id,
        "image": record.image.name,
        "imageID": record.image.image_id,
        "ready": False,
        "restartCount": record.attempt,
        "resources": record.resources,
        "state": {"waiting": {"reason": "ContainerCreating"}},
        "user": {
            "linux": {"uid": record.uid, "gid": record.gid, "supplementalGroups": list(record.groups)},
        },
    }
    if part.kind != EPHEMERAL:
        status["started"] = False
    if record.resources.get("requests"):
        status["allocatedResources"] = record.resources["requests"]
    if record.running:
        status["state"] = {"running": {"startedAt": rfc3339(record.started_s)}}
    elif record.exited:
        status["state"] = {"terminated": _make_terminated(record)}
    return status


def _make_terminated(record: ContainerRecord) -> Object:
    made: Object = {
        "containerID": record.full_id,
        "exitCode": record.exit_code,
        "finishedAt": rfc3339(record.finished_s),
        "reason": record.reason,
        "startedAt": rfc3339(record.started_s),
    }
    if record.message:
        made["message"] = record.message
    return made


def _mount_status(mount: Object) -> Object:
    made = {"mountPath": mount["mountPath"], "name": mount["name"]}
    if mount.get("readOnly"):
        made |= {"readOnly": True, "recursiveReadOnly": "Disabled"}
    return made


def phase_of(pod: Object, statuses: Object, ending: bool) -> str:
    """Pending, Running, Succeeded or Failed. ``ending`` is a pod that will start nothing any more."""
    policy = pod["spec"].get("restartPolicy", "Always")
    inits = {each["name"]: each for each in statuses.get("initContainerStatuses") or ()}
    pending, failed = _init_counts(pod, inits)
    if failed and policy == "Never":
        return "Failed"
    counts = _main_counts(pod, {each["name"]: each for each in statuses.get("containerStatuses") or ()})
    if ending and counts["running"] == 0 and (counts["stopped"] or failed):
        every = counts["stopped"] == counts["succeeded"] and counts["waiting"] == 0 and not failed
        return "Succeeded" if every else "Failed"
    if pending or counts["waiting"] or counts["unknown"]:
        return "Pending"
    if counts["running"]:
        return "Running"
    if counts["stopped"]:
        if policy == "Always":
            return "Running"
        if counts["stopped"] == counts["succeeded"]:
            return "Succeeded"
        return "Failed" if policy == "Never" else "Running"
    return "Pending"


def _init_counts(pod: Object, inits: Mapping[str, Object]) -> tuple[int, int]:
    """How many init containers are still to come or to end, and how many have failed."""
    pending = failed = 0
    for part in init_parts(pod):
        status = inits.get(part.name)
        if status is None:
            pending += 1
        elif part.sidecar:
            stopped = "terminated" in status["state"] or status["lastState"]
            pending += 0 if status.get("started") or stopped else 1
        elif "terminated" in status["state"]:
            failed += 1 if status["state"]["terminated"]["exitCode"] else 0
            pending += 1 if status["state"]["terminated"]["exitCode"] else 0
        else:
            pending += 1
    return pending, failed


def _main_counts(pod: Object, mains: Mapping[str, Object]) -> dict[str, int]:
    counts = dict.fromkeys(("running", "waiting", "stopped", "succeeded", "unknown"), 0)
    for part in main_parts(pod):
        status = mains.get(part.name)
        if status is None:
            counts["unknown"] += 1
        elif "running" in status["state"]:
            counts["running"] += 1
        elif "terminated" in status["state"]:
            counts["stopped"] += 1
            counts["succeeded"] += 1 if status["state"]["terminated"]["exitCode"] == 0 else 0
        elif status["lastState"].get("terminated"):
            counts["stopped"] += 1
        else:
            counts["waiting"] += 1
    return counts


def pod_resources(pod: Object, no_limit: str | None = None) -> Object:
    """The pod's own resources, and what the node has put aside for it; ``no_limit`` stands for unlimited memory."""
    requests = _total(requests_of(part.spec) for part in main_parts(pod))
    made: Object = {"resources": {}}
    if requests:
        made["allocatedResources"] = requests
    counted = {name: amount for name, amount in requests.items() if name in _COUNTED}
    limits = {name: _limit(pod, name) for name in _COUNTED}
    if no_limit and not limits["memory"]:
        limits["memory"] = no_limit
    limited = {name: amount for name, amount in limits.items() if amount}
    if limited:
        made["resources"]["limits"] = limited
    if counted:
        made["resources"]["requests"] = counted
    return made


def _limit(pod: Object, name: str) -> str:
    given = [limits_of(part.spec).get(name) for part in main_parts(pod)]
    if not given or not all(given):
        return ""
    return str(_total({name: each} for each in given)[name])


def _total(amounts: Any) -> Object:
    total: Object = {}
    for resources in amounts:
        for name, amount in resources.items():
            if name in total:
                family = "binary" if str(amount)[-1:] == "i" else "decimal"
                total[name] = quantity.render(quantity.parse(total[name]) + quantity.parse(amount), family)
            else:
                total[name] = amount
    return total
