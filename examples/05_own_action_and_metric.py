"""A problem that offers an action of its own and measures something of its own.

    python examples/05_own_action_and_metric.py
    aiopslab play on_call-localization-1 --load examples/05_own_action_and_metric.py

docs/actions.md tells what actions keep to, docs/evaluation.md what a metric may look at.
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
    """The usual actions and one more. Its docstring is what agents are told of it."""

    @action
    def get_owner(self, component: str) -> str:
        """Tells who looks after a component.

        Args:
            component (str): Its name, for example "geo".

        Returns:
            str: The name of a team.
        """
        try:
            return self.environment.app.component(component).owner
        except KeyError:
            raise ActionFailed(
                f"There is no component {component!r}. The problem's description lists them."
            ) from None


def people_asked(task: Task, session: Session) -> dict[str, int]:
    """How many components' owners the agent asked for; it stands in the results, and in the record."""
    return {"people_asked": len({str(step.args) for step in session.steps if step.api_name == "get_owner"})}


class WhoIsToBeCalled(LocalizationTask):
    """The usual question, with more at hand and more looked at."""

    actions = OnCallActions
    offered = (*DEFAULT, "get_owner")
    metrics = (people_asked,)


FAMILY = Family("on_call", HotelReservation, (ScalePodZero("geo"), ScalePodZero("rate")), (WhoIsToBeCalled,))
"""Its problems are ``on_call-localization-1`` and ``on_call-localization-2``."""


def engineer(state: str) -> str:
    """An agent: find what has no pods, ask whose it is, and name it."""
    if "first action" in state:
        return 'exec_shell("kubectl -n test-hotel-reservation get deployments --no-headers | grep 0/0")'
    if "0/0" in state:
        return f'get_owner("{state.split(maxsplit=1)[0]}")'
    return 'submit(["geo"])'


def main() -> None:
    """Pose the first problem, and print what was measured."""
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(__file__)
    orchestrator.init_problem("on_call-localization-1")
    orchestrator.register_agent(engineer, name="engineer")
    told = asyncio.run(orchestrator.start_problem(max_steps=5))
    for turn in told["history"]:
        print(turn["content"])
    print(f"people asked: {told['results']['people_asked']}")
    print(f"success: {told['results']['success']}")


if __name__ == "__main__":
    main()
