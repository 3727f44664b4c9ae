"""What agents are told: their situation, and how to answer. Never a word about what is wrong."""

from __future__ import annotations

from typing import Final

from aiopslab.apps.base import Application
from simcloud.world.policies import ADMIN, OPERATOR, READ_ONLY, Policy

RIGHTS: Final = {
    ADMIN.name: "Your rights: all of them in the cluster, and root on its nodes (ssh NODE).",
    OPERATOR.name: "Your rights: those of an operator, who may change applications, and root on the nodes (ssh NODE).",
    READ_ONLY.name: "Your rights: you may look at everything and change nothing.",
}


def description(app: Application, goal: str, policy: Policy) -> str:
    """The situation: the application, where it runs, who uses it, what the agent may do, and what is asked."""
    journeys = ", ".join(journey.name for journey in app.journeys)
    components = ", ".join(component.name for component in app.components)
    return (
        f"You are on call for {app.name}, a microservice application on Kubernetes. {app.about}".rstrip()
        + "\n\n"
        f"Namespace: {app.namespace}\n"
        f"Front door: Service {app.front_door.service}, port {app.front_door.port}; users outside the cluster reach it at "
        f"{app.frontend_url}\n"
        f"What users do, all the time: {journeys}\n"
        f"Components, each a Deployment of that name: {components}\n"
        f"{RIGHTS[policy.name]}\n\n"
        f"Your task: {goal}\n"
    )


def instructions(example: str) -> str:
    """The rules of the interface."""
    return (
        "Work step by step. Each of your answers holds exactly one call of one action, in a fenced block of its own; you may "
        "write your thoughts around it. For example:\n\n"
        '```\nexec_shell("kubectl get namespaces")\n```\n\n'
        "You are then told what came of it. An action that fails, or that cannot be read, costs a step and says what to do "
        "instead.\n"
        "Commands end by themselves: do not open editors or anything that waits for a person.\n"
        "When you are done, submit. That ends the session:\n\n"
        f"```\n{example}\n```\n"
    )
