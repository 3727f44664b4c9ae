"""A diagnosis in plain words is recognized, and one that says too little is not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aiopslab import Orchestrator
from aiopslab.agents.engineer import Engineer
from aiopslab.orchestrator.models import ScriptedModel
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.tasks import IncidentTask
from aiopslab.orchestrator.tasks.incident import build_checklist
from aiopslab.utils import InvalidSubmissionError

REGISTRY = ProblemRegistry()
RIGHT = {
    "assign_to_non_existent_node_social_net-incident-1":
        "user-service cannot be scheduled: its nodeSelector names extra-node, which does not exist, so the pod stays pending.",
    "auth_miss_mongodb-incident-1":
        "url-shorten-mongodb was configured to require TLS, and its client has no certificate, so connections are closed.",
    "container_kill-incident": "The liveness probe of geo points at the wrong port 8080, so the container is killed repeatedly.",
    "k8s_target_port-misconfig-incident-2": "The Service text-service has targetPort 9999, a wrong value: nothing listens there.",
    "misconfig_app_hotel_res-incident-1":
        "geo runs a release that was built with a wrong database address; it panics when it connects.",
    "network_loss_hotel_res-incident-1":
        "An iptables rule on the node drops most packets to the pods of user, so the network loses them.",
    "pod_kill_hotel_res-incident-1":
        "The ephemeral-storage limit of the user Deployment is wrong (a unit is missing), so its pods are evicted all the time.",
    "redeploy_without_PV-incident-1":
        "After the namespace was deleted and redeployed, the volumes are Released and still bound to old claims: mongodb-geo "
        "and the other databases stay pending.",
    "revoke_auth_mongodb-incident-2": "In mongodb-rate the role of the application's user was revoked: not authorized.",
    "scale_pod_zero_social_net-incident-1": "Someone scaled user-service to zero replicas by hand, so it has no endpoints.",
    "user_unregistered_mongodb-incident-1":
        "The database user that geo needs was dropped from mongodb-geo, so it cannot authenticate.",
    "wrong_bin_usage-incident-1": "profile runs the wrong program: its command starts the geo binary of the image.",
}  # fmt: skip


def get_incident(pid: str) -> IncidentTask:
    task = REGISTRY.get_problem_instance(pid)
    assert isinstance(task, IncidentTask)
    return task


@pytest.mark.parametrize("pid", RIGHT)
def test_a_diagnosis_in_plain_words_is_right(pid: str) -> None:
    assert get_incident(pid).check_diagnosis(RIGHT[pid]) == []


@pytest.mark.parametrize("pid", RIGHT)
def test_the_diagnosis_of_another_incident_is_wrong(pid: str) -> None:
    task = get_incident(pid)
    others = [text for other, text in RIGHT.items() if other != pid]
    vague = (
        f"Users report errors. Something is wrong with {task.faults[0].truth.component}; the service fails."
    )
    assert all(task.check_diagnosis(text) for text in (*others, vague, ""))


def test_who_quotes_the_wrong_value_has_seen_it() -> None:
    (fault,) = get_incident("k8s_target_port-misconfig-incident-2").faults
    (*_, plain), (*_, quoted) = (
        build_checklist(fault, changed=words) for words in ((), ("8443", "spec", "text-service"))
    )
    assert not plain.is_met("the port 8443")
    assert quoted.is_met("the port 8443")
    assert not build_checklist(fault, ("text-service",), changed=("spec", "text-service"))[-1].is_met(
        "spec of text-service"
    )
    listed = build_checklist(fault, ("media-service",), changed=("media", "video"))[-1]
    assert "video" in listed.phrases
    assert "media" not in listed.phrases


def test_names_are_whole_words() -> None:
    task = get_incident("pod_kill_hotel_res-incident-1")
    text = RIGHT["pod_kill_hotel_res-incident-1"].replace(
        "the user Deployment", "a Deployment of users in mongodb-user"
    )
    assert [lacking.partition(":")[0] for lacking in task.check_diagnosis(text)] == ["where it is"]


def test_a_wrong_form_is_answered() -> None:
    task = get_incident("pod_kill_hotel_res-incident-1")
    assert task.take_submission(("because", "user"), {}) == {"diagnosis": "because", "components": ["user"]}
    for arguments in (("because",), (["user"], ["user"]), ("because", 3)):
        with pytest.raises(InvalidSubmissionError):
            task.take_submission(arguments, {})


def test_an_engineer_is_paged_repairs_and_explains(tmp_path: Path) -> None:
    replies = [
        '{"correct": false, "why": "It does not say enough."}',
        '{"score": 6, "reasoning_supports_answer": true, "right_for_wrong_reasons": false, "judgement": "Fair."}',
    ]
    orchestrator = Orchestrator(tmp_path, 2, judge=ScriptedModel(replies))
    description, _, _ = orchestrator.init_problem("k8s_target_port-misconfig-incident-1")
    assert "The open tickets:\n\n- Users report that" in description
    orchestrator.register_agent(Engineer(), "engineer", introduce=True)
    results = asyncio.run(orchestrator.start_problem(20))["results"]
    assert results["repaired"] and results["components_correct"]
    assert results["diagnosis_lacks"] == [], "the checklist finds the diagnosis right"
    assert (results["diagnosis_correct"], results["success"]) == (False, False), "the model decides"
    assert results["diagnosis_judge"]["why"] == "It does not say enough."
