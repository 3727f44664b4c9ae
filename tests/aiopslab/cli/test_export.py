from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiopslab.cli.export import ExportOptions, export_app, export_problem
from aiopslab.cli.problems import load_problems, run_command

CALL = "import sys; from aiopslab.cli import main; sys.argv[0] = 'aiopslab'; main()"


def export(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(
        [sys.executable, "-c", CALL, "export", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.slow
def test_one_seed_writes_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    runs = [
        export("--minutes", "1", "--seed", "3", "--out", str(tmp_path / number), "--json", hash_seed=number)
        for number in ("1", "2")
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    manifest = json.loads(runs[0].stdout)
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stderr.startswith("minute 1 of 1: ")
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file())
    assert files == sorted(
        path.relative_to(tmp_path / "2") for path in (tmp_path / "2").rglob("*") if path.is_file()
    )
    different = [
        file for file in files if (tmp_path / "1" / file).read_bytes() != (tmp_path / "2" / file).read_bytes()
    ]
    assert different == []
    assert len(files) == 6 + len(manifest["metrics"])
    assert min(manifest["tables"][name]["rows"] for name in ("logs", "metrics", "events", "objects")) > 10


def test_a_wrong_call_costs_no_time_and_says_a_way_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(lambda: export_app("shop", 1, ExportOptions(tmp_path))) == 2
    assert capsys.readouterr().err == (
        "There is no application 'shop'. Choose one of: hotel-reservation, social-network.\n"
    )
    (tmp_path / "there").write_text("")
    assert run_command(lambda: export_app("none", 1, ExportOptions(tmp_path))) == 2
    assert (
        capsys.readouterr().err == f"{tmp_path} is not empty. Name another folder, or remove what is in it.\n"
    )


def test_an_application_leaves_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export_app("hotel-reservation", 1, ExportOptions(tmp_path / "out", minutes=1, as_json=True)) == 0
    manifest = json.loads(capsys.readouterr().out)
    assert manifest["tables"]["traces"]["rows"] > 1_000
    head = (tmp_path / "out" / "traces.csv").read_text().splitlines()[0]
    assert head.startswith(
        "trace_id,span_id,parent_span,service_name,operation_name,start_time,duration,has_error"
    )


@pytest.mark.slow
def test_a_problem_is_written_with_the_truth_about_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = "revoke_auth_mongodb-localization-1"
    options = ExportOptions(tmp_path / "out", as_json=True)
    assert export_problem(load_problems().get_problem_instance(pid), 1, options) == 0
    manifest = json.loads(capsys.readouterr().out)
    assert (manifest["problem"], manifest["ground_truth"]) == (pid, "ground_truth.json")
    truth = json.loads((tmp_path / "out" / "ground_truth.json").read_text())
    assert truth["expected"] == ["mongodb-geo"]
    assert truth["faults"][0]["name"] == "revoke_auth"
    assert truth["faults"][0]["fault_type"] == "Authentication Issue"
    assert truth["faults"][0]["parameters"] == {"database": "mongodb-geo"}
    assert manifest["start"] < truth["injected_at"] < manifest["end"]
    assert "not authorized" in (tmp_path / "out" / "logs.csv").read_text()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("revoke_auth_mongodb-localization-9",), "or revoke_auth_mongodb-localization-1"),
        (("revoke_auth_mongodb-localization-1", "--app", "none"), "leave out --app"),
        (("revoke_auth_mongodb-localization-1", "--format", "xml"), "There is no format 'xml'"),
        (("noop_detection_hotel_reservation-1", "--format", "rcaeval"), "has no fault"),
        (("--format", "rcaeval"), "rcaeval needs a problem"),
        (("--format", "atif"), "atif needs a session record"),
        (("nowhere.json", "--format", "atif"), "nowhere.json"),
    ],
)
def test_a_wrong_call_about_a_problem_costs_no_time(tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    done = export(*args, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert told in done.stderr.replace("\n", " ")
