"""What a line may change is found before it runs; what cannot be undone is refused with a sentence."""

from __future__ import annotations

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.orchestrator.transactions import analyse
from aiopslab.orchestrator.validation import APPLY_ALL, FLUSH_FILTERS, LIST_WORKLOADS, UNDO_ROLLOUTS

COMPONENTS = (*HotelReservation().components, *SocialNetwork().components)

READING = (
    "kubectl get pods -A",
    "kubectl -n shop logs deploy/web --tail=5 | grep error > /tmp/errors",
    "kubectl -n shop rollout status deploy/web",
    "kubectl -n shop exec deploy/web -- cat /etc/hosts",
    "kubectl -n shop exec deploy/mongodb-rate -- mongo --quiet --eval 'db.inventory.find()'",
    "kubectl -n shop exec deploy/social-graph-redis -- redis-cli get 1",
    "ssh kind-worker 'iptables -S; tc qdisc show; sysctl -a | head'",
    "kubectl apply -f x.yaml --dry-run=server",
    "kubectl port-forward svc/prometheus 9090:80 & sleep 1; curl -s localhost:9090/api/v1/alerts",
    "helm list -A",
    'ssh kind-worker "iptables-save | grep DROP | sed s/^/kind-worker:/"',
    "ssh kind-worker 'for unit in kubelet containerd; do systemctl is-active $unit; done'",
    "kubectl exec deploy/social-graph-redis -- redis-cli config get maxmemory",
    "curl -s http://10.0.0.1:30090/api/v1/query --data-urlencode 'query=up'",
    "pid=$(ssh kind-worker crictl inspect $container | jq .info.pid); ssh kind-worker nsenter -t $pid -n tc qdisc show",
    "cat > fix.yaml <<EOF\nkind: Pod\nit's: fine\nEOF",
    LIST_WORKLOADS,
)


@pytest.mark.parametrize("line", READING)
def test_reading_needs_no_transaction(line: str) -> None:
    effects = analyse(line, COMPONENTS)
    assert not effects.can_change, effects


OBJECTS = (
    "kubectl -n shop scale deploy/web --replicas=0",
    "kubectl -n shop get deploy -o name | xargs -r -I@ kubectl -n shop rollout restart @",
    "kubectl apply -f - <<EOF\nkind: Service\nEOF",
    "helm rollback shop 1",
    "if true; then kubectl delete pod web; fi",
    "kubectl annotate pod web x=$(kubectl get pods -o name | wc -l)",
    UNDO_ROLLOUTS,
    APPLY_ALL,
)


@pytest.mark.parametrize("line", OBJECTS)
def test_writes_to_the_api_change_objects(line: str) -> None:
    effects = analyse(line, COMPONENTS)
    assert effects.changes_objects and not effects.refusal
    assert not (effects.nodes or effects.pods or effects.rows or effects.keys)


def test_lines_on_nodes_and_in_containers_name_their_files() -> None:
    line = "ssh root@kind-worker 'cp /etc/hosts /etc/hosts.old && echo x >> /etc/hosts'"
    assert analyse(line, COMPONENTS).nodes == {"kind-worker": ["/etc/hosts", "/etc/hosts.old", "/etc/hosts"]}
    assert list(analyse(FLUSH_FILTERS, COMPONENTS).nodes) == ["*"]
    effects = analyse("kubectl -n shop exec -it deploy/web -- sh -c 'rm /tmp/lock'", COMPONENTS)
    assert effects.pods == {"-n shop exec deploy/web": ["/tmp/lock"]}
    assert analyse("kubectl cp a.conf shop/web-1:/etc/a.conf", COMPONENTS).pods == {
        "-n shop exec web-1": ["/etc/a.conf"]
    }
    for pid in ("12", "$pid", "$(cat /tmp/pid)"):
        effects = analyse(f"ssh kind-worker nsenter -t {pid} -n tc qdisc del dev eth0 root", COMPONENTS)
        assert effects.enters_networks and list(effects.nodes) == ["kind-worker"], effects


def test_rows_and_keys_are_recorded_where_the_line_names_them() -> None:
    effects = analyse("kubectl exec deploy/mongodb-rate -- mongo --eval 'db.inventory.drop()'", COMPONENTS)
    assert effects.rows == {"mongodb-rate"} and not effects.refusal
    effects = analyse("kubectl exec deploy/social-graph-redis -- redis-cli del 1 2", COMPONENTS)
    assert [(write.store, write.keys) for write in effects.keys] == [("social-graph-redis", ("1", "2"))]


def test_databases_without_a_volume_are_backed_up_if_they_may_restart() -> None:
    named = analyse("kubectl -n shop rollout restart deploy/url-shorten-mongodb", COMPONENTS)
    assert named.backups == {"url-shorten-mongodb"}
    assert len(analyse("kubectl -n shop delete pods --all", COMPONENTS).backups) > 3
    assert not analyse("kubectl -n shop scale deploy/web --replicas=0", COMPONENTS).backups


REFUSED = {
    "kubectl -n shop delete pvc data": "no backup",
    "kubectl delete ns shop": "no backup",
    "kubectl delete -n shop pvc/data": "no backup",
    "kubectl delete -f shop.yaml": "name the objects",
    "kubectl replace --force -f - <<EOF\nkind: PersistentVolumeClaim\nEOF": "no backup",
    "alias k=kubectl; k delete deploy/web": "cannot be seen",
    "/tmp/fix": "cannot be seen",
    "find . -exec kubectl delete pod {} \\;": "cannot be seen",
    "awk 'BEGIN {system(\"kubectl delete pod x\")}'": "cannot be seen",
    "helm uninstall shop -n shop": "no backup",
    "curl -X POST http://hooks.example.com/x": "request",
    "kubectl exec web -- curl -d a=b http://other": "cannot be undone",
    "bash fix.sh": "cannot be seen",
    "eval $line": "cannot be seen",
    "kubectl scale deploy/web --replicas=0 &": "background",
    "ssh kind-worker reboot": "cannot be undone",
    "ssh kind-worker 'find /data -delete'": "cannot be undone",
    "ssh kind-worker 'rm $file'": "absolute path",
    "ssh kind-worker 'cd /etc && rm conf.d/x'": "absolute path",
    "kubectl exec deploy/social-graph-redis -- redis-cli flushall": "cannot be undone",
    "kubectl exec deploy/mongodb-rate -- mongo --eval 'db.shutdownServer()'": "cannot be undone",
    "kubectl exec deploy/mongodb-rate -- mongo --eval 'db.dropUser(\"root\")'": "logs in as",
    "kubectl exec deploy/strange -- mongo --eval 'db.x.drop()'": "not named",
    "kubectl debug node/kind-worker -it --image=busybox": "kubectl debug",
    "kubectl scale deploy/web --replicas='1": "quotation",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_undone_is_refused(line: str) -> None:
    refusal = analyse(line, COMPONENTS).refusal
    assert REFUSED[line] in refusal
    assert refusal.endswith(".") and "\n" not in refusal
