"""A problem with its own action and its own metric.

    python examples/05_own_action_and_metric.py
    aiopslab play on_call-localization-1 --load examples/05_own_action_and_metric.py

docs/actions.md gives the rules for actions, docs/evaluation.md those for metrics.
"""

from __future__ import annotations

import asyncio

from aiopslab import LocalizationTask, Orchestrator
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.actions import DEFAULT, ActionFailed, TaskActions, action
from aiopslab.orchestrator.problems import Family
from aiopslab.orchestrator.session import Session
from aiopslab.orchestrator.tasks import Task


class OnCallActions(TaskActions):
    """The usual actions and one more. Its docstring is its documentation for agents."""

    @action
    def get_owner(self, component: str) -> str:
        """Return the team that owns a component.

        Args:
            component (str): Name of the component, for example "geo".

        Returns:
            str: Name of the team.
        """
        try:
            return self.environment.app.component(component).owner
        except KeyError:
            raise ActionFailed(
                f"There is no component {component!r}. The problem's description lists them."
            ) from None


def people_asked(task: Task, session: Session) -> dict[str, int]:
    """Count the components whose owner the agent requested; part of the results and the record."""
    return {"people_asked": len({str(step.args) for step in session.steps if step.api_name == "get_owner"})}


class WhoIsToBeCalled(LocalizationTask):
    """The usual task with one more action and one more metric."""

    actions = OnCallActions
    offered = (*DEFAULT, "get_owner")
    metrics = (people_asked,)


FAMILY = Family("on_call", HotelReservation, (ScalePodZero("geo"), ScalePodZero("rate")), (WhoIsToBeCalled,))
"""The problems ``on_call-localization-1`` and ``on_call-localization-2``."""


def engineer(state: str) -> str:
    """Find the workload without pods, get its owner, and submit it."""
    if "first action" in state:
        return 'exec_shell("kubectl -n test-hotel-reservation get deployments --no-headers | grep 0/0")'
    if "0/0" in state:
        return f'get_owner("{state.split(maxsplit=1)[0]}")'
    return 'submit(["geo"])'


def main() -> None:
    """Run the agent on the first problem and print the metric."""
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(__file__)
    orchestrator.init_problem("on_call-localization-1")
    orchestrator.register_agent(engineer, name="engineer")
    outcome = asyncio.run(orchestrator.start_problem(max_steps=5))
    for turn in outcome["history"]:
        print(turn["content"])
    print(f"people asked: {outcome['results']['people_asked']}")
    print(f"success: {outcome['results']['success']}")


if __name__ == "__main__":
    main()
