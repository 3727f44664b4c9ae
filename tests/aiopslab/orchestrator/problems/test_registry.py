"""Problems are found: ours, those of installed packages, those of a user's own file; and what is wrong with them is said."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from aiopslab.apps import NoOtherNames
from aiopslab.orchestrator.problems import (
    CannotLoad,
    ProblemRegistry,
    UnknownProblem,
    parse_id,
    replace_noise,
    use_other_names,
)

OWN = """
    from aiopslab import Family, HotelReservation, LocalizationTask
    from aiopslab.generators.fault.scale_pod_zero import ScalePodZero

    class Mine(LocalizationTask):
        id = "mine-localization-1"

        def __init__(self):
            self.app = HotelReservation()
            self.ans = "geo"

    FAMILY = Family("my_family", HotelReservation, (ScalePodZero("geo"), ScalePodZero("user")))
"""


def written(folder: Path, text: str, name: str = "own.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_a_file_brings_its_classes_and_families(tmp_path: Path) -> None:
    registry = ProblemRegistry()
    ids = registry.load(written(tmp_path, OWN))
    assert ids == ["mine-localization-1"] + [
        f"my_family-{task}-{n}"
        for task in ("detection", "localization", "analysis", "mitigation", "incident")
        for n in (1, 2)
    ]
    assert registry.get_problem_instance("mine-localization-1").get_expected() == ["geo"]
    assert registry.get_problem_instance("my_family-localization-2").get_expected() == ["user"]
    assert "mine-localization-1" in registry.get_problem_ids("localization")
    assert registry.loaded == [tmp_path / "own.py"]


def test_what_a_registry_has_loaded_is_its_own(tmp_path: Path) -> None:
    ProblemRegistry().load(written(tmp_path, OWN))
    assert "mine-localization-1" not in ProblemRegistry().get_problem_ids()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def broken(:\\n", r"line 1: invalid syntax"),
        ("import nonexistent_module", r"ModuleNotFoundError: No module named 'nonexistent_module'"),
        ("1 / 0", r"ZeroDivisionError: division by zero"),
        ("x = 1", r"has no problems\. Define a class that extends one of the tasks and has an id"),
        (
            "from aiopslab import DetectionTask\nclass A(DetectionTask):\n    id = 'scale_pod_zero_social_net-detection-1'",
            r"cannot be loaded: a problem 'scale_pod_zero_social_net-detection-1' exists already\. Choose another id\.",
        ),
        (
            OWN.replace('"user"', '"usr"'),
            r"has a fault at 'usr', which hotel-reservation does not have\. Did you mean 'user'\?",
        ),
    ],
)
def test_a_broken_file_is_answered_with_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    registry = ProblemRegistry()
    before = registry.get_problem_ids()
    with pytest.raises(CannotLoad, match=told):
        registry.load(written(tmp_path, text))
    assert registry.get_problem_ids() == before


def test_classes_that_are_no_problems_yet_are_said(tmp_path: Path) -> None:
    text = "from aiopslab.orchestrator.tasks import Task\nclass A(Task):\n    id = 'a'\n    task_type = 'detection'"
    with pytest.raises(CannotLoad, match=r"class A lacks eval, get_expected\. Extend DetectionTask, "):
        ProblemRegistry().load(written(tmp_path, text))
    with pytest.raises(CannotLoad, match=r"its name must end in \.py"):
        ProblemRegistry().load(written(tmp_path, text, "own.txt"))


def test_a_missing_file_is_said() -> None:
    with pytest.raises(CannotLoad, match=r"There is no file 'nowhere\.py' to load problems from\."):
        ProblemRegistry().load("nowhere.py")


def test_an_unknown_problem_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownProblem, match=r"Did you mean .*scale_pod_zero_social_net-mitigation-1.*\?"):
        ProblemRegistry().get_problem_instance("scale_pod_zero_social_net-mitigaton-1")
    with pytest.raises(UnknownProblem, match="List all problems with: aiopslab list"):
        ProblemRegistry().get_problem_instance("qqqq")


def test_ids_are_found_by_a_part_of_them() -> None:
    found = ProblemRegistry().get_problem_ids("scale_pod_zero_social_net-d")
    assert found == ["scale_pod_zero_social_net-detection-1"]
    assert ProblemRegistry().get_problem_ids("qqqq") == []


def install(folder: Path, name: str, points: str) -> None:
    """As pip leaves an installed package behind."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[aiopslab.problems]\n{points}\n")


def test_installed_packages_bring_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, OWN, "package_with_problems.py")
    install(tmp_path, "package-with-problems", "own = package_with_problems")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    registry = ProblemRegistry()
    assert registry.get_problem_instance("mine-localization-1").get_expected() == ["geo"]
    assert "my_family-mitigation-2" in registry.get_problem_ids()


def test_one_family_may_be_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, OWN, "package_with_a_family.py")
    install(tmp_path, "package-with-a-family", "own = package_with_a_family:FAMILY")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    ids = ProblemRegistry().get_problem_ids()
    assert "my_family-detection-1" in ids
    assert "mine-localization-1" not in ids


def test_a_broken_package_is_told_and_keeps_nobody_from_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "raise RuntimeError('not today')", "broken_package.py")
    install(tmp_path, "broken-package", "own = broken_package")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.warns(
        UserWarning,
        match=r"'own' of broken_package cannot be used in aiopslab\.problems: RuntimeError: not today",
    ):
        ids = ProblemRegistry().get_problem_ids()
    assert "scale_pod_zero_social_net-detection-1" in ids


def test_a_problem_is_found_without_the_faults_of_others() -> None:
    script = """
import sys
from aiopslab.orchestrator.problems import ProblemRegistry

print(ProblemRegistry().get_problem_instance("full_volume_hotel_res-mitigation@3").faults)
print("aiopslab.generators.fault.wrong_image" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    faults, has_others = done.stdout.splitlines()
    registry = ProblemRegistry()
    assert len(registry.get_problem_ids()) > 1000
    assert faults == str(registry.get_problem_instance("full_volume_hotel_res-mitigation@3").faults)
    assert has_others == "False"


@pytest.mark.parametrize(
    "pid", ["misconfig_app_hotel_res-localization-1", "redeploy_without_PV-localization-1"]
)
def test_a_problem_with_other_names_has_the_same_fault_elsewhere(pid: str) -> None:
    registry = ProblemRegistry()
    usual, renamed = (registry.get_problem_instance(name) for name in (pid, f"{pid}+names"))
    assert renamed.id == f"{pid}+names"
    assert renamed.get_expected() == list(map(renamed.app.names.rename, usual.get_expected()))
    assert set(renamed.get_expected()).isdisjoint(usual.get_expected())
    assert renamed.faults[0].concerned == tuple(
        (kind, renamed.app.names.rename(name)) for kind, name in usual.faults[0].concerned
    )


@pytest.mark.parametrize(
    "family", ["wrong_image_hotel_res", "wrong_config_map_social_net", "concurrent_faults_hotel_res"]
)
def test_a_drawn_problem_with_other_names_is_drawn_alike(family: str) -> None:
    registry = ProblemRegistry()
    for seed in range(5):
        usual = registry.get_problem_instance(f"{family}-localization+heavy@{seed}")
        renamed = registry.get_problem_instance(f"{family}-localization+heavy+names@{seed}")
        rename = renamed.app.names.rename
        assert renamed.get_expected() == list(map(rename, usual.get_expected()))
        changes, others = (
            [line for change in (*task.noise.before, *task.noise.after) for line in change.lines]
            for task in (usual, renamed)
        )
        assert changes != others == [rename(line).replace("quote-card", "rate-card") for line in changes]


def test_a_problem_with_a_class_of_its_own_has_no_other_names(tmp_path: Path) -> None:
    registry = ProblemRegistry()
    registry.load(written(tmp_path, OWN))
    assert registry.get_problem_instance("my_family-localization-1+names").app.names.words
    with pytest.raises(
        NoOtherNames, match=r"'mine-localization-1', which has its own class\. Leave out \+names"
    ):
        registry.get_problem_instance("mine-localization-1+names")


def test_the_parts_of_an_id_can_be_put_together_again() -> None:
    for pid in ("a", "a+heavy", "a+names", "a@3", "a+names@3", "a+none+names@3"):
        assert str(parse_id(pid)) == pid
        assert str(parse_id(use_other_names(pid))) == use_other_names(pid)
    assert use_other_names("a+heavy@3") == use_other_names("a+heavy+names@3") == "a+heavy+names@3"
    assert replace_noise("a+names@3", "none") == "a+none+names@3"
