"""What the terminal offers when a person presses the tab key."""

from __future__ import annotations

import pytest

from aiopslab.cli.completion import Completer
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World


@pytest.fixture(scope="module")
def completer() -> Completer:
    world = World(1)
    cluster = add_cluster(world, 3)
    cluster.start()
    world.run_for(20.0)
    return Completer(cluster.api)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("kube", ["kubectl "]),
        ("kubectl des", ["describe "]),
        ("kubectl rollout und", ["undo "]),
        ("echo x | kubectl api-v", ["api-versions "]),
        ("kubectl get statefuls", ["statefulsets "]),
        ("kubectl get nodes kind-worker2", ["kind-worker2 "]),
        ("kubectl -n kube-system get deploy cor", ["coredns "]),
        ("kubectl get pods -n kube-sys", ["kube-system "]),
        ("kubectl logs -n kube-system etcd", ["etcd-kind-control-plane "]),
        ("kubectl logs --all-c", ["--all-containers "]),
        ("kubectl get nonsense x", []),
        ("ls ", []),
    ],
)
def test_completion(completer: Completer, line: str, offered: list[str]) -> None:
    assert completer.complete(line) == offered


def test_words_of_a_session_are_completed_beside_kubectl(completer: Completer) -> None:
    session = Completer(
        completer._api, {"help": ("get_logs", "get_traces"), "history": (), "submit": ("geo",)}
    )
    assert session.complete("h") == ["help ", "history "]
    assert session.complete("help get_l") == ["get_logs "]
    assert session.complete("submit user g") == ["geo "]
    assert session.complete("history ") == []
    assert session.complete("kubectl des") == ["describe "]
