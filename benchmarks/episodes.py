"""Prepared problems: the cost of preparing them, of copies, of scripted episodes, and of judging a mitigation.

A first observation is complete when the session is open and an agent has listed the pods. Its budget excludes the virtual
time that the agent is assumed to think, during which users go on; this is measured, too. The figure counts from the
request for a copy: the spare that ``Stages`` keeps ready was forked before, and has already written to the pages of memory that are
written first. "In all" adds what the spare and the copied process cost; "without a spare" is the first copy of a problem.

Episodes follow a script with the usual thinking time and are judged. Their number per hour is that of two cores, each of
which runs episodes without pause: it follows from the CPU time of the copy, of the copied process and of this one. As in
``aiopslab bench``, the thinking time before the first answer passes once, in the process that is copied.

Every figure is the least of several: equal worlds do exactly the same, so the rest is what other work on the machine has added.
``python benchmarks/episodes.py [--json] [--short]``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from _measure import Stopwatch, Usage, read_usage
from _report import Budget, Report, find_missed, run, tabulate_figures

from aiopslab.orchestrator.stages import Stage, rehearse_session, run_episode
from simcloud.world.copies import Copy

CORES = 2


class Sizes(NamedTuple):
    """How often each step is measured."""

    worlds: int
    copies: int
    episodes: int
    judged: int


FULL, SHORT = Sizes(3, 20, 20, 5), Sizes(1, 1, 1, 1)
BETWEEN_S = 0.1
"""Pause before a copy is requested: in use, an agent takes longer than this."""
THINKING_S = 5.0
BUDGETS = {
    "problem from nothing, CPU s": Budget(4.0),
    "problem from a baseline, CPU s": Budget(1.0),
    "another task of the fault, CPU ms": Budget(20.0),
    "copy with a first observation, CPU ms": Budget(20.0),
    "detection episodes per hour": Budget(least=50_000.0),
    "mitigation episodes per hour": Budget(least=10_000.0),
    "judging a repair, CPU s": Budget(0.5),
    "judging while the cause remains, CPU s": Budget(0.1),
}


class Case(NamedTuple):
    """A fault with three of its tasks, a service whose logs an agent reads, and the line that repairs the fault."""

    detection: str
    localization: str
    mitigation: str
    service: str
    repair: str

    @property
    def look(self) -> tuple[str, str]:
        """The answers with which an agent looks around."""
        return 'exec_shell("kubectl get pods -n {namespace}")', f'get_logs("{{namespace}}", "{self.service}")'


CASES = {
    "HotelReservation": Case(
        "misconfig_app_hotel_res-detection-1",
        "misconfig_app_hotel_res-localization-1",
        "misconfig_app_hotel_res-mitigation-1",
        "frontend",
        "kubectl -n {namespace} rollout undo deployment/geo",
    ),
    "SocialNetwork": Case(
        "scale_pod_zero_social_net-detection-1",
        "scale_pod_zero_social_net-localization-1",
        "scale_pod_zero_social_net-mitigation-1",
        "nginx-thrift",
        "kubectl -n {namespace} scale deployment/user-service --replicas=1",
    ),
}


class Observer:
    """An agent that lists the pods and records what its process had used when it saw them."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.seen: Usage | None = None

    async def get_action(self, state: str) -> str:
        if self.seen is None and "Running" in state:
            self.seen = read_usage()
        return f'exec_shell("kubectl get pods -n {self.namespace}")'


class Script:
    """An agent that gives prepared answers."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = iter(answers)

    async def get_action(self, state: str) -> str:
        return next(self._answers)


def observe(stage: Stage, thinking_s: float) -> tuple[Usage, Usage]:
    """Return what this process had used when it was called, and when an agent in it had seen the pods."""
    called, agent = read_usage(), Observer(stage.environment.namespace)
    run_episode(stage, lambda: agent, max_steps=2, thinking_s=thinking_s)
    assert agent.seen is not None
    return called, agent.seen


def follow_script(stage: Stage, answers: Sequence[str]) -> float:
    """Run an episode, which must succeed, and return the CPU time that this copy has used."""
    namespace = stage.environment.namespace
    answers = [answer.replace("{namespace}", namespace) for answer in answers]
    result = run_episode(stage, lambda: Script(answers), thinking_s=THINKING_S)
    assert result["results"]["success"] is True, result["results"]
    return time.process_time()


def judge(stage: Stage, repaired: bool) -> float:
    """Judge the mitigation, after the reference repair or without one; return the CPU time that this took."""
    assert stage.problem is not None
    task = stage.problem.task
    if repaired:
        task.recover_fault()
    watch = Stopwatch()
    results = task.eval(task.take_submission((), {}), [], 1.0)
    assert results["success"] is repaired, results
    return watch.cpu_s


def measure_copies(problem: Copy[Stage], count: int, thinking_s: float, *, spare: bool) -> dict[str, float]:
    """Return the least of each figure over fresh copies of a prepared problem."""
    waits: list[Usage] = []
    lives: list[Usage] = []
    before = problem.call(read_usage)
    if spare:
        problem.keep_spare(rehearse_session)
    for _ in range(count):
        time.sleep(BETWEEN_S)
        start_s = time.perf_counter()
        with problem.branch() as copy:
            called, seen = copy.call(observe, thinking_s)
        waits.append(
            Usage(seen.cpu_s - called.cpu_s, seen.page_faults - called.page_faults, seen.at_s - start_s)
        )
        lives.append(seen)
    problem.keep_spare(None)
    copied_s = (problem.call(read_usage).cpu_s - before.cpu_s) / count
    return {
        "CPU ms": min(usage.cpu_s for usage in waits) * 1e3,
        "wall ms": min(usage.at_s for usage in waits) * 1e3,
        "page faults": min(usage.page_faults for usage in waits),
        "CPU ms in all": (min(usage.cpu_s for usage in lives) + copied_s) * 1e3,
    }


def measure_episodes(problem: Copy[Stage], count: int, answers: Sequence[str]) -> float:
    """Return the CPU time of one scripted episode, including its share of all processes involved."""
    before_s, watch = problem.call(read_usage).cpu_s, Stopwatch()
    problem.keep_spare(rehearse_session)
    copies_s = []
    for _ in range(count):
        with problem.branch() as copy:
            copies_s.append(copy.call(follow_script, answers))
    problem.keep_spare(None)
    shared_s = problem.call(read_usage).cpu_s - before_s + watch.cpu_s
    return min(copies_s) + shared_s / count


def measure_judging(problem: Copy[Stage], count: int, repaired: bool) -> float:
    """Return the least CPU time of judging in fresh copies."""
    spent_s = []
    for _ in range(count):
        with problem.branch() as copy:
            spent_s.append(copy.call(judge, repaired))
    return min(spent_s)


def measure_first_observations(problem: Copy[Stage], sizes: Sizes) -> dict[str, float]:
    """Measure copies of a prepared problem until an agent has seen its pods."""
    figures = {}
    for name, thinking_s, spare in (
        ("", 0.0, True),
        (", after the usual thinking time", THINKING_S, True),
        (", without a spare", 0.0, False),
    ):
        for unit, value in measure_copies(problem, sizes.copies, thinking_s, spare=spare).items():
            figures[f"copy with a first observation{name}, {unit}"] = value
    return figures


def measure_detection(problem: Copy[Stage], case: Case, sizes: Sizes) -> dict[str, float]:
    """Measure episodes that solve a detection problem."""
    episode_s = measure_episodes(problem, sizes.episodes, (*case.look, 'submit("Yes")'))
    return {
        "detection episode, CPU ms in all": episode_s * 1e3,
        "detection episodes per hour": CORES * 3600 / episode_s,
    }


def measure_mitigation(problem: Copy[Stage], case: Case, sizes: Sizes) -> dict[str, float]:
    """Measure episodes that solve a mitigation problem, and the judging alone."""
    answers = (*case.look, f'exec_shell("{case.repair}")', "submit()")
    episode_s = measure_episodes(problem, sizes.episodes, answers)
    return {
        "mitigation episode, CPU ms in all": episode_s * 1e3,
        "mitigation episodes per hour": CORES * 3600 / episode_s,
        "judging a repair, CPU s": measure_judging(problem, sizes.judged, repaired=True),
        "judging while the cause remains, CPU s": measure_judging(problem, sizes.judged, repaired=False),
    }


def measure_least(make: Callable[[], Copy[Stage]], count: int) -> float:
    """Return the least CPU time of the processes that ``make`` starts."""
    spent_s = []
    for _ in range(count):
        with make() as copy:
            spent_s.append(copy.call(read_usage).cpu_s)
    return min(spent_s)


def measure_case(case: Case, sizes: Sizes) -> dict[str, float]:
    """Each level is a process of its own, whose CPU time started at zero."""
    # As ``aiopslab`` prepares worlds: without importing the script, which this one's tables would make slower.
    baseline_s = measure_least(lambda: Copy.of_imported(Stage, case.detection, 1), sizes.worlds)
    with Copy.of(Stage, case.detection, 1) as baseline:

        def inject_fault() -> Copy[Stage]:
            return baseline.branch(Stage.inject_fault, case.detection)

        fault_s = measure_least(inject_fault, sizes.worlds)
        with inject_fault() as fault:
            posed_s = measure_least(lambda: fault.branch(Stage.open_problem, case.localization), sizes.copies)
            figures = {
                "baseline from nothing, CPU s": baseline_s,
                "problem from nothing, CPU s": baseline_s + fault_s + posed_s,
                "problem from a baseline, CPU s": fault_s + posed_s,
                "another task of the fault, CPU ms": posed_s * 1e3,
            }
            with fault.branch(Stage.open_problem, case.detection) as problem:
                figures |= measure_first_observations(problem, sizes)
            with fault.branch(Stage.open_problem, case.detection, THINKING_S) as problem:
                figures |= measure_detection(problem, case, sizes)
            with fault.branch(Stage.open_problem, case.mitigation, THINKING_S) as problem:
                figures |= measure_mitigation(problem, case, sizes)
    return figures


def measure(short: bool) -> Report:
    cases = dict(list(CASES.items())[:1]) if short else CASES
    sizes = SHORT if short else FULL
    figures = {app: measure_case(case, sizes) for app, case in cases.items()}
    missed = {
        f"{app}, {name}": value
        for app, measured in figures.items()
        for name, value in find_missed(measured, BUDGETS).items()
    }
    return Report(figures, [tabulate_figures("Prepared problems", figures, BUDGETS)], missed)


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))
