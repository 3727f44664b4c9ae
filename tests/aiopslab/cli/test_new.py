"""``aiopslab new`` writes files that work as they stand: alone, in a package of one's own, and in this repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src"
WRITTEN = {
    "fault": ["slow_tea.py", "test_slow_tea.py"],
    "problem": ["slow_tea.py", "test_slow_tea.py"],
    "agent": ["slow_tea.py", "test_slow_tea.py"],
    "app": [
        "slow_tea/__init__.py",
        "slow_tea/application.py",
        "slow_tea/manifests/slow-tea.yaml",
        "test_slow_tea.py",
    ],
}
POINTS = {
    "fault": '  [project.entry-points."aiopslab.faults"]\n  slow_tea = "slow_tea:SlowTea"\n',
    "problem": '  [project.entry-points."aiopslab.problems"]\n  slow_tea = "slow_tea"\n',
    "agent": '  [project.entry-points."aiopslab.agents"]\n  slow-tea = "slow_tea:SlowTea"\n',
    "app": '  [project.entry-points."aiopslab.apps"]\n  slow-tea = "slow_tea:SlowTea"\n',
}


def python(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{folder}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def aiopslab(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-c", "from aiopslab.cli import main; main()", *args)


def list_files(folder: Path) -> list[str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return sorted(str(path.relative_to(folder)) for path in paths)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("fault", "slow-tea"), ("problem", "slow_tea"), ("agent", "slow-tea"), ("app", "slow_tea")],
)
def test_the_files_are_written_and_the_next_steps_are_printed(tmp_path: Path, kind: str, name: str) -> None:
    done = aiopslab(tmp_path, "new", kind, name)
    assert (done.returncode, done.stderr) == (0, "")
    assert list_files(tmp_path) == WRITTEN[kind]
    first, second, *_ = done.stdout.splitlines()
    assert first == f"Wrote {', '.join(WRITTEN[kind])}."
    assert second == "Test it:  python -m pytest test_slow_tea.py"
    assert done.stdout.endswith(POINTS[kind])
    texts = [(tmp_path / path).read_text() for path in WRITTEN[kind]]
    assert not [text for text in texts if f"example_{kind}" in text.lower() or "templates" in text]
    lint = python(tmp_path, "-m", "ruff", "check", "--isolated", "--line-length=110", "--select=E,F,I")
    assert lint.returncode == 0, lint.stdout


@pytest.mark.slow
def test_the_tests_pass_in_an_otherwise_empty_folder(tmp_path: Path) -> None:
    """Each test uses what was written: users notice the fault, a session of the problem or the agent, the app's baseline."""
    for kind in WRITTEN:
        aiopslab(tmp_path, "new", kind, f"slow-{kind}")
    done = python(tmp_path, "-m", "pytest", "-q", *(f"test_slow_{kind}.py" for kind in WRITTEN))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


@pytest.mark.slow
def test_an_installed_package_has_what_its_entry_points_name(tmp_path: Path) -> None:
    (tmp_path / "tea_house").mkdir()
    (tmp_path / "tea_house" / "__init__.py").touch()
    points = []
    for kind in WRITTEN:
        done = aiopslab(tmp_path, "new", kind, f"cold-{kind}", "--out", "tea_house", "--tests", "tests")
        points += [line.strip() for line in done.stdout.splitlines()[-2:]]
    assert list_files(tmp_path / "tests") == [f"test_cold_{kind}.py" for kind in sorted(WRITTEN)]
    info = tmp_path / "tea_house-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tea-house\nVersion: 1.0\n")
    lines = [line.replace('project.entry-points."', "").replace('"', "") for line in points]
    (info / "entry_points.txt").write_text("\n".join(lines))
    assert "\ncold_problem-mitigation-2  " in aiopslab(tmp_path, "list").stdout
    assert "\ncold-agent " in aiopslab(tmp_path, "list", "--agents").stdout
    faults = python(
        tmp_path, "-c", "from aiopslab.generators.fault import load_faults; print(*load_faults())"
    )
    assert "cold_fault" in faults.stdout.split()
    line = "kubectl get deployments -A --no-headers | grep 2/2 | grep cold-app"
    assert aiopslab(tmp_path, "shell", "--app", "cold-app", "-c", line).stdout.startswith("cold-app ")


def test_in_this_repository_there_is_nothing_to_register(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "aiopslab" / "generators" / "fault"
    folder.mkdir(parents=True)
    for package in (folder, *folder.parents[:2]):
        (package / "__init__.py").touch()
    # Not with this folder on the path: it is not the package that is running.
    done = aiopslab(tmp_path, "new", "fault", "slow-tea", "--out", str(folder), "--tests", "tests")
    assert done.stdout.splitlines()[-1].startswith("aiopslab finds the modules of aiopslab.generators.fault")
    imports = [
        line
        for line in (tmp_path / "tests" / "test_slow_tea.py").read_text().splitlines()
        if "import" in line
    ]
    assert imports[-1] == "from aiopslab.generators.fault.slow_tea import SlowTea"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("fault", "Slow Tea"), "'Slow Tea' cannot be the name. Use up to 40 lower-case letters"),
        (("fault", "9lives"), "'9lives' cannot be the name."),
        (("fault", "tea-pot_lid"), "'tea-pot_lid' cannot be the name."),
        (("fault", "t" * 41), "cannot be the name."),
        (("agent", "lambda"), "'lambda' is a keyword of Python. Choose another name."),
        (("agent", "random"), "There is a Python module 'random' already."),
        (("agent", "noop"), "There is an agent 'noop' already."),
        (("agent", "idle"), "There is an agent 'idle' already."),
        (("fault", "scale-pod-zero"), "There is a fault 'scale-pod-zero' already."),
        (("problem", "container_kill"), "There is a problem 'container-kill' already."),
        (("app", "hotel-reservation"), "There is an app 'hotel-reservation' already."),
        (("service", "tea"), "There is no kind 'service'. Choose one of: fault, problem, app, agent."),
        (("fault", "tea", "--out", "/proc/tea"), "/proc/tea cannot be written to"),
    ],
)
def test_a_wrong_call_gets_one_sentence_and_writes_nothing(
    tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    done = aiopslab(tmp_path, "new", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list_files(tmp_path) == []


@pytest.mark.parametrize("existing", ["slow_tea.py", "test_slow_tea.py"])
def test_existing_files_are_kept(tmp_path: Path, existing: str) -> None:
    (tmp_path / existing).write_text("mine")
    done = aiopslab(tmp_path, "new", "agent", "slow-tea")
    assert done.returncode == 2
    assert done.stderr == f"{existing} exists already. Choose another name, or another folder with --out.\n"
    assert list_files(tmp_path) == [existing]
    assert (tmp_path / existing).read_text() == "mine"
