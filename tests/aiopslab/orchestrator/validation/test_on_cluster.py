"""What counts as visible on a cluster, where other teams' changes cannot be left out."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.validation.evidence import Symptoms
from aiopslab.orchestrator.validation.on_cluster import check_visibility

WELL = Symptoms({"search": 0.0}, {"search": 0.02}, (), (), (), 0)
NOISE = Symptoms({"search": 0.0}, {"search": 0.02}, (), (), ("deployments/rate",), 0)
FAILING = Symptoms({"search": 1.0}, {"search": 0.02}, (), (), ("deployments/geo",), 0)


@pytest.mark.parametrize(
    ("after", "breaks", "passed"),
    [(NOISE, False, True), (FAILING, False, False), (FAILING, True, True), (WELL, True, False)],
)
def test_innocent_changes_are_no_symptoms(after: Symptoms, breaks: bool, passed: bool) -> None:
    (finding,) = check_visibility(after, WELL, breaks)
    assert finding.well is passed
