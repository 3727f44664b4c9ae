"""Orders for nodes: they are carried out as root on the node, also while its kubelet or container runtime does not work."""

from __future__ import annotations

import json
from shlex import quote

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud import ADMIN, Environment
from aiopslab.cloud.kubernetes.node_shells import SSH, build_node_shells, format_node_line
from aiopslab.cloud.kubernetes.pod_terminal import NAMESPACE, build_account
from simcloud.world import TOOLBOX, publish_toolbox

NODE = "kind-worker"


@pytest.fixture(scope="module")
def environment() -> Environment:
    environment = Environment(HotelReservation(), 3)
    environment.open()
    publish_toolbox(environment.cluster)
    for _, obj in (*build_account(ADMIN, {}, []), *build_node_shells(TOOLBOX, {})):
        environment.run(f"kubectl -n {NAMESPACE} create -f - <<< {quote(json.dumps(obj))}")
    environment.run_for(60)
    environment.run(f"cat > ssh-order << 'END'\n{SSH}\nEND\nchmod +x ssh-order")
    return environment


def test_a_line_runs_as_root_on_its_node(environment: Environment) -> None:
    assert environment.run(format_node_line(NODE, 'hostname; id -un; echo "it\'s" >&2')) == f"{NODE}\nroot\n"
    done = environment.attempt(
        "./ssh-order -o BatchMode=yes root@kind-worker2 'hostname; echo oh >&2; exit 3'"
    )
    assert (done.status, done.stdout, done.stderr) == (3, b"kind-worker2\n", b"oh\n")
    assert environment.run(f"printf 'echo one\\necho two' | ./ssh-order {NODE} bash -s") == "one\ntwo\n"
    assert (
        "Could not resolve hostname nowhere"
        in environment.attempt("./ssh-order nowhere hostname").stderr.decode()
    )
    assert environment.attempt(f"timeout 3 ./ssh-order {NODE} sleep 60").status == 124
    assert "order" not in environment.run(f"kubectl -n {NAMESPACE} get configmaps")


@pytest.mark.parametrize("unit", ["kubelet", "containerd"])
@pytest.mark.parametrize(
    ("strike", "repair"),
    [("systemctl stop {}", "systemctl start {}"), ("pkill -STOP -x {}", "pkill -CONT -x {}")],
)
def test_a_node_whose_service_does_not_work_is_repaired(
    environment: Environment, unit: str, strike: str, repair: str
) -> None:
    environment.run(format_node_line(NODE, strike.format(unit)))
    environment.run_for(60)
    assert environment.run(f"./ssh-order {NODE} hostname") == f"{NODE}\n"
    environment.run(format_node_line(NODE, repair.format(unit)))
    environment.run_for(60)
    environment.run(f"kubectl wait node/{NODE} --for=condition=Ready --timeout=60s")
