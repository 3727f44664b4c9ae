"""Any command line of kubectl's words ends with an exit code: no line may end the world.

Lines are drawn from the commands, flags and values there are, good and bad; each is typed at a living cluster
under ``timeout``, since some of them rightly wait for ever. ``AIOPSLAB_FUZZ=20`` draws twenty times as many.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import pytest

from simcloud.kubectl.command import ROOT, Command, global_flags
from simcloud.kubectl.flags import Flag
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

LINES: Final = 400 * int(os.environ.get("AIOPSLAB_FUZZ", "1"))
CONFIG: Final = "/root/.kube/config"
SEEDS: Final = (1, 2)
RENEWAL: Final = 50
"""After so many lines what they may have deleted is made again."""
MANIFESTS: Final = Path(__file__).parent / "manifests"
KINDS: Final = (
    *(
        "pod",
        "pods",
        "po",
        "deploy",
        "deployments.apps",
        "deployments.v1.apps",
        "svc",
        "ds",
        "sts",
        "rs",
        "cm",
    ),
    *(
        "secret",
        "node",
        "nodes",
        "ns",
        "hpa",
        "pdb",
        "rolebinding",
        "clusterrole",
        "cronjob",
        "job",
        "csr",
        "all",
    ),
    *(
        "events",
        "sa",
        "pods,svc",
        "ingress",
        "pv",
        "crd",
        "nosuch",
        "",
        ",",
        "pods.",
        ".apps",
        "PODS",
        "endpoints",
    ),
)
NAMES: Final = (
    *(
        "web",
        "api",
        "db",
        "agent",
        "bare",
        "scratch",
        "settings",
        "keys",
        "viewers",
        "nightly",
        "ann",
        "shop",
    ),
    *(
        "kind-worker",
        "kind-control-plane",
        "default",
        "nosuch",
        "",
        "-",
        "Bad_Name",
        "a" * 300,
        "web-0",
        "é",
        "..",
    ),
)
WORDS: Final = (
    *(
        "a=b",
        "a-",
        "=x",
        "a=b=c",
        "nginx=nginx:1.20",
        "*=busybox:1.36",
        "k=v:NoSchedule",
        "k:NoExecute-",
        "k=v:No",
    ),
    *(
        "app=web",
        "app in (a,b)",
        "app!=b",
        "!app",
        "app in",
        "x" * 5000,
        "{}",
        "[]",
        "null",
        "\x00",
        "\n",
        "--",
        "-",
    ),
    *(
        "5",
        "-1",
        "0",
        "80%",
        "1h",
        "1s",
        "abc",
        "9" * 30,
        "cpu=1,memory=1Gi",
        "cpu=",
        "true",
        "80:80",
        "tcp",
        "/tmp",
    ),
)
PATCHES: Final = (
    '{"spec":{"replicas":2}}',
    '{"metadata":{"labels":{"a":"b"}}}',
    '[{"op":"remove","path":"/spec"}]',
    '[{"op":"replace","path":"/metadata/name","value":1}]',
    '{"metadata":null}',
    '{"spec":null}',
    '{"spec":[]}',
    '{"metadata":[]}',
    '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":5}]}}}}',
    '{"$patch":"delete"}',
    "a: b",
    "[" * 50,
)
OUTPUTS: Final = (
    *(
        "yaml",
        "json",
        "name",
        "wide",
        "kyaml",
        "nosuch",
        "jsonpath={.metadata.name}",
        "jsonpath={.items[*]",
        "",
    ),
    *(
        "custom-columns=A:.metadata.name",
        "go-template={{.kind}}",
        "go-template={{",
        "jsonpath-as-json={..name}",
    ),
)
FILES: Final = ("shop.yaml", "shop-web.yaml", "image-patch.yaml", "nosuch.yaml", ".", "-", "broken.yaml", "/")
BY_NAME: Final[dict[str, tuple[str, ...]]] = {
    "output": OUTPUTS,
    "filename": FILES,
    "patch": PATCHES,
    "patch-file": FILES,
    "type": ("json", "merge", "strategic", "nosuch", "apply"),
    "dry-run": ("client", "server", "none", "nosuch"),
    "namespace": ("shop", "kube-system", "default", "nosuch", ""),
    "selector": ("app=web", "app in (web,api)", "!app", "a b", "=", ""),
    "field-selector": ("metadata.name=web", "status.phase=Running", "nosuch=1", "a"),
    "from": ("configmap/settings", "secret/keys", "svc/web", "nosuch", "pod/bare"),
    "for": ("condition=Ready", "delete", "jsonpath={.kind}=Pod", "nosuch", "create", "condition=Ready=false"),
    "subresource": ("scale", "status", "resize", "nosuch", "approval", "eviction"),
    "sort-by": (".metadata.name", "cpu", "nosuch", "{", ".spec"),
    "kubeconfig": ("nosuch", "/root/.kube/config", "shop.yaml"),
    "server": ("https://172.18.0.2:6443", "http://nosuch", "::", "https://172.18.0.2:1"),
    "as": ("ann", "system:serviceaccount:shop:default"),
}
SENSIBLE: Final = (
    *("deploy/web", "deploy web", "deploy web api", "deploy --all", "deploy -l app=web", "-f shop-web.yaml"),
    *(
        "pod bare",
        "pods",
        "nodes kind-worker",
        "kind-worker",
        "sts/db ds/agent",
        "cm settings",
        "svc web",
        "ann",
    ),
    *(
        "rolebinding viewers",
        "-f shop.yaml",
        "secret keys",
        "cronjob/nightly",
        "pdb api",
        "hpa web",
        "node",
        "shop",
    ),
)
"""Objects that are there."""
LATER: Final = (
    *(
        "",
        "",
        "",
        "a=b",
        "a-",
        "nginx=nginx:1.20",
        "k=v:NoSchedule",
        "-- ls",
        "-- sh -c date",
        "app=web",
        "80:80",
    ),
)
BROKEN: Final = "kind: [\n- a: {b\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_line_ends(seed: int) -> None:
    """Whatever is typed, the world goes on and the line has an exit code."""
    world = World(seed)
    cluster = add_cluster(world, 4)
    cluster.start()
    terminal = Terminal(world, cluster)
    world.run_for(30.0)
    files = terminal.machine.host.files
    for path in sorted(one for one in MANIFESTS.rglob("*") if one.is_file()):
        where = f"/root/{path.relative_to(MANIFESTS)}"
        files.mkdir(where.rpartition("/")[0], parents=True)
        files.put(where, path.read_bytes())
    files.put("/root/broken.yaml", BROKEN.encode())
    config = files.read(CONFIG)
    draw = Random(seed)
    for count in range(LINES // len(SEEDS)):
        if count % RENEWAL == 0:
            terminal.run("kubectl create namespace shop; sleep 1; kubectl apply -f /root/shop.yaml; sleep 10")
        files.put(CONFIG, config)  # lines may have changed it
        line = command_line(draw)
        try:
            done = terminal.run(f"cd /root; echo 'a=b' | timeout 3 {line}")
        except BaseException as error:
            raise AssertionError(f"the world ended with: {line}") from error
        assert 0 <= done.status <= 255, line
        assert b"Traceback" not in done.stderr, line


def command_line(draw: Random) -> str:
    """A line that might be typed, or that nobody would type."""
    words = _worn(draw) if draw.random() < 0.5 else _made_up(draw)
    return " ".join(shlex.quote(word.replace("\x00", "?")) for word in words)


def _worn(draw: Random) -> list[str]:
    """A line that makes sense, with some of its words lost, swapped or put in."""
    words = shlex.split(draw.choice(_KNOWN))
    for _ in range(draw.choice((0, 1, 1, 2))):
        place = draw.randrange(1, len(words)) if len(words) > 1 else 1
        match draw.randrange(4):
            case 0:
                del words[place:]
            case 1:
                words[place:place] = _flag(draw, draw.choice(global_flags()))
            case 2:
                words[place : place + 1] = [_argument(draw)]
            case _:
                command = next(
                    (one for one in _COMMANDS if one.path.split() == words[1 : 1 + len(one.path.split())]),
                    None,
                )
                own = command.flags() if command else []
                words += _flag(draw, draw.choice(own)) if own else []
    return words


def _made_up(draw: Random) -> list[str]:
    """A line of words that exist."""
    command = draw.choice(_COMMANDS)
    words = ["kubectl", *command.path.split()]
    later: list[str] = []
    if draw.random() < 0.6:
        words += draw.choice(SENSIBLE).split()
        later = draw.choice(LATER).split()
    else:
        words += [_argument(draw) for _ in range(draw.choice((0, 1, 1, 2, 2, 2, 3, 4)))]
    own = command.flags()
    for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
        flag = draw.choice(own) if own and draw.random() < 0.85 else draw.choice(global_flags())
        words += _flag(draw, flag)
    if draw.random() < 0.6:
        words += ["-n", draw.choice(("shop", "shop", "kube-system"))]
    if draw.random() < 0.1:
        draw.shuffle(words)
        words = ["kubectl", *words]
    return words + later


def _argument(draw: Random) -> str:
    chance = draw.random()
    if chance < 0.3:
        return draw.choice(KINDS)
    if chance < 0.55:
        return draw.choice(NAMES)
    if chance < 0.8:
        return f"{draw.choice(KINDS)}/{draw.choice(NAMES)}"
    return draw.choice(WORDS)


def _flag(draw: Random, flag: Flag) -> list[str]:
    values = BY_NAME.get(flag.name, (*WORDS, *NAMES[:4]))
    value = draw.choice(values if draw.random() < 0.9 else WORDS)
    if flag.kind == "bool":
        return [f"--{flag.name}"] if draw.random() < 0.9 else [f"--{flag.name}={value}"]
    if flag.kind in ("int", "duration") and draw.random() < 0.8:
        value = draw.choice(("0", "1", "2", "5", "-1")) + ("s" if flag.kind == "duration" else "")
    if flag.shorthand and draw.random() < 0.5:
        return [f"-{flag.shorthand}", value]
    return [f"--{flag.name}={value}"] if draw.random() < 0.7 else [f"--{flag.name}", value]


def _all_commands(command: Command) -> Iterator[Command]:
    for name in sorted(command.below):
        below = command.below[name]
        if below.run is not None:
            yield below
        yield from _all_commands(below)


def _known_lines() -> Iterator[str]:
    """The compared lines that are one command without a shell's doing."""
    for path in sorted((MANIFESTS.parent / "lines").glob("*.txt")):
        for line in path.read_text().splitlines():
            if line.startswith("kubectl ") and not any(
                mark in line for mark in ("|", ">", "$", ";", "&", "<")
            ):
                yield line


_COMMANDS: Final = list(_all_commands(ROOT))
_KNOWN: Final = list(_known_lines())
