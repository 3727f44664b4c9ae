"""Benchmarks from the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aiopslab.benchmark import Store
from aiopslab.cli.bench import parse_seeds
from aiopslab.cli.problems import UsageError
from aiopslab.orchestrator.supervision.family import find_descendants
from tests.aiopslab.benchmark.stored import write_store
from tests.aiopslab.cli.command_line import ROOT, aiopslab, call_aiopslab

PROBLEMS = ("misconfig_app_hotel_res-detection-1", "noop_detection_hotel_reservation-1")


@pytest.mark.parametrize(
    ("args", "way_out"),
    [
        ((), "--agent"),
        (("--agent", "nobody"), "There is no agent 'nobody'"),
        (("--agent", "idle", "--suite", "none"), "Choose one of: smoke"),
        (("no_such_problem-detection-1", "--agent", "idle"), "no_such_problem"),
        (("--agent", "idle", "--seed", "x"), "0-4"),
        (("--agent", "idle", "--model", "m"), "Leave out --model"),
        (("--agent", "idle", "--undo", "magic"), "--undo takes one of inverse, copy"),
        (("--agent", "idle", "--out", "/proc/none"), "--out"),
        (("--agent", "idle", "--vary", "louder"), "Choose some of: reworded"),
        (("--agent", "idle", "--executor", "threads"), "Choose one of: processes, ray"),
        (("--agent", "idle", "--store", "mysql://u:secret@h/d"), "postgresql://USER"),
        (("--agent", "idle,human", "--cloud", "kubernetes"), "leave out --agent human"),
        (("--resume",), "holds no benchmark"),
        ((*PROBLEMS, "--suite", "smoke", "--agent", "idle"), "Leave out one of them"),
    ],
)
def test_a_wrong_call_is_answered_with_a_way_out(args: tuple[str, ...], way_out: str, tmp_path: Path) -> None:
    out = () if "--out" in args else ("--out", str(tmp_path / "bench"))
    done = call_aiopslab("bench", *args, *out)
    assert (done.returncode, done.stdout) == (2, "")
    assert way_out in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


def test_a_problem_without_other_names_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from aiopslab import DetectionTask, HotelReservation\n"
        "class Mine(DetectionTask):\n"
        "    id = 'mine-detection-1'\n"
        "    def __init__(self):\n"
        "        super().__init__(HotelReservation())\n"
    )
    out = tmp_path / "bench"
    call = ("mine-detection-1", "--load", str(file), "--agent", "idle", "--out", str(out))
    done = call_aiopslab("bench", *call, "--vary", "names")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There are no other names for the components of the problem 'mine-detection-1'" in done.stderr
    assert "--vary names" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize("command", ["bench", "report", "compare", "verify"])
def test_help_has_an_example(command: str) -> None:
    done = call_aiopslab(command, "--help")
    assert done.returncode == 0
    assert f"  aiopslab {command}" in done.stdout


def test_a_full_disk_fails_the_run_and_says_how_to_continue(tmp_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from aiopslab.cli.problems import run_command
from tests.aiopslab.benchmark.fake import make_jobs, run_fake

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))  # no file grows further, as on a full disk
    sys.exit(run_command(lambda: run_fake(Path(sys.argv[1]), make_jobs(("a",), 1000)).status.new))
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"The store of {tmp_path} failed" in done.stderr
    assert f"aiopslab bench --resume --out {tmp_path}" in done.stderr
    assert "Traceback" not in done.stderr
    with Store.open(tmp_path) as store:
        assert 0 < len(store.list_episodes()) < 1000


def test_seeds_are_numbers_lists_and_ranges() -> None:
    assert parse_seeds("3") == [3]
    assert parse_seeds("0,2,1-3") == [0, 2, 1, 3]
    for wrong in ("", "a", "-1", "3-1", "1,,2"):
        with pytest.raises(UsageError):
            parse_seeds(wrong)


def test_a_report_is_printed_or_written_to_a_file(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    done = call_aiopslab("report", str(store), "--format", "markdown")
    assert done.returncode == 0, done.stderr
    assert "| good | gpt-x | 4 | 16 | 88% [64, 97] |" in done.stdout
    place = tmp_path / "pages" / "report.html"
    done = call_aiopslab("report", str(store), "--format", "html", "--out", str(place))
    assert done.stdout == f"{place}\n"
    assert "<svg" in place.read_text()


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    done = call_aiopslab("report", str(tmp_path), "--format", "pdf")
    assert (done.returncode, done.stdout) == (2, "")
    assert "table, markdown, csv, latex, html" in done.stderr


def test_two_agents_are_compared(tmp_path: Path) -> None:
    store = write_store(tmp_path / "store")
    done = call_aiopslab("compare", "good", "loud", str(store))
    assert "only good        10" in done.stdout
    done = call_aiopslab("compare", "good", "bad", str(store))
    assert done.returncode == 2
    assert "Choose two of: good, loud" in done.stderr


@pytest.mark.parametrize("command", [("report",), ("compare", "a", "b"), ("verify",)])
def test_what_is_no_benchmark_is_refused(command: tuple[str, ...], tmp_path: Path) -> None:
    done = call_aiopslab(*command, str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds no benchmark" in done.stderr


def read_verdicts(folder: Path) -> dict[tuple[str, str], bool | None]:
    with Store.open(folder) as store:
        return {(episode.agent, episode.problem): episode.success for episode in store.list_episodes()}


@pytest.mark.slow(keep=1)
def test_two_agents_on_two_problems_from_the_start_to_the_replay(tmp_path: Path) -> None:
    out = tmp_path / "bench"
    done = aiopslab(
        "bench", *PROBLEMS, "--agent", "idle,alarmist", "--out", str(out), "--jobs", "1", "--json"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["done"], document["total"]) == (4, 4)
    assert [agent["accuracy"] for agent in document["agents"]] == [0.5, 0.5]
    assert read_verdicts(out) == {
        ("idle", PROBLEMS[0]): False,
        ("idle", PROBLEMS[1]): True,
        ("alarmist", PROBLEMS[0]): True,
        ("alarmist", PROBLEMS[1]): False,
    }
    assert len(list((out / "sessions").iterdir())) == 4
    assert "<svg" in (out / "report.html").read_text()
    assert "[4/4] " in done.stderr

    done = aiopslab("bench", "--resume", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "[5/" not in done.stderr
    assert len(list((out / "sessions").iterdir())) == 4

    record = next(path for path in (out / "sessions").iterdir() if '"Yes"' in path.read_text())
    forged = json.loads(record.read_text())
    forged["results"]["success"] = not forged["results"]["success"]
    record.write_text(json.dumps(forged))
    done = aiopslab("verify", str(out), "--jobs", "1", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["same"], len(document["different"])) == (3, 1)
    assert "The store says" in document["different"][0]["difference"]


@pytest.mark.slow
def test_the_texts_that_an_agent_gets_are_varied_and_recorded(tmp_path: Path) -> None:
    call = ("bench", PROBLEMS[1], "--agent", "idle", "--out", str(tmp_path), "--jobs", "1")
    assert aiopslab(*call).returncode == 0
    done = aiopslab(*call, "--resume", "--vary", "reworded,longer")
    assert done.returncode == 0, done.stderr
    assert list(read_verdicts(tmp_path)) == [
        ("idle", PROBLEMS[1]),
        ("idle~longer", PROBLEMS[1]),
        ("idle~reworded", PROBLEMS[1]),
    ]
    with Store.open(tmp_path) as store:
        records = [json.loads((tmp_path / episode.record).read_text()) for episode in store.list_episodes()]
    texts = [str(record["system_prompt"]) for record in records]
    assert len(set(texts)) == 3
    assert ["You are on call for" in text for text in texts] == [True, True, False]
    report = aiopslab("report", str(tmp_path), "--format", "markdown")
    assert "| idle | longer | 100% [21, 100] | 100% [21, 100] | +0 [+0, +0] |" in report.stdout
    assert "3 of 3 verdicts are the same" in aiopslab("verify", str(tmp_path), "--jobs", "1").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        ("misconfig_app_hotel_res-localization-1", ["globe"]),
        ("scale_pod_zero_social_net-mitigation-1", None),
        ("user_unregistered_mongodb-mitigation-1", None),
    ],
)
def test_an_agent_that_looks_does_as_well_with_other_names(
    problem: str, answer: list[str] | None, tmp_path: Path
) -> None:
    agents = ("runbook", "noop", "yes")
    call = (
        "bench",
        problem,
        "--agent",
        ",".join(agents),
        "--vary",
        "names",
        "--out",
        str(tmp_path),
        "--jobs",
        "1",
    )
    done = aiopslab(*call)
    assert done.returncode == 0, done.stderr
    verdicts = read_verdicts(tmp_path)
    assert [verdicts[agent, problem] for agent in agents] == [True, False, False]
    assert [verdicts[f"{agent}~names", problem] for agent in agents] == [True, False, False]
    with Store.open(tmp_path) as store:
        renamed = [episode for episode in store.list_episodes() if episode.agent.endswith("~names")]
    for record in (json.loads((tmp_path / episode.record).read_text()) for episode in renamed):
        assert record["problem_id"] == f"{problem}+names"
        assert answer is None or record["expected"] == answer
    report = aiopslab("report", str(tmp_path), "--format", "markdown")
    assert "| runbook | names | 100% [21, 100] | 100% [21, 100] | +0 [+0, +0] |" in report.stdout
    assert "6 of 6 verdicts are the same" in aiopslab("verify", str(tmp_path), "--jobs", "1").stdout


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_is_interrupted_leaves_no_process_and_can_be_resumed(
    number: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", "bench", *PROBLEMS, "--agent",
               "idle,alarmist,runbook", "--out", str(tmp_path), "--jobs", "2", "--repeat", "3"]  # fmt: skip
    started: set[int] = set()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            started |= {process.pid for process in find_descendants(running.pid)}
            if line.startswith("[3/"):
                break
        started |= {process.pid for process in find_descendants(running.pid)}
        running.send_signal(number)
        out, _ = running.communicate()
    if number == signal.SIGINT:
        assert running.returncode == 130
        assert "aiopslab bench --resume --out" in out
    deadline = time.monotonic() + 20
    while (left := [pid for pid in started if Path(f"/proc/{pid}").exists()]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left
    done = aiopslab("bench", "--resume", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 18
    assert len(read_verdicts(tmp_path)) == 6
    assert len(list((tmp_path / "sessions").iterdir())) == 18
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_transactions_are_part_of_the_agents_name_and_of_the_record(tmp_path: Path) -> None:
    out = tmp_path / "bench"
    script = tmp_path / "actions.txt"
    script.write_text('exec_shell("kubectl label ns default a=b")\nsubmit("Yes")\n')
    agent = f"scripted:{script}"
    done = aiopslab("bench", PROBLEMS[0], "--agent", agent, "--tnr", "--out", str(out), "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert f"{agent}+tnr" in done.stdout
    with Store.open(out) as store:
        (episode,) = store.list_episodes()
        (contestant,) = store.run.plan["contestants"]
    assert (episode.agent, contestant["undo"]) == (f"{agent}+tnr", "inverse")
    record = json.loads((out / episode.record).read_text())
    assert record["settings"]["tnr"]["undo"] == "inverse"
    assert [entry["outcome"] for entry in record["transactions"]] == ["committed"]
    checked = aiopslab("verify", str(out), "--jobs", "1")
    assert checked.returncode == 0, checked.stdout
