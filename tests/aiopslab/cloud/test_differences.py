"""How a change of what is declared is told: by the fields that somebody wrote."""

from __future__ import annotations

from aiopslab.cloud.declared import describe_differences, find_changes, find_differences, read_declared
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World


def test_a_change_is_told_by_the_paths_at_which_it_is_and_restarts_and_notes_of_causes_are_none() -> None:
    world = World(1)
    cluster = add_cluster(world, 1)
    cluster.start()
    world.run_for(10)
    terminal = Terminal(world, cluster)
    terminal.run("kubectl create deployment web --image=nginx:1.25")
    before = read_declared(cluster.api)
    terminal.run("kubectl rollout restart deployment/web")
    terminal.run("kubectl annotate deployment web kubernetes.io/change-cause='it was stuck'")
    assert find_changes(before, read_declared(cluster.api)) == {}
    terminal.run("kubectl scale deployment/web --replicas=2")
    terminal.run("kubectl set image deployment/web nginx=nginx:1.26")
    terminal.run("kubectl label deployment web team=a")
    after = read_declared(cluster.api)
    (key,) = find_changes(before, after)
    assert find_differences(before[key], after[key]) == [
        "spec.replicas",
        "spec.template.spec.containers[0].image",
        "metadata.labels.team",
    ]
    assert describe_differences(before[key], after[key]) == [
        "spec.replicas: 1 -> 2",
        "spec.template.spec.containers[0].image: nginx:1.25 -> nginx:1.26",
        "metadata.labels.team: none -> a",
    ]
