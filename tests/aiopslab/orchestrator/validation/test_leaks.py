"""A planted answer is found wherever an agent could read it; what belongs to the application is no answer."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.validation.leaks import TELLTALES, Leak, find_names, find_new_leaks
from aiopslab.orchestrator.validation.passages import Passage, read_containers, read_world
from simcloud.machine.emit import Span
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"
NAMES = ("scale_pod_zero", "Operation Error", *TELLTALES)


def leaks(environment: Environment) -> list[Leak]:
    host = environment.terminal().machine.host
    return find_names((*read_world(environment), *read_containers([host])), NAMES)


def typed(environment: Environment, *lines: str) -> list[Leak]:
    for line in lines:
        environment.operate(line.replace("{ns}", NS))
    environment.run_for(5.0)
    return leaks(environment)


def in_a_container(environment: Environment) -> list[Leak]:
    pod = environment.operate(f"kubectl -n {NS} get pods -l io.kompose.service=geo -o name").stdout.decode()
    return typed(environment, f"kubectl -n {NS} exec {pod.strip()} -- touch /tmp/scalePodZero.sh")


def at_a_node(environment: Environment) -> list[Leak]:
    environment.machines["kind-worker"].host.files.put("/root/notes.txt", b"next: scale-pod-zero\n")
    return leaks(environment)


def at_the_agents_host(environment: Environment) -> list[Leak]:
    terminal = environment.terminal()
    terminal.run("echo 'the ground_truth is here' > /root/readme")
    return find_names(read_containers([terminal.machine.host]), NAMES)


def in_a_process(environment: Environment) -> list[Leak]:
    environment.machines["kind-worker"].host.start(["bash", "-c", "MODE=scale_pod_zero sleep 1000"])
    environment.run_for(1.0)
    return leaks(environment)


def in_a_log(environment: Environment) -> list[Leak]:
    lines = f"kubectl -n {NS} run speaker --image=busybox --restart=Never -- echo 'ScalePodZero was done'"
    environment.operate(lines)
    environment.run_for(30.0)
    return [leak for leak in leaks(environment) if leak.where.startswith("logs")]


def in_a_metric(environment: Environment) -> list[Leak]:
    store = environment.monitoring.store
    series = store.series("experiments", (("kind", "scale-pod-zero"),))
    store.append(series, environment.monitoring.now_ms(), 1.0)
    return leaks(environment)


def in_a_trace(environment: Environment) -> list[Leak]:
    tags = (("experiment", "scalePodZero"),)
    environment.world.emitter.span(Span(1, 1, 0, "geo", "Nearby", environment.now, 0.1, None, tags))
    return leaks(environment)


def injected(environment: Environment) -> list[Leak]:
    ScalePodZero("search").inject(environment)
    environment.run_for(30.0)
    return leaks(environment)


@pytest.fixture(scope="module")
def world(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with hotels.branch() as copy:
        yield copy


@pytest.fixture(scope="module")
def known(world: Copy[Environment]) -> list[Leak]:
    """What is found in an untouched world, which later searches of its copies need not read again."""
    return world.call(leaks)


PLANTED = {
    "annotation": "kubectl -n {ns} annotate deployment/geo ops/why=scale-pod-zero",
    "label": "kubectl label node kind-worker experiment=ScalePodZero",
    "name": "kubectl -n {ns} create configmap chaos-experiment",
    "configmap": "kubectl -n {ns} create configmap notes --from-literal=a='an operation error'",
    "manager": "kubectl -n {ns} annotate deployment/geo a=b --field-manager=fault-injector",
    "event": "kubectl -n {ns} create -f - <<'EOF'\n"
    '{"apiVersion": "v1", "kind": "Event", "metadata": {"name": "x.1", "namespace": "{ns}"}, "reason": "Scaled", '
    '"message": "Scale Pod Zero has begun", "involvedObject": {"kind": "Pod", "namespace": "{ns}", "name": "x"}}\nEOF',
    "environment": "kubectl -n {ns} set env deployment/geo FAULT=scalepodzero",
}


@pytest.mark.slow
@pytest.mark.parametrize("line", PLANTED.values(), ids=PLANTED)
def test_an_answer_among_the_objects_is_found(world: Copy[Environment], known: list[Leak], line: str) -> None:
    with world.branch() as copy:
        assert find_new_leaks(copy.call(typed, line), known)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "plant",
    [in_a_container, at_a_node, at_the_agents_host, in_a_process, in_a_log, in_a_metric, in_a_trace],
    ids=lambda f: f.__name__,
)
def test_an_answer_on_machines_is_found(world: Copy[Environment], known: list[Leak], plant: object) -> None:
    with world.branch() as copy:
        assert find_new_leaks(copy.call(plant), known)  # type: ignore[arg-type]


def test_an_object_that_was_deleted_can_still_be_watched(world: Copy[Environment], known: list[Leak]) -> None:
    lines = (
        "kubectl -n {ns} create configmap scale-pod-zero-state",
        "kubectl -n {ns} delete configmap scale-pod-zero-state",
    )
    with world.branch() as copy:
        found = find_new_leaks(copy.call(typed, *lines), known)
    assert any(leak.where.startswith("deleted configmaps") for leak in found)


def test_a_release_of_helm_is_unpacked(world: Copy[Environment], known: list[Leak]) -> None:
    release = base64.b64encode(gzip.compress(b'{"notes": "scale_pod_zero"}', mtime=0)).decode()
    line = f"kubectl -n {{ns}} create secret generic sh.helm.release.v1.x.v1 --from-literal=release={release}"
    with world.branch() as copy:
        assert find_new_leaks(copy.call(typed, line), known)


def test_the_fault_itself_tells_nothing(world: Copy[Environment], known: list[Leak]) -> None:
    with world.branch() as copy:
        found = find_new_leaks(copy.call(injected), known)
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["scale_pod_zero", "scale-pod-zero", "ScalePodZero", "SCALE POD ZERO", "scalePodZero", "xscalepodzero1"],
)
def test_every_spelling_is_one_name(text: str) -> None:
    assert find_names([Passage("a note", f"before {text} after")], ["scale_pod_zero"])


@pytest.mark.parametrize("text", ["scale the pod to zero", "miracle coracles", "Chaosium"])
def test_other_words_are_other_words(text: str) -> None:
    assert find_names([Passage("a note", text)], ["scale_pod_zero", "oracle", "chaos"]) == []


def test_messages_of_systemd_are_its_own() -> None:
    lines = "systemd[1]: Stopped kubelet.service - kubelet: The Kubernetes Node Agent.\nStopped kubelet for a test"
    [leak] = find_names([Passage("journal", lines)], ["stopped_kubelet"])
    assert leak.excerpt == "Stopped kubelet for a test"


def test_the_same_words_in_an_untouched_world_are_the_applications_own() -> None:
    known = find_names([Passage("logs of geo-7d9f", "12:01 chaos reigns in room 17")], ["chaos"])
    found = find_names(
        [Passage("logs of geo-8c1a", "12:02 chaos reigns in room 4"), Passage("file /x", "chaos: pod kill")],
        ["chaos"],
    )
    assert [leak.where for leak in find_new_leaks(found, known)] == ["file /x"]
