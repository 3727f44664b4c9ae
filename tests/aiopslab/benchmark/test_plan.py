"""Plans: contestants have names of their own, and problems that share a world follow each other."""

from __future__ import annotations

from itertools import pairwise

from aiopslab.benchmark.plan import Contestant, Plan, add_variations, list_jobs, make_contestants
from aiopslab.orchestrator.problems import ProblemRegistry

PROBLEMS = (
    "misconfig_app_hotel_res-detection-1",
    "scale_pod_zero_social_net-detection-1",
    "misconfig_app_hotel_res-localization-1",
    "noop_detection_hotel_reservation-1",
)


def test_agents_that_take_a_model_run_with_each() -> None:
    found = make_contestants(
        ["noop", "react"], ["gpt-5-mini", "claude-x?base_url=http://h/v1"], [False, True]
    )
    assert [contestant.name for contestant in found] == ["noop", "react@gpt-5-mini", "react@claude-x"]
    assert found[2].model == "claude-x?base_url=http://h/v1"


def test_models_that_differ_in_their_settings_only_have_names_of_their_own() -> None:
    found = make_contestants(["react"], ["m?effort=low", "m?effort=high"], [True])
    assert [contestant.name for contestant in found] == ["react@m?effort=low", "react@m?effort=high"]


def test_names_of_files_and_commands_are_short_unless_two_are_the_same() -> None:
    found = make_contestants(["mine.py:Agent", "cmd:/opt/agent -x"], [], [False, False])
    assert [contestant.name for contestant in found] == ["Agent", "agent"]
    found = make_contestants(["a.py:Agent", "b.py:Agent"], [], [False, False])
    assert [contestant.name for contestant in found] == ["a.py:Agent", "b.py:Agent"]


def test_a_plan_survives_the_store() -> None:
    plan = Plan([Contestant("a@m", "a", "m")], ["p"], [1, 2], 3)
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.size == 6


def test_jobs_that_share_a_world_follow_each_other() -> None:
    plan = Plan([Contestant("noop", "noop"), Contestant("yes", "yes")], PROBLEMS, [0, 1])
    jobs = list_jobs(plan, ProblemRegistry())
    assert len(jobs) == plan.size == len({job.key for job in jobs})
    seen = [job.fault for job in jobs]
    assert sum(before != after for before, after in pairwise(seen)) == len(set(seen)) - 1
    assert len({job.baseline for job in jobs}) == 4  # two applications, two seeds
    assert len({job.fault for job in jobs}) == 6


def test_the_facts_of_a_problem() -> None:
    jobs = list_jobs(Plan([Contestant("a", "a")], PROBLEMS, [0]), ProblemRegistry())
    facts = {job.key.problem: job.facts for job in jobs}
    assert facts[PROBLEMS[3]].family == "none"
    assert facts[PROBLEMS[1]].layer == "virtualization"
    assert (facts[PROBLEMS[0]].task, facts[PROBLEMS[2]].task) == ("detection", "localization")
    assert facts[PROBLEMS[0]].family == facts[PROBLEMS[2]].family


def test_other_names_are_another_world_of_the_same_problem() -> None:
    contestants = add_variations([Contestant("noop", "noop")], ["names", "longer"])
    jobs = list_jobs(Plan(contestants, PROBLEMS, [0]), ProblemRegistry())
    assert len({job.key for job in jobs}) == len(jobs) == 3 * len(PROBLEMS)
    worlds = {
        variation: {job.baseline for job in jobs if job.contestant.variation == variation}
        for variation in ("", "names", "longer")
    }
    assert worlds[""] == worlds["longer"]
    assert worlds[""].isdisjoint(worlds["names"])
    assert {job.key.problem for job in jobs if job.contestant.variation == "names"} == set(PROBLEMS)
    facts = {(job.key.problem, job.facts) for job in jobs}
    assert len(facts) == len(PROBLEMS)
