"""What counts as declared: what people wrote, not what helm notes down for itself."""

from __future__ import annotations

from aiopslab.cloud.clusters import add_cluster
from aiopslab.cloud.declared import changes, declared, differences
from aiopslab.cloud.terminal import Terminal
from aiopslab.cloud.world import World
from aiopslab.cluster.cluster import Cluster

RECORD = "kubectl create secret generic sh.helm.release.v1.web.v2 --type=helm.sh/release.v1 --from-literal=release=x"

SERVICE = """kubectl apply -f - <<'EOF'
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  ports: [{port: 80%s}]
EOF"""

def test_a_change_is_told_by_the_paths_at_which_it_is_and_restarts_and_notes_of_causes_are_none() -> None:
    world = World(1)
    cluster = add_cluster(world, 1)
    cluster.start()
    world.run_for(10)
    terminal = Terminal(world, cluster)
    terminal.run("kubectl create deployment web --image=nginx:1.25")
    before = declared(cluster.api)
    terminal.run("kubectl rollout restart deployment/web")
    terminal.run("kubectl annotate deployment web kubernetes.io/change-cause='it was stuck'")
    assert changes(before, declared(cluster.api)) == {}
    terminal.run("kubectl scale deployment/web --replicas=2")
    terminal.run("kubectl set image deployment/web nginx=nginx:1.26")
    terminal.run("kubectl label deployment web team=a")
    after = declared(cluster.api)
    (key,) = changes(before, after)
    assert differences(before[key], after[key]) == [
        "spec.replicas",
        "spec.template.spec.containers[0].image",
        "metadata.labels.team",
    ]


def test_records_of_releases_are_no_change_and_other_secrets_are() -> None:
    world = World(1)
    cluster = add_cluster(world, 1)
    cluster.start()
    world.run_for(10)
    terminal = Terminal(world, cluster)
    before = declared(cluster.api)
    assert terminal.run(RECORD).status == 0
    assert changes(before, declared(cluster.api)) == {}
    assert terminal.run("kubectl create secret generic own --from-literal=a=b").status == 0
    found = changes(before, declared(cluster.api))
    assert {key.name: what for key, what in found.items()} == {"own": "added"}
