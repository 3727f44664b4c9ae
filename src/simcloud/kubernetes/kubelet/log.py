"""What the kubelet of a node writes to its journal, as a genuine one does with ``--v=2``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from simcloud.golang import float_text, format_duration, quote
from simcloud.kubernetes import startup_lines
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.klog import Klog, Raw, format_klog, format_message
from simcloud.kubernetes.kubelet.pods.parts import full_name
from simcloud.kubernetes.kubelet.services import KUBELET
from simcloud.kubernetes.nodes import KUBELET_VERSION
from simcloud.machine import Entry, Machine
from simcloud.machine.proc import vary

SLOW_ROUND_S: Final = 5.3 * 3600
_UNHANDLED: Final = "Unhandled Error"
_RUNTIME_CALLS: Final = {
    "ErrImagePull": ("remote_image.go:250", "PullImage from image service failed"),
    "CreateContainerError": (
        "remote_runtime.go:410",
        "CreateContainer in sandbox from runtime service failed",
    ),
    "RunContainerError": ("remote_runtime.go:435", "StartContainer from runtime service failed"),
}
_STATELESS: Final = {"configMap", "secret", "emptyDir", "downwardAPI", "projected"}
_VOLUME_KINDS: Final = {"configMap": "configmap", "emptyDir": "empty-dir", "hostPath": "host-path",
                        "downwardAPI": "downward-api"}  # fmt: skip


class KubeletLog:
    """Writes lines in klog's format to the journal of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._klog = Klog(machine.kernel, f"{machine.name}/kubelet log")
        machine.journal.sources.append(self._list_slow_rounds)
        self._mounts: dict[str, None] = {}
        self._pulls: dict[str, list[float]] = {}
        """By a starting pod's uid, when pulls of its images began and ended."""

    def write_info(self, source: str, message: str, /, **values: Any) -> None:
        """An informational line: the position in the source, a message, and values."""
        self._write("I", source, format_message(message, values))

    def write_error(self, source: str, message: str, /, **values: Any) -> None:
        """A line about a failure."""
        self._write("E", source, format_message(message, values))

    def _write(self, level: str, source: str, text: str) -> None:
        unit = self._machine.units.get(KUBELET)
        if unit is not None and unit.process is not None:
            written_s = self._klog.next_time(self._machine.clock())
            unit.log(format_klog(level, written_s, unit.process.host_pid, source, text), written_s)

    def write_startup(self) -> None:
        """The kubelet starts, and knows of no volume yet."""
        self._mounts.clear()
        text = startup_lines.KUBELET.replace("$NODE_NAME", self._machine.name)
        for line in text.replace("$VERSION", KUBELET_VERSION).splitlines():
            source, _, rest = line.partition("] ")
            self._write("I", source, rest)

    def _list_slow_rounds(self) -> Iterator[Entry]:
        """Every few hours the kubelet complains of a round of housekeeping that took too long."""
        machine, unit = self._machine, self._machine.units.get(KUBELET)
        if unit is None or unit.process is None or unit.active_s is None:
            return
        now_s, process = machine.clock(), unit.process
        booted_s = now_s - machine.kernel.now + machine.booted_at
        values = {"err": "housekeeping took too long", "expected": "1s"}
        first, last = int(max(unit.active_s, booted_s) / SLOW_ROUND_S) + 1, int(now_s / SLOW_ROUND_S)
        for period in range(first, last):
            share = vary(f"{machine.name}/housekeeping/{period}")
            time_s, took = (period + share) * SLOW_ROUND_S, format_duration(round(1.0 + share % 0.31, 3))
            text = format_message("Housekeeping took longer than expected", {**values, "actual": took})
            line = format_klog("E", time_s, process.host_pid, "kubelet.go:2809", text)
            place = (time_s, time_s - booted_s, machine.boot_id, KUBELET, "kubelet", process.host_pid)
            yield Entry(*place, line, command=" ".join(process.argv))

    # -- pods ----------------------------------------------------------------------------------

    def pods_changed(self, source: str, word: str, *pods: Object) -> None:
        """The API has new pods for this node, has them no more, or wants them deleted."""
        self.write_info(source, f"SyncLoop {word}", source="api", pods=[name_of(pod) for pod in pods])

    def container_changed(self, pod: Object, kind: str, container_id: str) -> None:
        """The runtime has another state of a container or sandbox."""
        event = Raw(f'{{"ID":"{pod["metadata"]["uid"]}","Type":"{kind}","Data":"{container_id}"}}')
        self.write_info("kubelet.go:2737", "SyncLoop (PLEG): event for pod", pod=name_of(pod), event=event)

    def pod_running(self, pod: Object) -> None:
        """All containers of a pod run for the first time."""
        now_s = self._klog.next_time(self._machine.clock())
        created_s = parse(pod["metadata"]["creationTimestamp"])
        took_s = max(0.0, now_s - created_s)
        pulls = self._pulls.pop(pod["metadata"]["uid"], [])
        pulled_s = pulls[-1] - pulls[0] if pulls else 0.0
        volumes = pod["spec"].get("volumes") or ()
        times = {
            "podStartSLOduration": Raw(float_text(round(took_s - pulled_s, 9))),
            "podStartE2EDuration": format_duration(took_s),
            "totalImagesPullingTime": format_duration(pulled_s),
            "totalInitContainerRuntime": "0s",
            "isStatefulPod": Raw(str(any(_STATELESS.isdisjoint(volume) for volume in volumes)).lower()),
            "podCreationTimestamp": _format_time(created_s),
            "imagePullSessionsCount": len(pulls) // 2,
            "imagePullSessionsStartsCount": 0,
            "observedRunningTime": self._format_time(now_s - 0.000_3),
            "watchObservedRunningTime": self._format_time(now_s),
        }
        source = "pod_startup_latency_tracker.go:148"
        self.write_info(source, "Observed pod startup duration", pod=name_of(pod), **times)

    def image_pulled(self, pod: Object, took_s: float) -> None:
        """An image was pulled for a pod."""
        now_s = self._machine.clock()
        self._pulls.setdefault(pod["metadata"]["uid"], []).extend((now_s - took_s, now_s))

    def _format_time(self, time_s: float) -> str:
        """A time as Go prints it, with the age of the kubelet's process then."""
        unit = self._machine.units[KUBELET]
        return f"{_format_time(time_s)} m=+{time_s - (unit.active_s or 0.0):.9f}"

    def sync_failed(self, pod: Object, why: str) -> None:
        """A sync of a pod failed; it will be repeated."""
        self.write_error("pod_workers.go:1338", "Error syncing pod, skipping", err=why, **_identify(pod))

    def start_failed(self, pod: Object, container: str, reason: str, message: str) -> None:
        """A container was not started."""
        if reason in _RUNTIME_CALLS:
            prefix = "" if reason == "ErrImagePull" else "rpc error: code = Unknown desc = "
            source, call = _RUNTIME_CALLS[reason]
            self.write_error(source, call, err=f"{prefix}{message}")
        if reason not in ("CrashLoopBackOff", "ImagePullBackOff"):
            failed = f"container {container} start failed in pod {full_name(pod)}: {reason}: {message}"
            self.write_error("kuberuntime_manager.go:1760", _UNHANDLED, err=failed, logger="UnhandledError")
        self.sync_failed(pod, f'failed to "StartContainer" for "{container}" with {reason}: {quote(message)}')

    def sandbox_failed(self, pod: Object, message: str) -> None:
        """A pod got no sandbox."""
        why, name = message.removeprefix("Failed to create pod sandbox: "), full_name(pod)
        self.write_error("remote_runtime.go:237", "RunPodSandbox from runtime service failed", err=why)
        text = quote(f'Failed to create sandbox for pod "{name}": {why}')
        self.sync_failed(pod, f'failed to "CreatePodSandbox" for "{name}" with CreatePodSandboxError: {text}')

    def probe_failed(self, pod: Object, container: str, kind: str, result: str, output: str) -> None:
        """A probe did not succeed."""
        values = {"containerName": container, "probeResult": result, "output": output}
        self.write_info("prober.go:122", "Probe failed", probeType=kind, **_identify(pod), **values)

    def probe_concluded(self, pod: Object, kind: str, status: str) -> None:
        """Enough probes have succeeded or failed to change the state of a container."""
        self.write_info("kubelet.go:2826", "SyncLoop (probe)", probe=kind, status=status, pod=name_of(pod))

    def container_killed(self, pod: Object, container: str, full_id: str, grace_s: float) -> None:
        """A container is stopped."""
        values = {"containerName": container, "containerID": full_id, "gracePeriod": int(grace_s)}
        message = "Killing container with a grace period"
        self.write_info("kuberuntime_container.go:910", message, **_identify(pod), **values)

    # -- volumes -------------------------------------------------------------------------------

    def mounts_began(self, pod: Object) -> None:
        """The volumes of a pod are set up, for the first time."""
        uid = pod["metadata"]["uid"]
        if uid not in self._mounts:
            self._mounts[uid] = None
            self._say_volumes("reconciler_common.go:251", "VerifyControllerAttachedVolume", pod)

    def mounts_ended(self, pod: Object) -> None:
        """The volumes of a pod are taken down."""
        self._mounts.pop(pod["metadata"]["uid"], None)
        self._pulls.pop(pod["metadata"]["uid"], None)
        self._say_volumes("reconciler_common.go:163", "UnmountVolume", pod)

    def _say_volumes(self, source: str, operation: str, pod: Object) -> None:
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        for volume in pod["spec"].get("volumes") or ():
            what = f'started for volume "{volume["name"]}" (UniqueName: "{_unique(pod, volume)}")'
            message = f'operationExecutor.{operation} {what} pod "{name}" (UID: "{uid}") '
            self.write_info(source, message, pod=name_of(pod))

    def mount_failed(self, pod: Object, message: str) -> None:
        """A volume could not be set up."""
        if not message.startswith("MountVolume"):
            self.sync_failed(pod, message.removeprefix("Unable to attach or mount volumes: "))
            return
        name, uid = message.partition('volume "')[2].partition('"')[0], pod["metadata"]["uid"]
        volume = next((each for each in pod["spec"]["volumes"] if each["name"] == name), {"name": name})
        unique, due = _unique(pod, volume), _format_time(self._machine.clock() + 0.5)
        head, _, why = message.partition(" : ")
        text = (
            f'Operation for "{{volumeName:{unique} podName:{uid} nodeName:}}" failed. No retries permitted until {due} '
            f'(durationBeforeRetry 500ms). Error: {head} (UniqueName: "{unique}") pod "{pod["metadata"]["name"]}" '
            f'(UID: "{uid}") : {why}'
        )
        self._write("E", "nestedpendingoperations.go:348", text)


def name_of(pod: Object) -> str:
    """A pod as structured lines name it."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _identify(pod: Object) -> dict[str, str]:
    return {"pod": name_of(pod), "podUID": pod["metadata"]["uid"]}


def _unique(pod: Object, volume: Object) -> str:
    kind = next((key for key in volume if key != "name"), "hostPath")
    return f"kubernetes.io/{_VOLUME_KINDS.get(kind, kind)}/{pod['metadata']['uid']}-{volume['name']}"


def _format_time(time_s: float) -> str:
    moment = datetime.fromtimestamp(int(time_s), UTC)
    fraction = f"{time_s % 1:.9f}"[1:].rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC"
