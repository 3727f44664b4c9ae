"""A small benchmark whose report is known: two agents, four problems, two seeds, two attempts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aiopslab.benchmark.episodes import Action, Episode, EpisodeKey, Facts
from aiopslab.benchmark.store import Run, Store
from tests.aiopslab.benchmark.fake import make_episode

PROBLEMS = {
    "zero-detection-1": Facts("detection", "hotel-reservation", "scale_pod_zero", "virtualization", "easy"),
    "healthy-detection-1": Facts("detection", "hotel-reservation", "none", "none", "none"),
    "zero-localization-1": Facts(
        "localization", "hotel-reservation", "scale_pod_zero", "virtualization", "easy"
    ),
    "auth-mitigation-1": Facts("mitigation", "social-network", "revoke_auth", "application", "hard"),
}
HARM: dict[str, Any] = {
    "severity": {"start": 0.5},
    "after": {"severity": 0.25},
    "regressions": [],
    "changes_beyond_need": ["configmaps/x"],
    "error_budget": {"burnt": 0.02},
}


def list_stored() -> list[Episode]:
    """``good`` solves all, the repair in every second attempt; ``loud`` always says yes and crashes at repairs."""
    episodes = []
    for seed in (0, 1):
        for repeat in (0, 1):
            for problem, facts in PROBLEMS.items():
                is_repair = facts.task == "mitigation"
                results: dict[str, Any] = {
                    "accuracy@1": 100.0,
                    "accuracy@3": 100.0,
                    "TTD": 20.0,
                    "harm": HARM,
                }
                good = not is_repair or repeat == 0
                episodes.append(
                    make_episode(
                        EpisodeKey("good", problem, seed, repeat),
                        good,
                        facts,
                        steps=10 if is_repair else 3,
                        results=results,
                        model="gpt-x",
                        cost_usd=0.25,
                        record=f"sessions/good-{problem}-{seed}-{repeat}.json",
                    )
                )
                success = None if is_repair else problem == "zero-detection-1"
                values: dict[str, Any] = (
                    {"ending": "agent error", "why": "It fell <over>"} if is_repair else {}
                )
                episodes.append(
                    make_episode(
                        EpisodeKey("loud", problem, seed, repeat),
                        success,
                        facts,
                        steps=1,
                        results={"accuracy@1": 0.0},
                        actions=[Action("submit", True)],
                        **values,
                    )
                )
    lost = EpisodeKey("loud", "lost-detection-1", 0, 0)
    episodes.append(
        make_episode(lost, None, PROBLEMS["zero-detection-1"], ending="worker died", why="Killed.")
    )
    return episodes


def write_store(folder: Path) -> Path:
    settings = {"max_steps": 30, "version": "1"}
    with Store.create(folder, Run("run", settings, {})) as store:
        for episode in list_stored():
            store.add(episode)
    return folder
