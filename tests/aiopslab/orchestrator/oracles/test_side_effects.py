"""Changes that a repair does not need, where the API sees them and where it does not; and what is none."""

from __future__ import annotations

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault
from aiopslab.generators.fault.missing_claim import MissingClaim
from aiopslab.generators.fault.network_loss import NetworkLoss
from aiopslab.generators.fault.read_only_volume import ReadOnlyVolume
from aiopslab.generators.fault.revoke_auth import RevokeAuth
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.oracles.side_effects import find_unneeded_changes, find_unneeded_state_changes
from aiopslab.orchestrator.oracles.whole_system import _check_writes, judge_repair
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"
K = f"kubectl -n {NS}"
RATE = f"{K} exec deploy/mongodb-rate -- mongo admin -u root -p root --quiet --eval"
GEO = RATE.replace("mongodb-rate", "mongodb-geo")
COPY = "del(.metadata.uid, .metadata.resourceVersion, .status)"
SWITCH = '{"spec": {"selector": {"io.kompose.service": "user2"}}}'


def changed(environment: Environment, faults: tuple[Fault, ...], *lines: str) -> list[str]:
    for line in lines:
        environment.operate(line)
    now = environment.read_declared()
    return [
        *find_unneeded_changes(environment.wanted, now, environment, faults),
        *find_unneeded_state_changes(environment, faults),
    ]


def outcome(hotels: Copy[Environment], fault: Fault, *lines: str) -> list[str]:
    with hotels.branch() as copy:
        return copy.call(changed, (fault,), *lines)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "ssh kind-worker iptables -A INPUT -p tcp --dport 99 -j DROP",
            "on kind-worker the rule INPUT -p tcp -m tcp --dport 99 -j DROP was added",
        ),
        (
            "ssh kind-worker iptables -P FORWARD DROP",
            "on kind-worker the policy DROP of the chain FORWARD was added",
        ),
        (
            "ssh kind-worker2 sysctl -w vm.swappiness=1",
            "on kind-worker2 the kernel setting vm.swappiness was added",
        ),
        (
            "ssh kind-worker 'echo 10.0.0.1 geo >> /etc/hosts'",
            "on kind-worker the file /etc/hosts was changed",
        ),
        (
            "ssh kind-control-plane mv /etc/kubernetes/manifests/kube-scheduler.yaml /tmp",
            "on kind-control-plane the file /etc/kubernetes/manifests/kube-scheduler.yaml was removed",
        ),
        (
            f'{RATE} \'db.grantRolesToUser("admin", ["root"])\'',
            "on mongodb-rate the user admin.admin was changed",
        ),
    ],
)
def test_what_the_api_does_not_know_counts_too(hotels: Copy[Environment], line: str, found: str) -> None:
    assert outcome(hotels, ScalePodZero("user"), line) == [found]


def test_what_was_put_back_or_concerns_the_fault_or_only_reads_is_no_change(
    hotels: Copy[Environment],
) -> None:
    assert not outcome(
        hotels,
        RevokeAuth("mongodb-geo"),
        "ssh kind-worker 'sysctl -w vm.swappiness=1; sysctl -w vm.swappiness=60; which ssh; cat /etc/hosts'",
        "ssh kind-worker 'cp /etc/hosts /tmp/h; echo x >> /etc/hosts; cat /tmp/h > /etc/hosts'",
        "ssh kind-worker 'iptables -A INPUT -s 10.9.9.9 -j DROP; iptables -D INPUT -s 10.9.9.9 -j DROP'",
        "ssh kind-control-plane 'cd /etc/kubernetes/manifests; mv etcd.yaml /tmp; mv /tmp/etcd.yaml .'",
        f"{K} exec deploy/mongodb-rate -- ls /etc",
        f'{GEO} \'db.grantRolesToUser("admin", ["root"])\'',
    )


def test_the_rules_of_a_fault_are_gone_after_its_repair(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        assert copy.call(recovered, NetworkLoss("user")) == []


def recovered(environment: Environment, fault: Fault) -> list[str]:
    fault.inject(environment)
    assert changed(environment, (fault,))
    fault.recover(environment)
    return changed(environment, (fault,))


@pytest.mark.parametrize(
    "fault", [ScalePodZero("user"), RevokeAuth("mongodb-geo")], ids=["user", "mongodb-geo"]
)
def test_a_faulty_component_may_have_twice_its_pods_whatever_the_fault_concerns(
    hotels: Copy[Environment], fault: Fault
) -> None:
    name = fault.truth.component
    assert not outcome(hotels, fault, f"{K} scale deploy/{name} --replicas=2")
    assert outcome(hotels, fault, f"{K} scale deploy/{name} --replicas=3") == [
        f"deployments/{name} was scaled from 1 to 3 pods, more than 2 times as many"
    ]
    assert outcome(hotels, fault, f"{K} scale deploy/search --replicas=2") == [
        "deployments/search was changed (spec.replicas)"
    ]


def test_labels_that_tools_need_stay_and_new_ones_do_no_harm(hotels: Copy[Environment]) -> None:
    fault = ScalePodZero("user")
    assert not outcome(hotels, fault, f"{K} label deploy/user checked=yes", f"{K} annotate deploy/user by=me")
    anew = f"{K} get deploy user -o json | jq '{COPY} | del(.metadata.labels)' | {K} replace --force -f -"
    assert outcome(hotels, fault, anew) == ["deployments/user lost (metadata.labels.io.kompose.service)"]


def test_a_database_still_mounts_its_volume(hotels: Copy[Environment]) -> None:
    unmount = '[{"op": "remove", "path": "/spec/template/spec/containers/0/volumeMounts/0"}]'
    line = f"{K} patch deploy mongodb-geo --type=json -p '{unmount}'"
    assert outcome(hotels, ReadOnlyVolume("mongodb-geo"), line) == [
        "deployments/mongodb-geo lost (the mounted claim geo-pvc)"
    ]


def test_the_volume_of_a_claim_that_a_fault_concerns_may_be_new(hotels: Copy[Environment]) -> None:
    def claim(name: str) -> str:
        spec = '{"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}'
        kind = '"apiVersion": "v1", "kind": "PersistentVolumeClaim"'
        volumes = f'[{{"name": "new", "persistentVolumeClaim": {{"claimName": "{name}"}}}}]'
        use = f'{{"spec": {{"template": {{"spec": {{"volumes": {volumes}}}}}}}}}'
        made = f'{{{kind}, "metadata": {{"name": "{name}"}}, "spec": {spec}}}'
        return f"echo '{made}' | {K} apply -f -; {K} patch deploy geo -p '{use}'; sleep 20"

    fault = MissingClaim("geo", use="spool")
    assert outcome(hotels, fault, claim("geo-spool")) == []
    assert len(outcome(hotels, fault, claim("other"))) == 2


def test_applying_objects_with_their_own_content_changes_nothing(hotels: Copy[Environment]) -> None:
    again = f"{K} get services,deployments,configmaps,secrets,serviceaccounts,pvc -o yaml | {K} apply -f -"
    assert outcome(hotels, ScalePodZero("user"), f"{again} 2>/dev/null", f"{again} 2>/dev/null") == []


def test_a_second_deployment_with_a_switched_selector_is_no_repair(hotels: Copy[Environment]) -> None:
    second = f'{COPY} | .metadata.name = "user2" | .spec.replicas = 1'
    relabel = '(.. | select(.["io.kompose.service"]?)) |= (.["io.kompose.service"] = "user2")'
    found = outcome(
        hotels,
        ScalePodZero("user"),
        f"{K} get deploy user -o json | jq '{second} | {relabel}' | {K} create -f -",
        f"{K} patch service user -p '{SWITCH}'",
    )
    assert found == [
        "services/user was changed (spec.selector.io.kompose.service)",
        "deployments/user2 was added",
    ]


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (
            f"{K} scale deploy/mongodb-reservation --replicas=0",
            "cannot be read, because mongodb-reservation does not answer",
        ),
        (
            f"{K} exec deploy/mongodb-reservation -- mongo --quiet reservation-db --eval 'db.reservation.deleteMany({{}})'",
            "writes are gone, for example ",
        ),
    ],
)
def test_writes_that_cannot_be_read_are_not_called_lost(
    hotels: Copy[Environment], line: str, seen: str
) -> None:
    with hotels.branch() as copy:
        [why] = copy.call(audited, line, "sleep 5")
    assert seen in why


def audited(environment: Environment, *lines: str) -> list[str]:
    for line in lines:
        environment.operate(line)
    return [finding.why for finding in _check_writes(environment) if not finding.well]


def test_a_rejected_repair_says_what_was_seen(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        verdict = copy.call(
            rejected, f"{K} set image deploy/profile '*=nowhere/none:1'", f"{K} delete deploy rate"
        )
    assert "NOT profile runs: 0 of 1 pods are ready (" in verdict
    assert "NOT rate runs: 0 of 1 pods are ready, because it was deleted" in verdict
    cause = "what caused the incident is still there (deployments/user has spec.replicas: 1 -> 0)"
    assert f"NOT the root cause is gone: user: {cause}" in verdict


def rejected(environment: Environment, *lines: str) -> str:
    fault = ScalePodZero("user")
    environment.operate(
        f'{K} patch deploy profile -p \'{{"spec": {{"strategy": {{"type": "Recreate", "rollingUpdate": null}}}}}}\''
    )
    fault.inject(environment)
    for line in (*lines, "sleep 20"):
        environment.operate(line)
    return str(judge_repair(environment, [fault]))
