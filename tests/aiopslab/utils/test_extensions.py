"""Installed packages contribute faults, applications, actions, oracles and metrics through entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aiopslab.apps import NoSuchApplication, find_application, load_applications
from aiopslab.generators.fault.base import REGISTERED, load_faults
from aiopslab.utils.extensions import NoSuchExtension, find_extension, load_extensions

MODULE = """
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault import fault
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.actions import TaskActions


@fault
class ScaledAway(ScalePodZero):
    name = "scaled_away"


class Motel(HotelReservation):
    name = "motel"


class OnCall(TaskActions):
    pass


def judge(environment, faults):
    pass


def count_steps(task, session):
    return {"own_steps": len(session.steps)}
"""
POINTS = """
[aiopslab.faults]
ours = package_of_extensions

[aiopslab.apps]
motel = package_of_extensions:Motel

[aiopslab.actions]
on-call = package_of_extensions:OnCall

[aiopslab.oracles]
mild = package_of_extensions:judge

[aiopslab.metrics]
steps = package_of_extensions:count_steps
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package as pip leaves it behind."""
    info = tmp_path / "package_of_extensions-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: package-of-extensions\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (tmp_path / "package_of_extensions.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "package_of_extensions", raising=False)
    monkeypatch.setattr("aiopslab.generators.fault.base.REGISTERED", dict(REGISTERED))


def test_the_applications_of_this_package_are_found_without_a_list() -> None:
    assert {"hotel-reservation", "social-network"} <= set(load_applications())


@pytest.mark.usefixtures("package")
def test_an_installed_package_contributes_to_every_registry() -> None:
    assert "scaled_away" in load_faults()
    assert find_application("motel").name == "motel"
    assert find_extension("aiopslab.actions", "on-call").__name__ == "OnCall"
    assert find_extension("aiopslab.oracles", "mild").__name__ == "judge"
    assert [name for name, _ in load_extensions("aiopslab.metrics")] == ["steps"]


@pytest.mark.usefixtures("package")
def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(NoSuchApplication, match="Choose one of: hotel-reservation, motel, social-network"):
        find_application("hostel")
    with pytest.raises(NoSuchExtension, match=r"has 'strict' in aiopslab\.oracles\. Installed: mild"):
        find_extension("aiopslab.oracles", "strict")
