"""Variations: other words, the same facts, and the same texts for the same episode."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from aiopslab.benchmark.episodes import EpisodeKey
from aiopslab.benchmark.leaderboard import read_sources
from aiopslab.benchmark.plan import Contestant, Plan, add_variations
from aiopslab.benchmark.store import Run, Store
from aiopslab.benchmark.tables import build_tables
from aiopslab.benchmark.variations import (
    _OTHER_WORDS,
    NAMES,
    TEMPERATURES,
    VARIATIONS,
    add_temperature,
    split_agent,
    vary_prompt,
)
from aiopslab.orchestrator import Prompt
from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from tests.aiopslab.benchmark.stored import list_stored

TEXTS = [name for name in VARIATIONS if name != NAMES and name not in TEMPERATURES]
ACTIONS = dict.fromkeys(("get_logs", "get_metrics", "exec_shell", "submit"), "Does something.")
REGISTRY = ProblemRegistry()
PROBLEMS = list_suite(REGISTRY, "smoke")


def make_prompt(problem: str) -> Prompt:
    task = REGISTRY.get_problem_instance(problem, 0)
    return Prompt(task.get_task_description(), task.get_instructions(), ACTIONS)


def list_names(prompt: Prompt) -> list[str]:
    """What must not change: quotes, fenced blocks, and whatever is no ordinary word."""
    text = f"{prompt.description}\n{prompt.instructions}"
    (components,) = re.findall(r"same name: (.*)", text)
    (namespace,) = re.findall(r"Namespace: (.*)", text)
    quoted = re.findall(r'"[^"\n]*"', text)
    return [*components.split(", "), namespace, *quoted, *re.findall(r"```\n(.*?)\n```", text)]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_variation_changes_the_text_and_no_fact(name: str, problem: str) -> None:
    prompt = make_prompt(problem)
    for seed in range(5):
        varied = vary_prompt(name, prompt, EpisodeKey("a", problem, seed, 0))
        assert (varied.description, varied.instructions) != (prompt.description, prompt.instructions)
        text = f"{varied.description}\n{varied.instructions}"
        assert [word for word in list_names(prompt) if word not in text] == []
        assert varied.actions == prompt.actions
        assert list_names(varied) == list_names(prompt)


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_episode_gets_the_same_text(name: str) -> None:
    prompt = make_prompt(PROBLEMS[0])
    key = EpisodeKey("a", PROBLEMS[0], 1, 0)
    assert vary_prompt(name, prompt, key) == vary_prompt(name, prompt, key._replace(agent="b"))
    others = [vary_prompt(name, prompt, key._replace(repeat=repeat)) for repeat in range(8)]
    assert name == "shorter" or len({other.description for other in others}) > 1


def test_each_variation_does_what_its_name_says() -> None:
    prompt = make_prompt("misconfig_app_hotel_res-localization-1")
    key = EpisodeKey("a", "p", 0, 0)
    varied = {name: vary_prompt(name, prompt, key) for name in VARIATIONS}
    assert len(varied["longer"].description) > len(prompt.description)
    assert len(varied["shorter"].instructions) < len(prompt.instructions) * 0.7
    assert varied["reordered"].description.startswith("Your task: ")
    assert sorted(varied["reordered"].description.split()) == sorted(prompt.description.split())
    assert list(varied["reordered"].actions) != list(prompt.actions)
    assert len(varied["misspelt"].description.split()) == len(prompt.description.split())
    assert "coredns" in varied["misspelt"].description
    assert "on call" not in varied["reworded"].description
    assert varied["temperature-0"] == prompt


def test_every_phrase_that_is_reworded_occurs_in_some_problem() -> None:
    problems = [
        *PROBLEMS,
        *(f"misconfig_app_hotel_res-{task}-1" for task in ("analysis", "localization", "mitigation")),
    ]
    prompts = [make_prompt(problem) for problem in problems]
    readonly = REGISTRY.get_problem_instance(PROBLEMS[0], 0)
    readonly.policy = "read-only"
    texts = [
        *(f"{prompt.description}{prompt.instructions}" for prompt in prompts),
        readonly.get_task_description(),
    ]
    assert [phrase for phrase in _OTHER_WORDS if not any(phrase in text for text in texts)] == []


def test_temperatures_are_for_agents_with_a_model() -> None:
    assert add_temperature("gpt-x", "temperature-1") == "gpt-x?temperature=1"
    assert add_temperature("q?stream=1&temperature=0.5", "temperature-0") == "q?stream=1&temperature=0"
    contestants = add_variations(
        [Contestant("a", "a"), Contestant("b@m", "b", "m")], ["longer", "temperature-0"]
    )
    assert [(contestant.name, contestant.model) for contestant in contestants] == [
        ("a", None),
        ("a~longer", None),
        ("b@m", "m"),
        ("b@m~longer", "m"),
        ("b@m~temperature-0", "m?temperature=0"),
    ]
    plan = Plan(contestants, ["p"], [0])
    assert Plan.from_json(plan.to_json()) == plan
    assert split_agent("b@m~longer") == ("b@m", "longer")
    assert split_agent("~/mine") == ("~/mine", "")


def test_reports_compare_a_variation_with_the_unvaried_texts_and_count_it_nowhere_else(
    tmp_path: Path,
) -> None:
    stored = [episode for episode in list_stored() if episode.agent == "good"]
    misspelt = [
        replace(
            episode, agent="good~misspelt", success=episode.is_solved and episode.facts.task != "detection"
        )
        for episode in stored
    ]
    for name in ("a", "b"):
        with Store.create(tmp_path / name, Run(name, {}, {})) as store:
            for episode in (*stored, *misspelt):
                store.add(episode)
    (source,) = read_sources([tmp_path / "a"])
    tables = {table.name: table for table in build_tables(source.episodes)}
    assert [row[0] for row in tables["overall"].rows] == ["good"]
    ((agent, variation, accuracy, unvaried, difference, *_, problems, families),) = tables["variations"].rows
    assert (agent, variation, problems, families) == ("good", "misspelt", 8, 3)
    assert accuracy.value == 6 / 16  # type: ignore[union-attr]
    assert unvaried.value == 14 / 16  # type: ignore[union-attr]
    assert difference.value == -0.5  # type: ignore[union-attr]
    both = read_sources([tmp_path / "a", tmp_path / "b"])
    tables = {table.name: table for table in build_tables([*both[0].episodes, *both[1].episodes])}
    assert [row[0] for row in tables["variations"].rows] == ["good (a)", "good (b)"]
