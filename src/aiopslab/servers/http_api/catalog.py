"""The problems and agents that a server offers; never what is wrong in a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aiopslab.agents import load_agents
from aiopslab.orchestrator import explain_unavailable
from aiopslab.orchestrator.problems import (
    ProblemRegistry,
    list_suite,
    measure_difficulty,
    select_problems,
)
from aiopslab.utils import get_summary

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions


class Catalog:
    """The problems of each suite are chosen and described once: for hundreds of problems that takes a moment."""

    def __init__(self, registry: ProblemRegistry, cluster: KubernetesOptions | None = None) -> None:
        """With a ``cluster``, only the problems that can be posed there."""
        self._registry = registry
        self._cluster = cluster
        self._suites: dict[str, list[str]] = {}
        self._described: dict[str, dict[str, Any]] = {}

    def select(self, suite: str | None, task: str | None, app: str | None) -> list[str]:
        """Return the problems of a suite, a task and an application; raises ``NoSuchSelection``."""
        suite = suite or "all"
        if suite not in self._suites:
            listed = list_suite(self._registry, suite)
            self._suites[suite] = [pid for pid in listed if not self.explain_unavailable(pid)]
        return select_problems(self._registry, self._suites[suite], task or None, app or None)

    def explain_unavailable(self, pid: str) -> str:
        """Return what a problem needs and the cluster lacks; empty if it can be posed."""
        if self._cluster is None:
            return ""
        return explain_unavailable(self._registry.get_problem_instance(pid), self._cluster)

    def list_problems(self, filters: Mapping[str, str]) -> list[dict[str, Any]]:
        """Describe the problems of a suite, a task and an application; raises ``NoSuchSelection``."""
        chosen = self.select(filters.get("suite"), filters.get("task"), filters.get("app"))
        self._described |= {pid: self.get_problem(pid) for pid in chosen if pid not in self._described}
        return [self._described[pid] for pid in chosen]

    def get_problem(self, pid: str) -> dict[str, Any]:
        """Describe a problem; raises ``UnknownProblem``."""
        problem = self._registry.get_problem_instance(pid)
        return {
            "id": problem.id,
            "task": problem.task_type,
            "app": problem.app.name,
            "difficulty": measure_difficulty(problem).rating,
            "drawn": self._registry.is_drawn(pid),
        }

    def list_agents(self) -> list[dict[str, str]]:
        """Return the agents that may work on sessions."""
        return [{"name": name, "summary": get_summary(agent)} for name, agent in load_agents().items()]
