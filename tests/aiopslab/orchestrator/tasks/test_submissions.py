"""What agents may submit, what is made of it, and what they are told when it cannot be taken."""

from __future__ import annotations

from typing import Any

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.generators.fault.revoke_auth import RevokeAuth
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask, MitigationTask, Task
from aiopslab.utils.status import InvalidSubmissionError


def hotels(kind: type[Task]) -> Task:
    return kind(HotelReservation(), (RevokeAuth("mongodb-geo"),))


def taken(kind: type[Task], *args: Any, **kwargs: Any) -> Any:
    return hotels(kind).take_submission(args, kwargs)


@pytest.mark.parametrize(
    ("given", "means"),
    [
        ("Yes", "Yes"),
        ("yes", "Yes"),
        (" YES. ", "Yes"),
        ("No", "No"),
        ("no", "No"),
        (True, "Yes"),
        (False, "No"),
        ("True", "Yes"),
        ("false", "No"),
    ],
)
def test_detection_takes_yes_and_no_however_they_are_written(given: object, means: str) -> None:
    assert taken(DetectionTask, given) == means
    assert taken(DetectionTask, has_anomaly=given) == means


@pytest.mark.parametrize("given", ["maybe", "", 1, None, ["Yes"], {"has_anomaly": "Yes"}, "Yes and no"])
def test_detection_says_what_it_expects(given: object) -> None:
    with pytest.raises(InvalidSubmissionError, match=r'submit\("Yes"\) or submit\("No"\)'):
        taken(DetectionTask, given)


@pytest.mark.parametrize(
    ("given", "means"),
    [
        (["geo", "rate"], ["geo", "rate"]),
        ([], []),
        (("geo",), ["geo"]),
        ("geo", ["geo"]),
        (["mongodb-geo-6c9d7f8b5-x2k4q", "mongodb-geo"], ["mongodb-geo"]),
        (["deployment/geo", "pod/rate-7c9d7f8b5-x2k4q", "svc/user"], ["geo", "rate", "user"]),
        (["geo.test-hotel-reservation.svc.cluster.local"], ["geo"]),
        (["test-hotel-reservation/geo", "`search`"], ["geo", "search"]),
        (["Geo", "RATE", "'user'", ' "search" '], ["geo", "rate", "user", "search"]),
        (["deployments.apps/geo", "Deployment.apps/rate"], ["geo", "rate"]),
        (["rs/geo-6c9d7f8b5", "replicaset.apps/rate-6c9d7f8b5"], ["geo", "rate"]),
        (["test-hotel-reservation/pod/geo-6c9d7f8b5-x2k4q"], ["geo"]),
        (["pods/test-hotel-reservation/geo-6c9d7f8b5-x2k4q"], ["geo"]),
        (
            ["geo:8083", "http://rate:8084/metrics", "mongodb://root:root@mongodb-geo:27017/admin"],
            ["geo", "rate", "mongodb-geo"],
        ),
        (["geo.test-hotel-reservation", "svc/rate.test-hotel-reservation.svc:8084"], ["geo", "rate"]),
        (["endpoints/geo", "configmap/mongodb-geo"], ["geo", "mongodb-geo"]),
        (["node/kind-worker", "kind-worker2"], ["kind-worker", "kind-worker2"]),
        (
            ["default/geo", "geo.default", "geo.test-hotel-reservation-2"],
            ["default/geo", "geo.default", "geo.test-hotel-reservation-2"],
        ),
        (
            ["geo-service", "hotel-reserv-geo", "geo-", "-geo", "", "/", "geo/"],
            ["geo-service", "hotel-reserv-geo", "geo-", "-geo", "", "/", "geo/"],
        ),
        (["kind-worker", "user-mongodb"], ["kind-worker", "user-mongodb"]),
    ],
)
def test_localization_takes_names_and_finds_the_component_that_is_meant(given: Any, means: list[str]) -> None:
    assert taken(LocalizationTask, given) == means
    assert taken(LocalizationTask, faulty_components=given) == means


def test_a_component_whose_name_begins_like_another_is_not_mistaken_for_it() -> None:
    task = LocalizationTask(SocialNetwork())
    assert task.submit(["user-service-7d4b9c6f5d-bcdfg"]) == ["user-service"]
    assert task.submit(["user-timeline-service", "user-mongodb"]) == ["user-timeline-service", "user-mongodb"]


@pytest.mark.parametrize("given", [None, 7, {"geo": 1}, [1], [["geo"]], ["geo"] * 101])
def test_localization_says_what_it_expects(given: object) -> None:
    with pytest.raises(
        InvalidSubmissionError, match=r"The answer m(ust be a list of names|ay have at most 100)"
    ):
        taken(LocalizationTask, given)


def test_analysis_takes_labels_whatever_their_case() -> None:
    means = {"system_level": "Operating System", "fault_type": "Network/Storage Issue"}
    given = {"system_level": "operating system ", "fault_type": "NETWORK/STORAGE ISSUE", "why": "so"}
    assert taken(AnalysisTask, given) == means
    assert taken(AnalysisTask, analysis=means) == means


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("Application", "must be a dictionary with two labels"),
        ({"system_level": "Application"}, '"fault_type" must be one of "Misconfiguration", '),
        (
            {"system_level": "Kernel", "fault_type": "Code Defect"},
            '"system_level" must be one of "Hardware", ',
        ),
        ({"system_level": 3, "fault_type": "Code Defect"}, '"system_level" must be one of'),
    ],
)
def test_analysis_says_which_labels_there_are(given: object, told: str) -> None:
    with pytest.raises(InvalidSubmissionError, match=told):
        taken(AnalysisTask, given)


def test_mitigation_takes_no_answer_and_minds_no_remark() -> None:
    assert taken(MitigationTask) is True
    assert taken(MitigationTask, "all is well again") is True


@pytest.mark.parametrize("kind", [DetectionTask, LocalizationTask, AnalysisTask])
def test_wrong_arguments_are_answered_with_an_example(kind: type[Task]) -> None:
    for args, kwargs in (((), {}), (("a", "b"), {}), ((), {"answer": "Yes"})):
        with pytest.raises(InvalidSubmissionError, match=r"Call it as submit\("):
            hotels(kind).take_submission(args, kwargs)


@pytest.mark.parametrize("kind", [DetectionTask, LocalizationTask, AnalysisTask, MitigationTask])
def test_the_documentation_of_submit_has_an_example_that_is_taken(kind: type[Task]) -> None:
    task = hotels(kind)
    documented = getattr(kind, "submit").__doc__  # noqa: B009 (each task has its own)
    assert task.example in documented
    assert eval(task.example, {"submit": lambda *args: task.take_submission(args, {})}) is not None
