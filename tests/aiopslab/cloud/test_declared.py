"""What counts as declared: what people wrote, not what helm notes down for itself."""

from __future__ import annotations

from aiopslab.cloud.declared import find_changed_words, find_changes, read_declared
from simcloud.kubernetes.cluster import Cluster
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

RECORD = "kubectl create secret generic sh.helm.release.v1.web.v2 --type=helm.sh/release.v1 --from-literal=release=x"

SERVICE = """kubectl apply -f - <<'EOF'
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  ports: [{port: 80%s}]
EOF"""


def opened() -> tuple[Terminal, Cluster]:
    world = World(1)
    cluster = add_cluster(world, 1)
    cluster.start()
    world.run_for(10)
    return Terminal(world, cluster), cluster


def test_records_of_releases_are_no_change_and_other_secrets_are() -> None:
    terminal, cluster = opened()
    before = read_declared(cluster.api)
    assert terminal.run(RECORD).status == 0
    assert find_changes(before, read_declared(cluster.api)) == {}
    assert terminal.run("kubectl create secret generic own --from-literal=a=b").status == 0
    found = find_changes(before, read_declared(cluster.api))
    assert {key.name: what for key, what in found.items()} == {"own": "added"}


def test_a_port_of_the_nodes_is_declared_where_somebody_chose_it() -> None:
    terminal, cluster = opened()
    told = []
    for port in ("", "", ", nodePort: 30500", ", nodePort: 30501"):
        before = read_declared(cluster.api)
        assert terminal.run(f"kubectl delete service web --ignore-not-found; {SERVICE % port}").status == 0
        told.append(list(find_changes(before, read_declared(cluster.api)).values()))
    assert told == [["added"], [], ["changed"], ["changed"]]


def test_a_port_that_the_cluster_chose_may_be_written_down() -> None:
    terminal, cluster = opened()
    assert terminal.run(SERVICE % "").status == 0
    before = read_declared(cluster.api)
    assert terminal.run("kubectl get service web -o yaml | kubectl apply -f -").status == 0
    assert find_changes(before, read_declared(cluster.api)) == {}
    assert terminal.run(SERVICE % ", nodePort: 30501").status == 0
    assert list(find_changes(before, read_declared(cluster.api)).values()) == ["changed"]


def test_the_words_of_a_change_are_its_fields_and_values() -> None:
    before = {"metadata": {"name": "geo"}, "data": {"conf": "addr: redis port: 6379"}}
    after = {"metadata": {"name": "geo"}, "data": {"conf": "addr: new-redis port: 6379"}}
    assert find_changed_words(before, after) == ["new-redis", "redis"]
    assert find_changed_words(before, None) == ["geo"]
    assert find_changed_words(None, {"metadata": {"name": "pod-sizes"}, "spec": {"max": {"cpu": "250m"}}}) == [
        "spec", "max", "cpu", "250m", "metadata", "name", "pod-sizes",
    ]  # fmt: skip


def test_a_replica_set_is_declared_once_no_deployment_owns_it() -> None:
    terminal, cluster = opened()
    before = read_declared(cluster.api)
    assert terminal.run("kubectl create deployment web --image=nginx; sleep 5").status == 0
    assert [key.plural for key in find_changes(before, read_declared(cluster.api))] == ["deployments"]
    assert terminal.run("kubectl delete deployment web --cascade=orphan; sleep 5").status == 0
    assert [key.plural for key in find_changes(before, read_declared(cluster.api))] == ["replicasets"]
