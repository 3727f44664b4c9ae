"""The worker of one pod: syncs it, terminates it, and cleans up; one step at a time.

A sync creates the pod's status from the last observed state of the runtime, reports it, and then acts. The effects
show in the status of the next sync; so a container that failed to start shows its reason one sync later, as on a real
node. A failed sync is repeated after 10 to 15 s; one that is held back by a crashing container, when its back-off
ends or a little later.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.kubelet.node import Node
from simcloud.kubernetes.kubelet.pods.actions import decide
from simcloud.kubernetes.kubelet.pods.conditions import condition, pod_conditions
from simcloud.kubernetes.kubelet.pods.container_stop import stop_pod
from simcloud.kubernetes.kubelet.pods.prober import Prober
from simcloud.kubernetes.kubelet.pods.status_manager import TERMINAL
from simcloud.kubernetes.kubelet.pods.statuses import Reason, container_statuses, phase_of, pod_resources
from simcloud.kubernetes.kubelet.pods.sync import Outcome, carry_out, resize
from simcloud.kubernetes.kubelet.pods.termination_messages import hear_last_words
from simcloud.kubernetes.kubelet.records import ContainerRecord, PodState
from simcloud.sim import Event, Task, Timer

RETRY_S: Final = 10.0
RESYNC_S: Final = 60.0
JITTER: Final = 0.5
CGROUP_V1_UNLIMITED: Final = "9007199254740988Ki"
"""How cgroups of version 1 tell that memory has no limit; version 2 tells nothing."""

OVERDUE: Final = "DeadlineExceeded"
TOO_LONG: Final = "Pod was active on the node longer than the specified deadline"


class Clock(Protocol):
    """The kubelet's own beat: when it next looks at its runtime, and tasks that live as long as it does."""

    def next_look(self, after: float) -> float:
        """The first time after that one at which the runtime is looked at."""

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> Task[Any]:
        """A task of the kubelet."""


class PodWorker:
    """Runs one pod."""

    def __init__(
        self, node: Node, prober: Prober, clock: Clock, pod: Object, ended: Callable[[str], None]
    ) -> None:
        self.node = node
        self.pod = pod
        self.uid: str = pod["metadata"]["uid"]
        self.ended = False
        self.ending = False
        self.gone = False
        """The API has the pod no more."""
        self.was_running = False
        """Whether all its containers have run at the same time."""
        self._prober = prober
        self._clock = clock
        self._on_ended = ended
        self._reasons: dict[str, Reason] = {}
        self._failure: Object = {}
        self._disruption: Object | None = None
        self._grace_s: float | None = None
        self._working = False
        self._asked = False
        self._synced_at = -1.0
        self._timer: Timer | None = None
        self._deadline: Timer | None = None
        self._interrupt: Event[None] = Event(node.machine.kernel)
        self._stale_volumes = False
        self._resized = False

    # -- what others ask -----------------------------------------------------------------------

    def update(self, pod: Object) -> None:
        """The pod is as given now."""
        old, self.pod = self.pod, pod
        grace = pod["metadata"].get("deletionGracePeriodSeconds")
        if pod["metadata"].get("deletionTimestamp"):
            if not self.ending:
                self.node.log.pods_changed("kubelet.go:2725", "DELETE", pod)
            if (
                self.ending
                and grace is not None
                and grace != old["metadata"].get("deletionGracePeriodSeconds")
            ):
                self._clock.spawn(self._hurry(float(grace)), f"shorter grace of {self._name}")
            self.end()
        else:
            self._stale_volumes |= _names(pod) != _names(old)
            self._resized |= pod["spec"] != old["spec"]
        self.poke()

    def end_removed(self) -> None:
        """The API has the pod no more: end what runs of it."""
        self.gone = True
        self.end()
        self.poke()

    def end(self) -> None:
        """Start nothing any more; stop what runs."""
        self.ending = True
        self._interrupt.set()

    def fail(self, reason: str, message: str, grace_s: float | None = None, disrupted: bool = False) -> None:
        """Stop the pod for good: it has failed for a reason of the node's."""
        if self.ending:
            return
        self._failure = {"reason": reason, "message": message}
        self._grace_s = grace_s
        if disrupted:
            self._disruption = condition("DisruptionTarget", True, "TerminationByKubelet", message)
        self.end()
        self.poke()

    def reject(self, reason: str, message: str) -> None:
        """The node does not take the pod: it has failed before anything was done for it."""
        self.ending = self.ended = True
        status = {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {message}"}
        self.node.statuses.set(self.pod, status, [])

    def volumes_changed(self) -> None:
        """An object that volumes are made of is different."""
        self._stale_volumes = True
        self.poke()

    def poke(self) -> None:
        """Look at the pod soon."""
        self._asked = True
        if not self._working and not (self.ended and not self._unfinished):
            self._working = True
            self._clock.spawn(self._work(), f"pod {self._name}")

    def stop(self) -> None:
        """The kubelet itself ends: no timer of it goes off any more."""
        for timer in (self._timer, self._deadline):
            if timer is not None:
                timer.cancel()

    # -- the work ------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        metadata = self.pod["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"

    @property
    def _unfinished(self) -> bool:
        """Whether an ended pod still has to be taken out of the API, or out of the runtime."""
        return self.gone or bool(self.pod["metadata"].get("deletionTimestamp"))

    async def _work(self) -> None:
        kernel = self.node.machine.kernel
        while self._asked:
            self._asked = False
            look_at = self._clock.next_look(self._synced_at)
            if look_at > kernel.now:
                await kernel.sleep(look_at - kernel.now)
            if self.ended:
                if self._unfinished:
                    await self._finish()
                break
            if self.ending:
                await self._end()
                continue
            outcome = await self._sync()
            self._synced_at = kernel.now
            if outcome is not None:
                self._plan_retry(outcome)
        self._working = False

    async def _sync(self) -> Outcome | None:
        pod, node = self.pod, self.node
        state = node.runtime.state(self.uid)
        self._prober.add(pod)
        if self._overdue():
            self._fail_overdue()
            return None
        self._tell(state)
        if node.statuses.get(pod).get("phase") in TERMINAL:
            self.end()
            self._asked = True
            return None
        node.log.mounts_began(pod)
        wrong = await node.volumes.mount(pod, node.statuses.get(pod), self._mount_failed, self._interrupt)
        if wrong:
            if not self.ending:
                self._mount_failed(f"Unable to attach or mount volumes: {wrong}")
            return Outcome(other=not self.ending)
        if self._stale_volumes:
            self._stale_volumes = False
            node.volumes.refresh(pod, node.statuses.get(pod))
        if self._resized:
            self._resized = False
            resize(node, pod)
        self._check_pull_secrets()
        actions = decide(
            pod,
            state,
            lambda part, record: self._prober.find_failure(self.uid, part, record),
            lambda part, record: self._prober.verdict(self.uid, part, record)[0],
        )
        outcome = await carry_out(node, pod, state, actions, self._interrupt)
        for name in outcome.started:
            self._reasons.pop(name, None)
        for name, failure in outcome.failed.items():
            self._reasons[name] = (failure.reason, str(failure))
            node.log.start_failed(pod, name, failure.reason, str(failure))
        return outcome

    def _mount_failed(self, message: str) -> None:
        self.node.recorder.event(self.pod, "Warning", "FailedMount", message)
        self.node.log.mount_failed(self.pod, message)

    def _check_pull_secrets(self) -> None:
        pod, missing = self.pod, []
        for each in pod["spec"].get("imagePullSecrets") or ():
            if self.node.client.get("secrets", pod["metadata"]["namespace"], each.get("name", "")) is None:
                missing.append(each.get("name", ""))
        if missing:
            names = ", ".join(missing)
            message = f"Unable to retrieve some image pull secrets ({names}); attempting to pull the image may not succeed."
            self.node.recorder.event(pod, "Warning", "FailedToRetrieveImagePullSecret", message)

    def _plan_retry(self, outcome: Outcome) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not outcome.failed and not outcome.other:
            return
        kernel = self.node.machine.kernel
        pauses = [each.until_s for each in outcome.failed.values() if each.until_s is not None]
        wait_s = min(RESYNC_S, max(0.0, min(pauses) - kernel.now)) if pauses else RETRY_S
        wait_s *= 1 + JITTER * kernel.random(f"{self.node.name}/kubelet").random()
        due = self._clock.next_look(kernel.now + wait_s)
        self._timer = kernel.call_at(due, lambda _: self.poke())

    # -- the end -------------------------------------------------------------------------------

    async def _end(self) -> None:
        """Stop the containers and the sandbox, telling how it goes."""
        node, pod = self.node, self.pod
        self._prober.remove(self.uid, keep_readiness=True)
        self._tell(node.runtime.state(self.uid))
        await stop_pod(node, pod, self._grace_s)
        self._prober.remove(self.uid)
        await node.runtime.stop_sandbox(self.uid)
        await node.statuses.turn()
        hear_last_words(node, pod)
        self._tell(node.runtime.state(self.uid), last=True)
        node.volumes.tear_down(self.uid)
        node.log.mounts_ended(pod)
        self.stop()
        self.ended = True
        self._on_ended(self.uid)
        if self._unfinished:
            self._asked = True
            self._synced_at = -1.0

    async def _hurry(self, grace_s: float) -> None:
        """Somebody is in more of a hurry than the one who deleted the pod first."""
        live = self.node.runtime.pods.get(self.uid)
        for record in list(live.containers) if live is not None else ():
            if record.running:
                await self.node.runtime.stop(record, max(1.0, grace_s))

    async def _finish(self) -> None:
        """Remove a deleted pod without running containers from the API and the runtime."""
        node = self.node
        if not self.gone:
            await node.statuses.finish(self.pod)
        node.runtime.forget(self.uid)
        node.images.forget(self.uid)
        node.crashes.forget(self.uid)
        node.statuses.forget(self.uid)

    # -- status --------------------------------------------------------------------------------

    def _tell(self, state: PodState, last: bool = False) -> None:
        """Make the status anew and tell it."""
        pod, node = self.pod, self.node
        old = node.statuses.get(pod)
        if self._failure.get("reason") == OVERDUE:
            node.recorder.event(pod, "Normal", OVERDUE, TOO_LONG)

        def verdict(part: Any, record: ContainerRecord) -> tuple[bool, bool]:
            return self._prober.verdict(self.uid, part, record)

        made = container_statuses(pod, state, old, self._reasons, verdict)
        # Of a pod that runs already, the kubelet reads the limits from its cgroup.
        reads = old.get("phase") == "Running" and node.machine.cgroup_version == 1
        made |= pod_resources(pod, CGROUP_V1_UNLIMITED if reads else None)
        made["phase"] = phase_of(pod, made, last)
        if last:
            self._last_statuses(made)
        if self.ending and not last and made["phase"] in TERMINAL and old.get("phase") not in TERMINAL:
            pass_on = any("running" in each["state"] for each in made.get("containerStatuses") or ())
            made["phase"] = old.get("phase", "Pending") if pass_on else made["phase"]
        if self._failure and not last and old.get("phase") not in TERMINAL:
            made["phase"] = old.get("phase", "Pending")  # it fails when nothing of it runs any more
        made["hostIP"], made["hostIPs"] = node.address, [{"ip": node.address}]
        address = state.address or old.get("podIP", "")
        if address:
            made["podIP"], made["podIPs"] = address, [{"ip": address}]
        conditions = pod_conditions(pod, made, state.sandbox_ready)
        if self._disruption is not None:
            conditions.append(self._disruption)
        node.statuses.set(pod, made, conditions)

    def _last_statuses(self, made: Object) -> None:
        """A pod that has ended has failed or succeeded, and its containers wait for nothing."""
        if self._failure:
            made |= {**self._failure, "phase": "Failed"}
        if made["phase"] not in TERMINAL:
            made["phase"] = "Failed"

    # -- deadlines -----------------------------------------------------------------------------

    def _overdue(self) -> bool:
        limit = self.pod["spec"].get("activeDeadlineSeconds")
        begun = self.node.statuses.get(self.pod).get("startTime")
        if limit is None:
            return False
        kernel = self.node.machine.kernel
        now_s = self.node.api.now_s
        due_s = (parse(begun) if begun else now_s) + float(limit)
        if now_s >= due_s:
            return True
        if self._deadline is None:
            self._deadline = kernel.call_later(due_s - now_s, lambda _: self.poke())
        return False

    def _fail_overdue(self) -> None:
        self.node.recorder.event(self.pod, "Normal", OVERDUE, TOO_LONG)
        self.fail(OVERDUE, TOO_LONG)


def _names(pod: Object) -> tuple[Object, Object]:
    """What of a pod its own volumes may tell."""
    return pod["metadata"].get("labels") or {}, pod["metadata"].get("annotations") or {}
