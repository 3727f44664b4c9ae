"""Logs, exec, attach and port-forward as the API server asks a node for them."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.runtime import LogOptions
from tests.simcloud.kubernetes.kubelet.talking import Listener
from tests.simcloud.kubernetes.kubelet.world import World

COUNT = "i=0; while true; do i=$((i+1)); echo line $i; sleep 1; done"


def test_the_end_of_a_log_and_its_time_stamps(world: World) -> None:
    world.run("app", "sh", "-c", COUNT)
    world.kernel.run_for(12.5)
    lines = world.logs("app").splitlines()
    assert lines[:2] == ["line 1", "line 2"]
    assert world.logs("app", tail_lines=2).splitlines() == lines[-2:]
    assert world.logs("app", tail_lines=0) == ""
    assert world.logs("app", limit_bytes=8) == "line 1\nl"
    assert world.logs("app", since_s=3).splitlines() == lines[-3:]
    stamped = world.logs("app", timestamps=True, tail_lines=1)
    assert stamped.startswith("2026-01-05T09:00:")
    assert stamped.endswith(f"Z {lines[-1]}\n")
    assert world.logs("app", since_time="2030-01-01T00:00:00Z") == ""


def test_following_a_log_until_the_container_ends(world: World) -> None:
    world.run("app", "sh", "-c", "echo one; sleep 5; echo two; sleep 5", restartPolicy="Never")
    world.kernel.run_for(4)
    stream = world.fleet.logs(world.pod("app"), LogOptions(container="app", follow=True))
    got: list[bytes] = []
    ended: list[bool] = []
    stream.on_data, stream.on_end = got.append, lambda: ended.append(True)
    world.kernel.run_for(1)
    assert got == [b"one\n"]
    world.kernel.run_for(4)
    assert (got, ended) == ([b"one\n", b"two\n"], [])
    world.kernel.run_for(5)
    assert ended == [True]


def test_the_log_of_the_container_before(world: World) -> None:
    world.run("app", "sh", "-c", "echo $$ at $(date +%s); sleep 8; exit 1")
    world.kernel.run_for(14)
    assert world.status("app")["restartCount"] == 1
    assert world.logs("app", previous=True) != world.logs("app")
    assert " at " in world.logs("app", previous=True)


def test_a_log_that_the_runtime_has_forgotten(world: World) -> None:
    world.run("app", "sh", "-c", "echo hi; exit 1")
    world.kernel.run_for(8)
    old = world.status("app")["lastState"]["terminated"]["containerID"]
    assert "terminated" in world.status("app")["state"]
    assert world.logs("app", previous=True) == f"unable to retrieve container logs for {old}"


@pytest.mark.parametrize(
    ("image", "seconds", "why"),
    [
        ("nosuchimage:v1", 2.5, "trying and failing to pull image"),
        ("nosuchimage:v1", 17, "image can't be pulled"),
        ("MyApp:1.0", 4, "InvalidImageName"),
    ],
)
def test_a_container_that_waits_has_no_log(world: World, image: str, seconds: float, why: str) -> None:
    world.run("app", image=image)
    seen = []
    for _ in range(int(seconds * 2)):
        world.kernel.run_for(0.5)
        with pytest.raises(BadRequest) as refusal:
            world.logs("app")
        seen.append(str(refusal.value))
    assert f'container "app" in pod "app" is waiting to start: {why}' in seen


def test_there_is_no_container_before_the_first(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    with pytest.raises(BadRequest, match='previous terminated container "web" in pod "web" not found'):
        world.logs("web", previous=True)


def test_a_command_in_a_container(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    pod = world.pod("web")
    argv = ["sh", "-c", "hostname; cat /etc/hostname >&2; exit 7"]
    listener = Listener(world.fleet.exec(pod, "web", argv, stdin=False, stderr=True, tty=False))
    world.kernel.run_for(1)
    assert (listener.out, listener.ended) == ({1: b"web\n", 2: b"web\n"}, [(7, "")])


def test_no_command_in_a_container_that_does_not_run(world: World) -> None:
    world.run("app", image="nosuchimage:v1")
    world.run("once", "true", restartPolicy="Never")
    world.kernel.run_for(8)
    with pytest.raises(ApiError, match=r'container not found \("app"\)'):
        world.fleet.exec(world.pod("app"), "app", ["ls"], stdin=False, stderr=True, tty=False)
    completed = "cannot exec into a container in a completed pod; current phase is Succeeded"
    with pytest.raises(ApiError, match=completed):
        world.fleet.exec(world.pod("once"), "once", ["ls"], stdin=False, stderr=True, tty=False)


def test_attaching_shows_what_is_written_from_now_on(world: World) -> None:
    world.run("app", "sh", "-c", COUNT)
    world.kernel.run_for(5)
    listener = Listener(world.fleet.attach(world.pod("app"), "app", stdin=False, stderr=True, tty=False))
    world.kernel.run_for(2)
    assert listener.out[1].count(b"line") == 2
    assert b"line 1\n" not in listener.out[1]


def test_a_port_of_a_pod(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    forward = world.fleet.forward(world.pod("web"), 80)
    got: list[bytes] = []
    forward.on_data = got.append
    forward.write(b"GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\n\r\n")
    world.kernel.run_for(1)
    assert b"Welcome to nginx!" in b"".join(got)
    assert '"GET / HTTP/1.1" 200' in world.logs("web")


def test_a_kubelet_that_does_not_run_cannot_be_asked(world: World) -> None:
    world.run("web", image="nginx:1.19")
    world.run_until_ready(["web"])
    process = next(each for each in world.machine.processes.values() if each.argv[0].endswith("kubelet"))
    from simcloud.machine.process import Signal

    process.send(Signal.KILL, outside=True)
    wanted = (
        'Get "https://172.18.0.2:10250/containerLogs/lab/web/web": '
        "dial tcp 172.18.0.2:10250: connect: connection refused"
    )
    with pytest.raises(ApiError) as refusal:
        world.logs("web")
    assert str(refusal.value) == wanted
    with pytest.raises(ApiError, match=r"error dialing backend: dial tcp 172\.18\.0\.2:10250: connect"):
        world.fleet.exec(world.pod("web"), "web", ["ls"], stdin=False, stderr=True, tty=False)
