"""The node itself: its word that it lives, its conditions, its end and its return."""

from __future__ import annotations

from simcloud.kubernetes import nodes
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.images import standard_registry
from simcloud.kubernetes.kubelet.kubelet import Kubelet
from simcloud.machine.computer import Machine
from simcloud.machine.image import Image
from simcloud.machine.network import HostsResolver
from simcloud.machine.process import Context, Signal
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.kubelet.world import NODE, World, is_ready


def node(world: World) -> Object:
    found = world.client.get("nodes", "", NODE)
    assert found is not None
    return found


def condition(world: World, kind: str) -> Object:
    found: Object = next(each for each in node(world)["status"]["conditions"] if each["type"] == kind)
    return found


def renewed_s(world: World) -> float:
    lease = world.client.get("leases.coordination.k8s.io", "kube-node-lease", NODE)
    assert lease is not None
    return parse(lease["spec"]["renewTime"])


def test_a_lease_is_renewed_every_ten_seconds(world: World) -> None:
    world.kernel.run_for(25)
    first = renewed_s(world)
    world.kernel.run_for(10)
    assert renewed_s(world) - first == 10
    lease = world.client.get("leases.coordination.k8s.io", "kube-node-lease", NODE)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == NODE
    assert lease["metadata"]["ownerReferences"][0]["kind"] == "Node"


def test_a_status_is_told_every_five_minutes_or_when_it_changed(world: World) -> None:
    world.kernel.run_for(20)
    first = condition(world, "Ready")["lastHeartbeatTime"]
    world.kernel.run_for(200)
    assert condition(world, "Ready")["lastHeartbeatTime"] == first
    world.kernel.run_for(120)
    later = condition(world, "Ready")["lastHeartbeatTime"]
    assert parse(later) - parse(first) == 300
    world.run("web", image="nginx:1.19")
    world.kernel.run_for(15)
    assert node(world)["status"]["images"][0]["names"][1] == "docker.io/library/nginx:1.19"
    assert condition(world, "Ready")["lastHeartbeatTime"] != later


def test_what_a_starting_kubelet_tells(world: World) -> None:
    told = [(each[2], each[3]) for each in world.events(NODE)]
    status = f"Node {NODE} status is now: "
    assert sorted(told) == sorted(
        [
            ("Starting", "Starting kubelet."),
            ("NodeAllocatableEnforced", "Updated Node Allocatable limit across pods"),
            ("NodeHasSufficientMemory", f"{status}NodeHasSufficientMemory"),
            ("NodeHasNoDiskPressure", f"{status}NodeHasNoDiskPressure"),
            ("NodeHasSufficientPID", f"{status}NodeHasSufficientPID"),
            ("NodeReady", f"{status}NodeReady"),
        ]
    )


def test_a_lost_machine_is_silent(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    world.kernel.run_for(20)
    last = renewed_s(world)
    revision = world.api.log.revision
    world.machine.lose()
    world.kernel.run_for(120)
    assert renewed_s(world) == last
    assert world.api.log.revision == revision
    assert is_ready(world.pod("web"))  # nobody has told otherwise


def test_after_a_reboot_pods_run_again(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run("once", "echo", "hi", restartPolicy="Never")
    world.run_until_ready(["web"])
    world.kernel.run_for(10)
    world.machine.lose()
    world.kernel.run_for(60)
    world.machine.boot()
    world.kubelet.start()
    world.kernel.run_for(10)
    assert is_ready(world.pod("web"))
    assert world.status("web")["restartCount"] == 1
    assert world.pod("once")["status"]["phase"] == "Succeeded"


def test_containers_go_on_without_their_kubelet(world: World) -> None:
    world.run("app", "sh", "-c", "i=0; while true; do i=$((i+1)); echo $i; sleep 1; done")
    world.run_until_ready(["app"])
    process = next(each for each in world.machine.processes.values() if each.argv[0].endswith("kubelet"))
    process.send(Signal.KILL, outside=True)
    assert not world.kubelet.running
    world.kernel.run_for(30)
    world.client.delete(world.pod("app"), grace_s=1)
    world.kernel.run_for(30)
    assert world.has("app")  # nobody is there to confirm its end
    world.kubelet.start()
    world.kernel.run_for(6)
    assert not world.has("app")
    assert [each for each in world.machine.containers if "app" in each] == []


def test_a_restarted_kubelet_ends_what_was_deleted_by_force_meanwhile(world: World) -> None:
    world.run("app", "sh", "-c", "while true; do sleep 1; done")
    world.run_until_ready(["app"])
    next(each for each in world.machine.processes.values() if each.argv[0].endswith("kubelet")).send(
        Signal.KILL, outside=True
    )
    world.client.delete(world.pod("app"), grace_s=0)
    world.kernel.run_for(30)
    assert [each for each in world.machine.containers if "app" in each]
    world.kubelet.start()
    world.kernel.run_for(6)
    assert [each for each in world.machine.containers if "app" in each] == []
    assert world.kubelet.node.runtime.pods == {}


def test_a_restarted_kubelet_finds_its_pods_as_they_are(world: World) -> None:
    probe = {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 20}
    world.run("web", image="nginx:1.19", container={"readinessProbe": probe, "startupProbe": probe})
    world.run_until_ready(["web"])
    before = world.status("web")["containerID"]
    process = next(each for each in world.machine.processes.values() if each.argv[0].endswith("kubelet"))
    process.send(Signal.TERM, outside=True)
    world.kernel.run_for(5)
    revision = world.api.log.revision
    world.kubelet.start()
    world.kernel.run_for(40)
    written = [each.key.plural for each in world.api.log.history() if each.number > revision]
    assert "pods" not in written
    assert (world.status("web")["containerID"], world.status("web")["restartCount"]) == (before, 0)


async def eat(ctx: Context) -> int:
    """Hold as many MiB as asked for."""
    ctx.memory.use(int(ctx.args[1]) * 1024**2)
    while True:
        await ctx.sleep(1000)


def test_a_node_without_memory_throws_out_who_uses_more_than_asked() -> None:
    registry = standard_registry()
    registry.add("eat:1", Image("eat", {"eat": eat}))
    world = World(registry=registry, memory_bytes=4 * 1024**3)
    asked = {"resources": {"requests": {"memory": "2Gi"}}}
    world.run("modest", image="eat:1", container={"command": ["eat", "1900"], **asked})
    world.run("greedy", image="eat:1", container={"command": ["eat", "1750"]})
    world.kernel.run_for(40)
    status = world.pod("greedy")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert status["message"].startswith(
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: "
    )
    assert status["message"].endswith(
        "Container greedy was using 1750Mi, request is 0, has larger consumption of memory. "
    )
    target = next(each for each in status["conditions"] if each["type"] == "DisruptionTarget")
    assert (target["status"], target["reason"]) == ("True", "TerminationByKubelet")
    assert world.pod("modest")["status"]["phase"] == "Running"
    assert condition(world, "MemoryPressure")["status"] == "True"
    assert "EvictionThresholdMet" in world.reasons(NODE)
    world.kernel.run_for(320)
    assert condition(world, "MemoryPressure")["status"] == "False"


def test_a_full_disk_is_a_pressure_too() -> None:
    world = World(disk_bytes=64 * 1024**2)
    world.run("writer", "sh", "-c", "dd if=/dev/zero of=/big bs=1M count=59; sleep 1000")
    world.kernel.run_for(40)
    status = world.pod("writer")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert status["message"].startswith("The node was low on resource: ephemeral-storage. ")
    assert condition(world, "DiskPressure")["status"] == "True"


def test_an_empty_dir_beyond_its_limit(world: World) -> None:
    world.run(
        "app",
        "sh",
        "-c",
        "dd if=/dev/zero of=/cache/f bs=1M count=20; sleep 1000",
        volumes=[{"name": "cache", "emptyDir": {"sizeLimit": "10Mi"}}],
        container={"volumeMounts": [{"name": "cache", "mountPath": "/cache"}]},
    )
    world.kernel.run_for(30)
    assert (
        world.pod("app")["status"]["message"] == 'Usage of EmptyDir volume "cache" exceeds the limit "10Mi". '
    )


def test_each_kubelet_runs_the_pods_of_its_own_node(world: World) -> None:
    other = Machine(
        world.kernel,
        world.machine.network,
        "worker",
        "172.18.0.3",
        operator_image(),
        resolver=HostsResolver({}),
    )
    nodes.register(world.api, other, "172.18.0.3", 1)
    kubelet = Kubelet(world.api, other, world.registry, world.network)
    world.fleet.add(kubelet)
    kubelet.start()
    world.run("here", image="nginx:1.19")
    world.run("there", image="nginx:1.19", nodeName="worker")
    world.run_until_ready(["here", "there"])
    assert world.pod("there")["status"]["hostIP"] == "172.18.0.3"
    assert world.pod("there")["status"]["podIP"].startswith("10.244.1.")
    assert [each for each in other.containers if "there_lab" in each]
    assert not [each for each in world.machine.containers if "there_lab" in each]
    assert "ready for start up" in world.logs("there")
    other.lose()
    world.kernel.run_for(30)
    assert is_ready(world.pod("here"))


def test_a_kubelet_that_is_stopped_leaves_its_containers_alone(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    world.kubelet.stop()
    beat = (
        renewed_s(world) if world.client.get("leases.coordination.k8s.io", "kube-node-lease", NODE) else 0.0
    )
    world.kernel.run_for(30)
    assert not world.kubelet.running
    lease = world.client.get("leases.coordination.k8s.io", "kube-node-lease", NODE)
    assert lease is None or renewed_s(world) == beat
    assert any(each.running for pod in world.kubelet.node.runtime.pods.values() for each in pod.containers)
    world.kubelet.start()
    world.kernel.run_for(5)
    assert world.kubelet.running
    assert is_ready(world.pod("web"))
    assert world.status("web")["restartCount"] == 0


def test_a_restarted_kubelet_tells_of_itself_anew(world: World) -> None:
    before = [each for each in world.events(NODE) if each[2] == "Starting"]
    world.kubelet.stop()
    world.kernel.run_for(5)
    world.kubelet.start()
    world.kernel.run_for(5)
    after = [each for each in world.events(NODE) if each[2] == "Starting"]
    assert len(after) == len(before) + 1


def test_a_reboot_is_told_with_a_new_boot_id(world: World) -> None:
    before = node(world)["status"]["nodeInfo"]["bootID"]
    world.kubelet.stop()
    world.kubelet.start()
    world.kernel.run_for(5)
    assert "Rebooted" not in world.reasons(NODE), "a new kubelet is no new boot"
    world.machine.lose()
    world.machine.boot()
    world.kubelet.start()
    world.kernel.run_for(5)
    after = node(world)["status"]["nodeInfo"]["bootID"]
    assert after != before
    told = f"Node {NODE} has been rebooted, boot id: {after}"
    assert (1, "Warning", "Rebooted", told) in world.events(NODE)


def test_a_cordon_is_told_with_the_next_beat(world: World) -> None:
    world.kernel.run_for(15)
    for closed, reason in ((True, "NodeNotSchedulable"), (None, "NodeSchedulable")):
        world.client.patch(node(world), {"spec": {"unschedulable": closed}})
        world.kernel.run_for(15)
        assert reason in [each[2] for each in world.events(NODE)]


def test_many_pods_at_once_wait_for_the_processors(world: World) -> None:
    world.run("alone", "sleep", "60")
    world.kernel.run_for(3)
    assert is_ready(world.pod("alone"))
    names = [f"p{number}" for number in range(40)]
    for name in names:
        world.run(name, "sleep", "60")
    world.kernel.run_for(3)
    assert not all(is_ready(world.pod(name)) for name in names)
    world.run_until_ready(names)


def test_what_a_node_with_the_first_cgroups_tells_of_a_running_pod() -> None:
    world = World(cgroup_version=1)
    world.run("crash", "sh", "-c", "sleep 2; exit 1")
    world.kernel.run_for(12)
    assert world.pod("crash")["status"]["resources"] == {"limits": {"memory": "9007199254740988Ki"}}
