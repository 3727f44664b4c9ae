"""Episodes as ``aiopslab bench`` runs them: isolated agents, records, the store. Their number per hour, memory, and a whole suite.

Agents replay scripts, so that the figures are those of the framework. Worlds are prepared in the first half of the
episodes, and the rate is that of the second half, on the clock of the wall: it needs an idle machine. Memory is that of all processes
together, with shared pages counted once. The suite is run with ``runbook``, from nothing to the last stored episode.
``python benchmarks/bench.py [--json] [--short]``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from _measure import read_tree_mb
from _report import Budget, Report, find_missed, run, tabulate_figures
from episodes import CASES, CORES

from aiopslab.benchmark import (
    AgentPerformer,
    Contestant,
    EpisodeOptions,
    Plan,
    Pool,
    Run,
    Runner,
    Status,
    Store,
    list_jobs,
)
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite

CASE = CASES["HotelReservation"]
DETECTIONS, MITIGATIONS = 600, 200
BUDGETS = {
    f"detection episodes per hour, {CORES} workers": Budget(least=35_000.0),
    f"mitigation episodes per hour, {CORES} workers": Budget(least=6_000.0),
    f"suite compat with runbook, {CORES} workers, s": Budget(180.0),
}


class Meter:
    """Notes when each episode was stored, and the memory of all processes when three quarters are."""

    def __init__(self, episodes: int) -> None:
        self._episodes = episodes
        self._stored_s: list[float] = []
        self.memory_mb = 0.0

    def observe(self, status: Status) -> None:
        if status.latest is None:
            return
        self._stored_s.append(time.perf_counter())
        if not self.memory_mb and status.new >= self._episodes * 3 // 4:
            self.memory_mb = read_tree_mb()

    @property
    def per_hour(self) -> float:
        """The rate of the second half."""
        half = self._stored_s[(len(self._stored_s) - 1) // 2 :]
        return 3600 * (len(half) - 1) / (half[-1] - half[0])


def run_plan(plan: Plan, workers: int, meter: Meter) -> float:
    """Run a benchmark in a folder of its own, in which every episode must be judged; return its wall time in seconds."""
    began = time.perf_counter()
    with TemporaryDirectory() as name, Store.create(Path(name), Run("speed", {}, {})) as store:
        jobs = list_jobs(plan, ProblemRegistry())
        performer = partial(AgentPerformer, EpisodeOptions(Path(name)))
        status = Runner(
            store, jobs, lambda size: Pool(size, performer), workers=workers, observe=meter.observe
        ).run()
        took_s = time.perf_counter() - began
    failed = [(episode.problem, episode.why) for episode in status.episodes if episode.success is None]
    assert not failed, failed
    return took_s


def measure_rate(problem: str, answers: Sequence[str], workers: int, episodes: int) -> Meter:
    """Run a script on a problem again and again."""
    namespace = ProblemRegistry().get_problem_instance(problem, 0).app.namespace
    meter = Meter(episodes)
    with TemporaryDirectory() as folder:
        script = Path(folder, "script.txt")
        script.write_text("\n".join(answers).replace("{namespace}", namespace))
        run_plan(
            Plan([Contestant("scripted", f"scripted:{script}")], [problem], [0], episodes), workers, meter
        )
    return meter


def measure_suite(problems: Sequence[str], workers: int) -> float:
    """Return the wall time of ``runbook`` on some problems, in seconds."""
    return run_plan(Plan([Contestant("runbook", "runbook")], problems, [0]), workers, Meter(len(problems)))


def measure(short: bool) -> Report:
    share = 100 if short else 1
    figures = {}
    for workers in (CORES,) if short else (1, CORES):
        for task, problem, answers, episodes in (
            ("detection", CASE.detection, (*CASE.look, 'submit("Yes")'), DETECTIONS),
            (
                "mitigation",
                CASE.mitigation,
                (*CASE.look, f'exec_shell("{CASE.repair}")', "submit()"),
                MITIGATIONS,
            ),
        ):
            meter = measure_rate(problem, answers, workers, max(episodes // share, 4))
            noun = "worker" if workers == 1 else "workers"
            figures[f"{task} episodes per hour, {workers} {noun}"] = meter.per_hour
            figures[f"{task}, memory with {workers} {noun}, MB"] = meter.memory_mb
    suite = [CASE.detection] if short else list_suite(ProblemRegistry(), "compat")
    figures[f"suite compat with runbook, {CORES} workers, s"] = measure_suite(suite, CORES)
    return Report(
        figures,
        [tabulate_figures("Isolated episodes", {"measured": figures}, BUDGETS)],
        find_missed(figures, BUDGETS),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
