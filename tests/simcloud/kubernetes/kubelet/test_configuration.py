"""What a container is given: variables, arguments, an identity, names, a place to work."""

from __future__ import annotations

import base64

import pytest

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.pods.environment import expand
from tests.simcloud.kubernetes.kubelet.world import World


def variables(world: World, name: str) -> dict[str, str]:
    lines = [line.partition("=") for line in world.logs(name).splitlines()]
    return {key: value for key, _, value in lines}


def config(world: World, kind: str, name: str, **data: str) -> None:
    if kind == "Secret":
        data = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    metadata = {"name": name, "namespace": "lab"}
    world.client.create({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data})


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)", "1"),
        ("x$(A)y$(B)", "x1y2"),
        ("$(NOPE)", "$(NOPE)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A $", "$A $"),
        ("$(A", "$(A"),
    ],
)
def test_references(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == expanded


def test_variables_from_everywhere(world: World) -> None:
    config(world, "ConfigMap", "settings", MODE="fast", LEVEL="3")
    config(world, "Secret", "keys", password="s3cret")
    env: list[Object] = [
        {"name": "FIRST", "value": "1"},
        {"name": "SECOND", "value": "$(FIRST)-$(CFG_MODE)-$(MISSING)"},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "password"}}},
        {"name": "MAYBE", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "x", "optional": True}}},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
        {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['run']"}}},
        {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {
            "name": "MEMORY",
            "valueFrom": {"resourceFieldRef": {"resource": "requests.memory", "divisor": "1Mi"}},
        },
    ]
    container = {
        "env": env,
        "envFrom": [{"prefix": "CFG_", "configMapRef": {"name": "settings"}}],
        "resources": {"requests": {"memory": "64Mi"}},
    }
    world.run("app", "env", restartPolicy="Never", container=container)
    world.kernel.run_for(8)
    found = variables(world, "app")
    assert found["CFG_LEVEL"] == "3"
    assert found["SECOND"] == "1-fast-$(MISSING)"
    assert found["PASSWORD"] == "s3cret"
    assert "MAYBE" not in found
    assert (found["POD"], found["IP"], found["HOST_IP"]) == ("app", "10.244.0.2", "172.18.0.2")
    assert (found["LABEL"], found["CPUS"], found["MEMORY"]) == ("app", "4", "64")
    assert found["HOSTNAME"] == "app"


def service(world: World, name: str) -> None:
    world.client.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": "lab"},
            "spec": {"ports": [{"name": "http", "port": 80}], "selector": {"app": name}},
        }
    )


@pytest.mark.parametrize("links", [True, False])
def test_services_are_variables_where_links_are_wanted(world: World, links: bool) -> None:
    service(world, "my-db")
    world.run("app", "env", restartPolicy="Never", enableServiceLinks=links)
    world.kernel.run_for(8)
    found = variables(world, "app")
    address = world.client.get("services", "lab", "my-db")["spec"]["clusterIP"]
    if links:
        assert found["MY_DB_SERVICE_HOST"] == address
        assert found["MY_DB_SERVICE_PORT_HTTP"] == "80"
        assert found["MY_DB_PORT_80_TCP"] == f"tcp://{address}:80"
    else:
        assert "MY_DB_SERVICE_HOST" not in found
    assert found["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"


def test_a_missing_object_that_comes_is_found_at_the_next_attempt(world: World) -> None:
    world.run("app", "sleep", "1000", container={"envFrom": [{"configMapRef": {"name": "late"}}]})
    world.kernel.run_for(5)
    waiting = world.status("app")["state"]["waiting"]
    assert waiting == {"message": 'configmap "late" not found', "reason": "CreateContainerConfigError"}
    config(world, "ConfigMap", "late", A="1")
    world.run_until_ready(["app"], 20)
    assert world.status("app")["restartCount"] == 0


def test_identity_and_workplace(world: World) -> None:
    world.run(
        "app",
        "sh",
        "-c",
        "id -u; id -g; pwd",
        restartPolicy="Never",
        container={"securityContext": {"runAsUser": 1000, "runAsGroup": 2000}, "workingDir": "/made/here"},
    )
    world.kernel.run_for(8)
    assert world.logs("app") == "1000\n2000\n/made/here\n"
    assert world.status("app")["user"]["linux"] == {"uid": 1000, "gid": 2000, "supplementalGroups": [2000]}


def test_root_is_refused_where_it_is_unwanted(world: World) -> None:
    world.run("app", "id", container={"securityContext": {"runAsNonRoot": True, "runAsUser": 0}})
    world.kernel.run_for(5)
    uid = world.pod("app")["metadata"]["uid"]
    wanted = f'container\'s runAsUser breaks non-root policy (pod: "app_lab({uid})", container: app)'
    assert world.status("app")["state"]["waiting"]["message"] == wanted


def test_names_in_the_pod(world: World) -> None:
    world.run(
        "app",
        "sh",
        "-c",
        "cat /etc/hosts /etc/resolv.conf; hostname",
        restartPolicy="Never",
        hostAliases=[{"ip": "10.0.0.9", "hostnames": ["db", "cache"]}],
    )
    world.kernel.run_for(8)
    told = world.logs("app")
    assert "10.244.0.2\tapp\n" in told
    assert "# Entries added by HostAliases.\n10.0.0.9\tdb\tcache\n" in told
    assert told.endswith(
        "search lab.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\napp\n"
    )


def test_a_command_replaces_entry_point_and_arguments(world: World) -> None:
    world.run("one", restartPolicy="Never", container={"command": ["echo", "only"]})
    world.run("two", "$(GREETING) you", restartPolicy="Never", container={
        "command": ["echo"], "env": [{"name": "GREETING", "value": "hello"}],
    })  # fmt: skip
    world.kernel.run_for(8)
    assert (world.logs("one"), world.logs("two")) == ("only\n", "hello you\n")


def test_a_pod_on_the_hosts_network_has_its_address(world: World) -> None:
    world.run("app", "sleep", "1000", hostNetwork=True)
    world.run_until_ready(["app"])
    assert world.pod("app")["status"]["podIP"] == "172.18.0.2"


def test_too_little_memory_for_a_sandbox(world: World) -> None:
    world.run("tiny", "sleep", "1000", container={"resources": {"limits": {"memory": "1Mi"}}})
    world.kernel.run_for(5)
    (told,) = [each[3] for each in world.events("tiny") if each[2] == "FailedCreatePodSandBox"]
    assert told.startswith(
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start sandbox"
    )
    assert told.endswith("container init was OOM-killed (memory limit too low?)")
    assert world.status("tiny")["state"] == {"waiting": {"reason": "ContainerCreating"}}
