"""Ordinary pods: from the binding to running, and to their end."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.objects import Object, copy
from tests.simcloud.kubernetes.kubelet.world import World


def conditions(pod: Object) -> dict[str, str]:
    return {each["type"]: each["status"] for each in pod["status"]["conditions"]}


def test_the_statuses_of_a_starting_pod_come_in_order(world: World) -> None:
    seen: list[tuple[Any, ...]] = []

    def note(write: Any) -> None:
        status = write.object.get("status") or {}
        if write.key.name == "web" and status.get("containerStatuses"):
            ready = {each["type"]: each["status"] for each in status["conditions"]}
            state = next(iter(status["containerStatuses"][0]["state"]))
            seen.append(
                (
                    status["phase"],
                    state,
                    ready["PodReadyToStartContainers"],
                    ready["Ready"],
                    status.get("podIP"),
                )
            )

    world.client.follow("pods", note)
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(5)
    assert seen == [
        ("Pending", "waiting", "False", "False", None),
        ("Pending", "waiting", "True", "False", None),
        ("Running", "running", "True", "True", "10.244.0.2"),
    ]


def test_a_running_pod_costs_no_events(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(60)
    steps, revision = world.kernel.steps, world.api.log.revision
    world.kernel.run_for(100)
    assert world.kernel.steps - steps <= 40  # the node's own beats
    written = [write.key.plural for write in world.api.log.history() if write.number > revision]
    assert set(written) == {"leases"}


def test_the_kubelet_is_the_manager_of_a_status(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(5)
    managers = {each["manager"]: each for each in world.pod("web")["metadata"]["managedFields"]}
    assert managers["kubelet"]["subresource"] == "status"
    scheduled = managers["kubelet"]["fieldsV1"]["f:status"]["f:conditions"]['k:{"type":"PodScheduled"}']
    assert scheduled == {"f:observedGeneration": {}}


def test_deletion_waits_for_the_grace_period_and_kills(world: World) -> None:
    world.run("deaf", image="nginx:1.19")
    world.kernel.run_for(5)
    begun = world.kernel.now
    world.client.delete(world.pod("deaf"))
    world.kernel.run_for(29)
    assert world.has("deaf")
    world.kernel.run_for(4)
    assert not world.has("deaf")
    assert world.kernel.now - begun <= 33
    assert (1, "Normal", "Killing", "Stopping container deaf") in world.events("deaf")


def test_a_program_that_hears_the_signal_ends_soon(world: World) -> None:
    world.run("polite", "sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done")
    world.kernel.run_for(5)
    world.client.delete(world.pod("polite"))
    world.kernel.run_for(3)
    assert not world.has("polite")
    assert world.machine.memory_mismatch() is None
    assert [each for each in world.machine.containers if "polite" in each] == []


def test_a_shorter_grace_overtakes_a_longer_one(world: World) -> None:
    world.run("deaf", image="nginx:1.19")
    world.kernel.run_for(5)
    world.client.delete(world.pod("deaf"))
    world.kernel.run_for(2)
    world.client.delete(world.pod("deaf"), grace_s=1)
    world.kernel.run_for(5)
    assert not world.has("deaf")


def test_a_pod_deleted_by_force_leaves_nothing_behind(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(5)
    world.client.delete(world.pod("web"), grace_s=0)
    world.kernel.run_for(40)
    assert [each for each in world.machine.containers if "web" in each] == []
    assert world.kubelet.workers == {}


def test_a_deleted_name_can_come_again_at_once(world: World) -> None:
    world.run("web", "sh", "-c", "trap 'exit 0' TERM; while true; do sleep 0.2; done")
    world.kernel.run_for(5)
    first = world.pod("web")["metadata"]["uid"]
    world.client.delete(world.pod("web"), grace_s=0)
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(8)
    assert world.pod("web")["metadata"]["uid"] != first
    assert conditions(world.pod("web"))["Ready"] == "True"


def test_a_finished_pod_keeps_its_log_until_it_is_deleted(world: World) -> None:
    world.run("once", "echo", "hello", restartPolicy="Never")
    world.kernel.run_for(10)
    assert world.pod("once")["status"]["phase"] == "Succeeded"
    assert conditions(world.pod("once")) == {
        "PodReadyToStartContainers": "False",
        "Initialized": "True",
        "Ready": "False",
        "ContainersReady": "False",
        "PodScheduled": "True",
    }
    assert world.logs("once") == "hello\n"
    world.client.delete(world.pod("once"))
    world.kernel.run_for(3)
    assert not world.has("once")


def test_init_containers_run_in_order_before_the_others(world: World) -> None:
    inits = [
        {"name": name, "image": "busybox:1.36", "command": ["sh", "-c", f"echo {name} >> /work/order"]}
        | {"volumeMounts": [{"name": "work", "mountPath": "/work"}]}
        for name in ("one", "two")
    ]
    world.run(
        "app",
        "sh",
        "-c",
        "cat /work/order; sleep 1000",
        initContainers=inits,
        volumes=[{"name": "work", "emptyDir": {}}],
        container={"volumeMounts": [{"name": "work", "mountPath": "/work"}]},
    )
    world.run_until_ready(["app"])
    assert world.logs("app") == "one\ntwo\n"
    statuses = world.pod("app")["status"]["initContainerStatuses"]
    assert [each["state"]["terminated"]["reason"] for each in statuses] == ["Completed", "Completed"]
    assert all(each["ready"] for each in statuses)


def test_sidecars_start_first_and_end_last(world: World) -> None:
    polite = (
        "trap 'date +%s%N >> /work/end; echo $0 >> /work/names; exit 0' TERM; while true; do sleep 0.1; done"
    )
    mount = {"volumeMounts": [{"name": "work", "mountPath": "/work"}]}
    sides = [
        {
            "name": name,
            "image": "busybox:1.36",
            "restartPolicy": "Always",
            "command": ["sh", "-c", polite, name],
        }
        | mount
        for name in ("a", "b")
    ]
    world.machine.host.files.mkdir("/srv/work", parents=True)
    world.run(
        "app",
        image="busybox:1.36",
        initContainers=sides,
        volumes=[{"name": "work", "hostPath": {"path": "/srv/work"}}],
        container={"command": ["sh", "-c", polite, "app"], **mount},
    )
    world.run_until_ready(["app"])
    started = [each for each in world.events("app") if each[2] == "Started"]
    assert sum(each[0] for each in started) == 3
    world.client.delete(world.pod("app"))
    world.kernel.run_for(8)
    assert not world.has("app")
    assert world.machine.host.files.read("/srv/work/names").split() == [b"app", b"b", b"a"]


def test_hooks_after_the_start_and_before_the_end(world: World) -> None:
    world.machine.host.files.mkdir("/srv/hooks", parents=True)

    def hook(word: str) -> Object:
        return {"exec": {"command": ["sh", "-c", f"echo {word} >> /hooks/told; sleep 1"]}}

    world.run(
        "app",
        "sh",
        "-c",
        "sleep 1000",
        terminationGracePeriodSeconds=4,
        volumes=[{"name": "hooks", "hostPath": {"path": "/srv/hooks"}}],
        container={
            "lifecycle": {"postStart": hook("begun"), "preStop": hook("ending")},
            "volumeMounts": [{"name": "hooks", "mountPath": "/hooks"}],
        },
    )
    world.run_until_ready(["app"])
    world.client.delete(world.pod("app"))
    world.kernel.run_for(8)
    assert not world.has("app")
    assert world.machine.host.files.read("/srv/hooks/told") == b"begun\nending\n"


def test_a_changed_image_replaces_the_container(world: World) -> None:
    world.run("app", "sleep", "1000", terminationGracePeriodSeconds=1)
    world.run_until_ready(["app"])
    changed = copy(world.pod("app"))
    changed["spec"]["containers"][0]["image"] = "busybox:latest"
    world.client.update(changed)
    world.kernel.run_for(10)
    assert world.status("app")["image"] == "docker.io/library/busybox:latest"
    assert world.status("app")["restartCount"] == 1
    killed = "Container app definition changed, will be restarted"
    assert (1, "Normal", "Killing", killed) in world.events("app")


def test_an_ephemeral_container_joins_a_running_pod(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    changed = copy(world.pod("web"))
    changed["spec"]["ephemeralContainers"] = [
        {"name": "dbg", "image": "busybox:1.36", "command": ["wget", "-qO-", "http://localhost/"]}
    ]
    world.client.update(changed, "ephemeralcontainers")
    world.kernel.run_for(5)
    (status,) = world.pod("web")["status"]["ephemeralContainerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == 0
    assert "started" not in status
    assert "Welcome to nginx!" in world.logs("web", "dbg")
    assert conditions(world.pod("web"))["Ready"] == "True"


def test_no_limit_is_tighter_than_the_kernel_can_make_it(world: World) -> None:
    world.run("app", "sleep", "1000", container={"resources": {"limits": {"cpu": "1m"}}})
    world.run_until_ready(["app"])
    record = next(iter(world.kubelet.node.runtime.pods.values())).containers[0]
    assert record.container is not None
    assert record.container.cpu.limit == 0.01


def test_limits_are_the_containers(world: World) -> None:
    limits = {"cpu": "500m", "memory": "64Mi"}
    world.run("app", "sleep", "1000", container={"resources": {"limits": limits}})
    world.run_until_ready(["app"])
    record = next(iter(world.kubelet.node.runtime.pods.values())).containers[0]
    assert record.container is not None
    assert record.container.cpu.limit == 0.5
    assert record.container.memory_limit_bytes == 64 * 1024**2
    assert world.status("app")["allocatedResources"] == limits
    assert world.pod("app")["status"]["resources"] == {"limits": limits, "requests": limits}


def test_a_pod_that_does_not_fit_is_refused(world: World) -> None:
    world.run("big", "sleep", "1000", container={"resources": {"requests": {"cpu": "64"}}})
    world.kernel.run_for(3)
    status = world.pod("big")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert status["message"] == (
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 64000, used: 0, capacity: 4000"
    )
    assert "containerStatuses" not in status
    told = "Node didn't have enough resource: cpu, requested: 64000, used: 0, capacity: 4000"
    assert world.events("big") == [(1, "Warning", "OutOfcpu", told)]
    world.client.delete(world.pod("big"))
    world.kernel.run_for(3)
    assert not world.has("big")


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_log(seed: int) -> None:
    def play() -> str:
        world = World(seed)
        world.run("web", image="nginx:1.19")
        world.run("crash", "false")
        world.kernel.run_for(60)
        return world.api.log.hash()

    assert play() == play()


def test_a_pod_can_be_deleted_while_its_image_is_pulled(world: World) -> None:
    world.run("slow", image="192.0.2.77:5000/app:1")
    world.kernel.run_for(5)
    world.client.delete(world.pod("slow"))
    world.kernel.run_for(3)
    assert not world.has("slow")
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"], 10)  # the next in line for a pull is not held up


def test_a_full_disk_holds_containers_back_and_harms_nobody_else(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    world.machine.disk.fail_writes = True
    world.run("late", "sleep", "1000")
    world.kernel.run_for(20)
    assert world.status("late")["state"]["waiting"]["reason"] == "ContainerCreating"
    refused = next(each[3] for each in world.events("late") if each[2] == "FailedCreatePodSandBox")
    assert "failed to create temp dir: mkdir /var/lib/containerd/" in refused
    world.machine.disk.fail_writes = False
    world.run_until_ready(["late"], 30)


def test_a_kernel_that_mounts_nothing_holds_containers_and_pods_back_and_harms_nobody_else(
    world: World,
) -> None:
    world.run("web", image="nginx:1.19")
    world.run("brief", "sleep", "5")
    world.run_until_ready(["web", "brief"])
    world.machine.mounts_exhausted = True
    secret = {"name": "own", "projected": {"sources": [{"downwardAPI": {"items": []}}]}}
    world.run("late", "sleep", "1000", volumes=[secret])
    world.kernel.run_for(20)
    last = world.status("brief")["lastState"]["terminated"]
    assert (last["reason"], last["exitCode"]) == ("StartError", 128)
    assert last["message"].endswith(
        'error mounting "proc" to rootfs at "/proc": mount src=proc, dst=/proc, dstFd=/proc/thread-self/fd/8, '
        "flags=MS_NOSUID|MS_NODEV|MS_NOEXEC: cannot allocate memory"
    )
    assert world.status("late")["state"]["waiting"]["reason"] == "ContainerCreating"
    events = world.client.list("events", "lab")
    told = [each["message"] for each in events if each["reason"] == "FailedMount"]
    assert "~projected/own: mount(2) system call failed: Cannot allocate memory.\n" in told[0]
    assert world.status("web")["ready"]
    world.machine.mounts_exhausted = False
    world.run_until_ready(["late"], 60)


def test_a_resize_needs_no_new_container(world: World) -> None:
    limits = {"cpu": "500m", "memory": "64Mi"}
    world.run("app", "sleep", "1000", container={"resources": {"limits": limits}})
    world.run_until_ready(["app"])
    changed = copy(world.pod("app"))
    bigger = {"cpu": "1", "memory": "128Mi"}
    changed["spec"]["containers"][0]["resources"] = {"limits": bigger, "requests": bigger}
    world.client.update(changed, "resize")
    world.kernel.run_for(5)
    record = next(iter(world.kubelet.node.runtime.pods.values())).containers[0]
    assert record.container is not None
    assert (record.container.cpu.limit, record.container.memory_limit_bytes) == (1.0, 128 * 1024**2)
    assert world.status("app")["resources"] == {"limits": bigger, "requests": bigger}
    assert world.status("app")["restartCount"] == 0


def test_a_process_that_ends_while_its_pod_is_deleted_is_still_told_of(world: World) -> None:
    world.run("app", "sh", "-c", "sleep 5; exit 3", restartPolicy="Never")
    last: list[Object] = []
    world.client.follow("pods", lambda write: last.append(write.object))
    world.kernel.run_for(4)
    record = next(iter(world.kubelet.node.runtime.pods.values())).containers[0]
    assert record.process is not None
    while record.process.alive:
        world.kernel.run_for(0.05)
    assert record.running  # the runtime does not know it yet
    world.client.delete(world.pod("app"))
    world.kernel.run_for(10)
    assert not world.has("app")
    ended = last[-1]["status"]["containerStatuses"][0]["state"]["terminated"]
    assert ended["exitCode"] == 3


def test_a_node_without_addresses_for_pods(world: World) -> None:
    node = copy(world.client.get("nodes", "", world.machine.name))
    world.client.delete(node)
    world.run("app", "sleep", "1000")
    world.kernel.run_for(5)
    told = (
        "network is not ready: container runtime network not ready: NetworkReady=false "
        "reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
    )
    assert ("Warning", "NetworkNotReady", told) in [each[1:] for each in world.events("app")]


def test_the_word_of_who_ended_a_pod_stays(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(5)
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    world.client.edit(world.pod("web"), lambda pod: pod["status"]["conditions"].append(condition), "status")
    world.client.delete(world.pod("web"))
    world.kernel.run_for(5)
    kinds = [each["type"] for each in world.pod("web")["status"]["conditions"]]
    assert kinds.count("DisruptionTarget") == 1


def test_pods_that_end_together_leave_one_after_another(world: World) -> None:
    for name in ("one", "two"):
        world.run(name, "sleep", "3600")
    world.kernel.run_for(5)
    gone: list[float] = []
    world.api.log.listen(
        "", "pods", lambda write: gone.append(world.kernel.now) if write.change == "DELETED" else None
    )
    for name in ("one", "two"):
        world.client.delete(world.pod(name), grace_s=1)
    world.kernel.run_for(10)
    assert len(gone) == 2 and gone[0] < gone[1]
