"""What the answers to a problem are worth, under the keys that people know."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.base import GroundTruth
from aiopslab.generators.fault.revoke_auth import RevokeAuth
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.tasks import AnalysisTask, DetectionTask, LocalizationTask
from aiopslab.orchestrator.tasks.base import NoAnswer

APP = HotelReservation()
GEO = RevokeAuth("mongodb-geo")


@pytest.mark.parametrize(
    ("faults", "answer", "told"),
    [
        ((GEO,), "Yes", "Correct"),
        ((GEO,), "No", "Incorrect"),
        ((), "No", "Correct"),
        ((), "Yes", "Incorrect"),
        ((GEO,), None, "Invalid Format"),
    ],
)
def test_detection(faults: tuple[RevokeAuth, ...], answer: str | None, told: str) -> None:
    results = DetectionTask(APP, faults).eval(answer, [], 42.0)
    expected = "Yes" if faults else "No"
    assert results == {
        "Detection Accuracy": told, "TTD": 42.0, "success": told == "Correct", "expected": expected
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "accuracy", "success", "contains", "at_1", "at_3"),
    [
        (["mongodb-geo"], 100.0, True, True, 100.0, 100.0),
        (["geo"], 100.0, True, True, 100.0, 100.0),
        (["geo", "mongodb-geo"], 100.0, True, True, 100.0, 100.0),
        (["search", "geo"], 50.0, False, True, 0.0, 100.0),
        (["a", "b", "c", "geo"], 25.0, False, True, 0.0, 0.0),
        (["search"], 0.0, False, False, 0.0, 0.0),
        ([], 0.0, False, False, 0.0, 0.0),
        (None, 0.0, False, False, 0.0, 0.0),
    ],
)
def test_localization(
    answer: list[str] | None, accuracy: float, success: bool, contains: bool, at_1: float, at_3: float
) -> None:
    results = LocalizationTask(APP, (GEO,)).eval(answer, [], 7.0)
    assert results == {
        "Localization Accuracy": accuracy, "success": success, "is_subset": contains, "accuracy@1": at_1,
        "accuracy@3": at_3, "TTL": 7.0, "expected": ["mongodb-geo"],
    }  # fmt: skip


def test_localization_of_two_faults_wants_both() -> None:
    task = LocalizationTask(APP, (GEO, ScalePodZero("user")))
    assert task.get_expected() == ["mongodb-geo", "user"]
    half = task.eval(["user"], [], 1.0)
    assert (half["success"], half["is_subset"], half["accuracy@1"], half["accuracy@3"]) == (
        False,
        False,
        100.0,
        50.0,
    )
    assert task.eval(["user", "geo"], [], 1.0)["success"]


def test_localization_where_nothing_is_wrong_wants_an_empty_list() -> None:
    task = LocalizationTask(APP)
    assert task.eval([], [], 1.0)["success"]
    wrong = task.eval(["geo"], [], 1.0)
    assert (wrong["success"], wrong["Localization Accuracy"], wrong["accuracy@1"]) == (False, 0.0, 0.0)


def test_analysis() -> None:
    task = AnalysisTask(APP, (GEO,))
    right = {"system_level": "Application", "fault_type": "Authentication Issue"}
    assert task.eval(right, [], 9.0) == {
        "system_level_correct": True, "fault_type_correct": True, "success": True, "TTA": 9.0, "expected": right
    }  # fmt: skip
    half = task.eval(right | {"fault_type": "Code Defect"}, [], 9.0)
    assert (half["system_level_correct"], half["fault_type_correct"], half["success"]) == (True, False, False)
    assert not task.eval(None, [], 9.0)["success"]


@dataclass(frozen=True)
class Ambiguous(ScalePodZero):
    @property
    def truth(self) -> GroundTruth:
        return GroundTruth("x", "Application", "Code Defect", also_fault_types=("Misconfiguration",))


def test_analysis_takes_every_right_fault_type() -> None:
    task = AnalysisTask(APP, (Ambiguous("x"),))
    for kind, right in (("Code Defect", True), ("Misconfiguration", True), ("Operation Error", False)):
        assert task.eval({"system_level": "Application", "fault_type": kind}, [], 1.0)["success"] is right


def test_analysis_of_two_faults_takes_either_root_cause_and_no_mixture() -> None:
    task = AnalysisTask(APP, (GEO, ScalePodZero("user")))
    one = {"system_level": "Application", "fault_type": "Authentication Issue"}
    other = {"system_level": "Virtualization", "fault_type": "Operation Error"}
    assert task.get_expected() == one
    assert [task.eval(answer, [], 1.0)["success"] for answer in (one, other)] == [True, True]
    mixed = task.eval({**other, "fault_type": "Authentication Issue"}, [], 1.0)
    assert not mixed["success"]
    assert mixed["system_level_correct"] != mixed["fault_type_correct"]


def test_an_answer_that_the_author_gave_comes_before_the_faults() -> None:
    class Mine(LocalizationTask):
        def __init__(self) -> None:
            self.app = APP
            self.ans = "user"

    assert Mine().get_expected() == ["user"]
    assert Mine().eval(["user"], [], 1.0)["success"]


def test_a_problem_that_breaks_something_by_itself_expects_yes() -> None:
    class Mine(DetectionTask):
        def __init__(self) -> None:
            self.app = APP

        def inject_fault(self) -> None:
            raise AssertionError("not called here")

    assert Mine().get_expected() == "Yes"


def test_an_author_who_gives_no_answer_is_told_so() -> None:
    class Mine(LocalizationTask):
        def __init__(self) -> None:
            self.app = APP

        def inject_fault(self) -> None:
            raise AssertionError("not called here")

    with pytest.raises(
        NoAnswer, match=r"Problem 'Mine' injects its own fault .* Set self\.ans in its __init__\."
    ):
        Mine().get_expected()
