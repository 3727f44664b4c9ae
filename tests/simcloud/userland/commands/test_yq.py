"""yq on files of the machine: the expressions that operators type at manifests."""

from __future__ import annotations

import pytest

from simcloud.machine.computer import Machine
from simcloud.world.world import World

DEPLOYMENT = """\
kind: Deployment
metadata:
  name: web
  labels: {app: web, on-call: "yes"}
spec:
  replicas: 2
  containers:
    - name: nginx
      image: nginx:1.20
    - name: side
      image: busybox
"""


@pytest.fixture
def machine() -> Machine:
    made = World(1).add_machine("host")
    made.host.files.put("/d.yaml", DEPLOYMENT.encode())
    made.host.files.put("/two.yaml", b"a: 1\n---\na: 2\n")
    return made


def typed(machine: Machine, line: str) -> tuple[str, str, int]:
    done = machine.host.run(["bash", "-c", line])
    return done.stdout.decode(), done.stderr.decode(), done.status


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("yq .metadata.name d.yaml", "web\n"),
        ("yq '.spec.replicas + 1' d.yaml", "3\n"),
        ("yq .metadata.labels.on-call d.yaml", "yes\n"),
        ("yq '.spec.containers[].image' d.yaml", "nginx:1.20\nbusybox\n"),
        ("yq '.spec.containers[] | select(.name == \"side\") | .image' d.yaml", "busybox\n"),
        ("yq '.spec.containers' d.yaml | head -n 2", "- name: nginx\n  image: nginx:1.20\n"),
        ("yq -o json -I0 .metadata d.yaml", '{"name":"web","labels":{"app":"web","on-call":"yes"}}\n'),
        ("yq -o=json '{\"n\":.spec.replicas}' d.yaml", '{\n  "n": 2\n}\n'),
        ("yq '.metadata.labels | keys' d.yaml", "- app\n- on-call\n"),
        ("yq .nothing d.yaml", "null\n"),
        ("yq '.nothing // \"none\"' d.yaml", "none\n"),
        ("yq .a two.yaml", "1\n---\n2\n"),
        ("yq -N .a two.yaml", "1\n2\n"),
        ("cat d.yaml | yq e .kind -", "Deployment\n"),
        ("yq -n '.a.b = \"true\"'", 'a:\n  b: "true"\n'),
        ('echo \'{"x":[1,{"y":null}]}\' | yq -P .', "x:\n  - 1\n  - y: null\n"),
        ("X=5 yq -n '.v = strenv(X)'", 'v: "5"\n'),
        ("X=5 yq -n '.v = env(X)'", "v: 5\n"),
        (
            "yq -i '.spec.replicas = 7 | del(.metadata.labels)' d.yaml; head -n 5 d.yaml",
            "kind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 7\n",
        ),
    ],
)
def test_expressions(machine: Machine, line: str, told: str) -> None:
    assert typed(machine, f"cd /; {line}") == (told, "", 0)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("yq . missing.yaml", "Error: open missing.yaml: no such file or directory\n"),
        ("echo 'a: [' | yq .", "Error: yaml: line 2: "),
        ("yq '.a[' d.yaml", "Error: "),
        ("yq --nonsense . d.yaml", "Error: unknown flag: --nonsense\n"),
        ("yq -i .a", "Error: write in place flag"),
        ("yq -e .nothing d.yaml", "Error: no matches found\n"),
        ("yq '.kind.deeper' d.yaml", "Error: "),
    ],
)
def test_mistakes(machine: Machine, line: str, why: str) -> None:
    _, stderr, status = typed(machine, f"cd /; {line}")
    assert stderr.startswith(why)
    assert status == 1


def test_a_bomb_of_aliases_is_refused(machine: Machine) -> None:
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    machine.host.files.put("/bomb.yaml", "\n".join(bomb).encode())
    assert typed(machine, "yq . /bomb.yaml") == ("", "Error: yaml: document contains excessive aliasing\n", 1)
