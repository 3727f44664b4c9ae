"""Jobs: against a recording of a real cluster, and what holds whatever pods do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.errors import Forbidden
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.verbs.writes import Write
from simcloud.kubernetes.controllers.job.backoff import Backoff
from simcloud.kubernetes.controllers.job.conditions import ending
from simcloud.kubernetes.controllers.job.indexes import Indexes
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World

__all__ = ["frozen_objects"]

RECORDED = {
    line["cmd"]: line["stdout"]
    for line in map(
        json.loads, (Path(__file__).parent / "recorded_jobs.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
LOOPS = ["job-controller", "cronjob-controller", "garbage-collector-controller"]


def job(name: str, **spec: Any) -> Object:
    containers = [{"name": "work", "image": "busybox:1.36"}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def recorded_events(name: str) -> list[str]:
    """Reasons and sentences of a description's events, without what is random."""
    table = RECORDED[f"kubectl describe {name} -n lab"].partition("Events:")[2].splitlines()[3:]
    rows = [re.split(r"\s{2,}", row.strip()) for row in table if row.strip()]
    return [_plain(f"{kind} {reason} {message}") for kind, reason, _age, _by, message in rows]


def seen_events(world: World, kind: str, name: str) -> list[str]:
    about = f" {kind}/{name}: "
    return [_plain(line.replace(about, " ")) for line in world.events() if about in line]


def _plain(text: str) -> str:
    return re.sub(r"tick-\d+", "tick-N", re.sub(r"(job)-[a-z0-9]{5}\b", r"\1-SUFFIX", text))


@pytest.fixture
def played() -> World:
    """The recorded jobs, their pods played as they went."""
    world = World(LOOPS)
    world.create([job("ok-job", completions=2), job("bad-job", backoffLimit=1)])
    world.create(job("slow-job", activeDeadlineSeconds=8))
    tick = {"schedule": "*/1 * * * *", "jobTemplate": {"spec": job("x")["spec"]}}
    world.create({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}, "spec": tick})
    for _ in range(40):
        world.kernel.run_for(2.0)
        for pod in world.named("pods/*"):
            if pod["status"]["phase"] == "Running" and "slow" not in pod["metadata"]["name"]:
                failed = "bad" in pod["metadata"]["name"]
                world.stand_in.tell(pod, "Failed" if failed else "Succeeded", False)
    return world


@pytest.mark.parametrize("name", ["ok-job", "bad-job", "slow-job"])
def test_the_events_of_a_job_are_the_recorded_ones(played: World, name: str) -> None:
    assert seen_events(played, "Job", name) == recorded_events(f"job {name}")


def test_the_events_of_a_cron_job_are_the_recorded_ones(played: World) -> None:
    assert seen_events(played, "CronJob", "tick") == recorded_events("cronjob tick")


def test_the_status_of_a_failed_job_is_the_recorded_one(played: World) -> None:
    recorded = yaml.safe_load(RECORDED["kubectl get job bad-job -n lab -o yaml"])
    (seen,) = played.named("jobs.batch/bad-job")
    assert _timeless(seen["status"]) == _timeless(recorded["status"])
    assert seen["metadata"]["labels"].keys() == recorded["metadata"]["labels"].keys()
    assert {**seen["spec"], "selector": 0, "template": 0} == {
        **recorded["spec"],
        "selector": 0,
        "template": 0,
    }


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "TIME" if key.endswith("Time") else _timeless(item) for key, item in value.items()}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def test_the_pause_after_failures_doubles_and_ends_at_ten_minutes() -> None:
    pauses = [Backoff(failures, 0.0).remaining_s(0.0) for failures in range(9)]
    assert pauses == [0, 10, 20, 40, 80, 160, 320, 600, 600]


def test_a_job_that_another_manages_is_left_alone() -> None:
    world = World(LOOPS)
    world.create(job("theirs", managedBy="example.com/other"))
    world.kernel.run_for(5.0)
    assert not world.named("pods/*")
    assert world.named("jobs.batch/theirs")[0]["status"] == {}


def test_a_deleted_job_frees_pods_that_are_kept_by_their_finalizer_only() -> None:
    world = World(LOOPS)
    world.create(job("gone", parallelism=3))
    world.kernel.run_for(3.0)
    world.delete({"name": "jobs.batch/gone", "propagation": "Background"})
    world.kernel.run_for(3.0)
    assert world.named("pods/*") == []


def test_pods_of_a_deleted_job_are_no_longer_tracked_even_before_they_are_collected() -> None:
    world = World(["job-controller"])
    world.create(job("gone"))
    world.kernel.run_for(3.0)
    world.delete({"name": "jobs.batch/gone", "propagation": "Background"})
    world.kernel.run_for(1.0)
    (pod,) = world.named("pods/*")
    assert "finalizers" not in pod["metadata"]


def test_a_pod_that_no_longer_matches_is_let_go_and_replaced() -> None:
    world = World(LOOPS)
    world.create(job("j"))
    world.kernel.run_for(3.0)
    (pod,) = world.named("pods/*")
    world.client.edit(pod, lambda one: one["metadata"].update(labels={"app": "mine"}))
    world.kernel.run_for(5.0)
    left, (other,) = world.client.refresh(pod), world.named("pods/j-*")[:1]
    assert left is not None
    assert left["metadata"].get("ownerReferences") in (None, [])
    assert "finalizers" not in left["metadata"]
    assert len(world.named("pods/*")) == 2
    assert other["status"]["phase"] == "Running"


def test_a_matching_pod_without_an_owner_is_taken_in_and_counted() -> None:
    world = World(LOOPS)
    labels = {"work": "mine"}
    spec = job("j")["spec"]
    spec["template"]["metadata"] = {"labels": labels}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "early", "labels": labels}}
    world.create({**pod, "spec": spec["template"]["spec"]})
    world.create(job("j", manualSelector=True, selector={"matchLabels": labels}, template=spec["template"]))
    world.kernel.run_for(3.0)
    (early,) = world.named("pods/*")
    assert early["metadata"]["ownerReferences"][0]["name"] == "j"
    world.stand_in.tell(early, "Succeeded", False)
    world.kernel.run_for(3.0)
    (ended,) = world.named("jobs.batch/j")
    assert (ending(ended), ended["status"]["succeeded"]) == ("Complete", 1)


class Refusal:
    """Admission that lets no pod in, for a while."""

    until_s = 5.0

    def admit(self, write: Write) -> None:
        if write.key.plural == "pods" and write.operation == "CREATE" and write.api.kernel.now < self.until_s:
            raise Forbidden(write.resource, "j-", "exceeded quota: small")

    def check(self, write: Write) -> None:
        """Nothing more."""


def test_refused_pods_are_told_and_tried_again() -> None:
    world = World(LOOPS)
    world.api.admission.append(Refusal())
    world.create(job("j", parallelism=4, completions=4))
    world.kernel.run_for(4.0)
    told = 'Warning FailedCreate Job/j: Error creating: pods "j-" is forbidden: exceeded quota: small'
    # One pod is tried first; after a second, then after two more.
    assert world.events() == [f"{told} (x3)"]
    assert world.named("jobs.batch/j")[0]["status"].get("active") is None
    world.kernel.run_for(10.0)
    assert world.named("jobs.batch/j")[0]["status"]["active"] == 4


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)), st.integers(0, 8))
def test_indexes_are_a_set_and_their_text_reads_back(some: set[int], more: set[int], count: int) -> None:
    indexes = Indexes().plus(some).plus(more)
    assert [one for one in range(31) if one in indexes] == sorted(some | more)
    assert len(indexes) == len(some | more)
    assert str(Indexes.parse(str(indexes), 31)) == str(indexes)
    assert indexes.free(count, 20) == [one for one in range(20) if one not in some | more][:count]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    parallelism=st.integers(1, 4),
    completions=st.integers(1, 6),
    limit=st.integers(0, 3),
    indexed=st.booleans(),
    fates=st.lists(st.sampled_from(["Succeeded", "Failed", "deleted", "stays"]), min_size=1, max_size=12),
)
def test_a_job_keeps_its_limits_and_ends_with_the_right_counts(
    parallelism: int, completions: int, limit: int, indexed: bool, fates: list[str]
) -> None:
    world = World(LOOPS)
    mode = "Indexed" if indexed else "NonIndexed"
    spec = {"parallelism": parallelism, "completions": completions, "backoffLimit": limit}
    world.create(job("j", completionMode=mode, **spec))
    lived: dict[str, str] = {}
    turn = 0
    for _ in range(120):
        world.kernel.run_for(10.0)
        pods = world.named("pods/*")
        running = [pod for pod in pods if pod["status"]["phase"] in ("Pending", "Running")]
        assert len(running) <= parallelism
        for pod in running:
            fate = fates[turn % len(fates)] if turn < len(fates) else "Succeeded"
            turn += 1
            if fate == "stays":
                continue
            lived[pod["metadata"]["uid"]] = fate
            if fate == "deleted":
                world.client.delete(pod)
            else:
                world.stand_in.tell(pod, fate, False)
        if ending(world.named("jobs.batch/j")[0]):
            break
    world.kernel.run_for(10.0)
    (ended,) = world.named("jobs.batch/j")
    status = ended["status"]
    succeeded = list(lived.values()).count("Succeeded")
    failed = len(lived) - succeeded
    assert ending(ended) == ("Failed" if failed > limit else "Complete")
    assert status.get("succeeded", 0) == succeeded
    if ending(ended) == "Complete":
        assert (succeeded, status.get("failed", 0)) == (completions, failed)
    else:
        assert limit < failed <= status["failed"]
    assert not any(pod["metadata"].get("finalizers") for pod in world.named("pods/*"))
