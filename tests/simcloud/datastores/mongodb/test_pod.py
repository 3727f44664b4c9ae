"""The image in a cluster: init scripts from a ConfigMap, data on the node, the shell by kubectl exec."""

from __future__ import annotations

from itertools import pairwise

import pytest

from simcloud.datastores.mongodb.image import images
from simcloud.kubernetes.images import standard_registry
from simcloud.world.clusters import add_cluster
from simcloud.world.terminal import Terminal
from simcloud.world.world import World

MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata: {name: init}
data:
  init.js: |
    db = db.getSiblingDB("admin");
    db.createUser({user: "admin", pwd: "admin", roles: [{role: "root", db: "admin"}]});
---
apiVersion: v1
kind: Pod
metadata: {name: mongo, labels: {app: mongo}}
spec:
  containers:
  - name: mongo
    image: mongo:4.4.6
    args: ["--auth"]
    ports: [{containerPort: 27017}]
    volumeMounts:
    - {name: data, mountPath: /data/db}
    - {name: init, mountPath: /docker-entrypoint-initdb.d}
  volumes:
  - name: data
    hostPath: {path: /data/volumes/mongo, type: DirectoryOrCreate}
  - name: init
    configMap: {name: init}
"""


@pytest.fixture(scope="module")
def terminal() -> Terminal:
    world = World(1)
    cluster = add_cluster(world, 2)
    registry = standard_registry()
    for reference, image in images().items():
        registry.add(reference, image)
    cluster.start(registry)
    world.run_for(30)
    terminal = Terminal(world, cluster)
    applied = terminal.run(f"kubectl apply -f - <<'END'\n{MANIFEST}\nEND")
    assert applied.status == 0, applied.stderr
    world.run_for(60)
    return terminal


def mongo(terminal: Terminal, script: str) -> str:
    done = terminal.run(f"kubectl exec mongo -- mongo admin -u admin -p admin --quiet --eval '{script}'")
    assert done.status == 0, done.stdout + done.stderr
    return done.stdout.decode()


def test_the_pod_runs_and_its_log_is_mongods(terminal: Terminal) -> None:
    assert terminal.run("kubectl get pod mongo -o jsonpath='{.status.phase}'").stdout == b"Running"
    log = terminal.run("kubectl logs mongo").stdout.decode()
    assert "MongoDB init process complete; ready for start up." in log
    assert '"msg":"Waiting for connections","attr":{"port":27017,"ssl":"off"}' in log


def test_skipped_time_has_its_checkpoints_in_log_and_folder(terminal: Terminal) -> None:
    terminal.machine.kernel.skip(21 * 86_400)
    terminal.run("sleep 130")
    log = terminal.run("kubectl logs mongo --tail=150").stdout.decode().splitlines()
    assert len(log) == 150
    assert all('"id":22430' in line for line in log)
    numbers = [int(line.partition("snapshot min: ")[2].partition(",")[0]) for line in log]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] > 21 * 1430 * 2
    seconds = [int(line.partition('"message":"[')[2].partition(":")[0]) for line in log]
    assert all(59 <= later - earlier <= 62 for earlier, later in pairwise(seconds))
    recent = terminal.run("kubectl logs mongo --since=15m | wc -l").stdout
    assert recent in (b"14\n", b"15\n")
    folder = "/var/log/pods/default_mongo_*/mongo"
    listed = terminal.run(f"ssh kind-worker 'stat -c %s {folder}/*; cat {folder}/* | wc -c'").stdout.split()
    rest, rotated, total = map(int, listed)
    assert rest < 10 << 20 < rotated < (10 << 20) + 1000
    assert rest + rotated == total
    assert terminal.run("kubectl exec mongo -- ls /data/db/diagnostic.data").stdout.count(b"metrics.") > 3


def test_data_outlive_the_container(terminal: Terminal) -> None:
    assert (
        mongo(terminal, 'db.getSiblingDB("geo-db").geo.insert({_id: 1})')
        == 'WriteResult({ "nInserted" : 1 })\n'
    )
    listed = terminal.run("kubectl exec mongo -- ls /data/db").stdout.decode().split()
    assert {"WiredTiger", "mongod.lock", "journal"} <= set(listed)
    terminal.run("kubectl delete pod mongo")
    terminal.run(f"kubectl apply -f - <<'END'\n{MANIFEST}\nEND")
    terminal.run("sleep 60")
    assert mongo(terminal, 'db.getSiblingDB("geo-db").geo.count()') == "1\n"


@pytest.mark.parametrize(
    ("name", "line", "frozen", "words"),
    [
        (
            "frozen-data",
            "mountPath: /data/db}",
            "mountPath: /data/db, readOnly: true}",
            (
                "IllegalOperation: Attempted to create a lock file on a read-only directory: /data/db",
                '"msg":"Shutting down","attr":{"exitCode":100}',
            ),
        ),
        (
            "frozen-root",
            "    - {name: init, mountPath: /docker-entrypoint-initdb.d}\n",
            "    securityContext: {readOnlyRootFilesystem: true}\n",
            (
                '"msg":"Failed to unlink socket file","attr":{"path":"/tmp/mongodb-27017.sock","error":"Read-only file system"}',
                '"msg":"Fatal assertion","attr":{"msgid":40486,',
            ),
        ),
    ],
)
def test_the_last_words_of_a_server_that_cannot_write_are_in_its_log(
    terminal: Terminal, name: str, line: str, frozen: str, words: tuple[str, ...]
) -> None:
    manifest = (
        MANIFEST.partition("---")[2]
        .replace("name: mongo, labels: {app: mongo}", f"name: {name}")
        .replace("volumes/mongo", f"volumes/{name}")
        .replace(line, frozen)
    )
    assert terminal.run(f"kubectl apply -f - <<'END'\n{manifest}\nEND").status == 0
    terminal.run("sleep 20", 30.0)
    logs = terminal.run(f"kubectl logs {name}").stdout.decode()
    assert all(text in logs for text in words), logs
