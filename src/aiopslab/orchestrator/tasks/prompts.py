"""The texts that an agent gets: its situation and its instructions. They never reveal what is wrong."""

from __future__ import annotations

from typing import Final

from aiopslab.apps import INGRESS, NODE_PORT, Application
from simcloud.world import ADMIN, OPERATOR, READ_ONLY, Policy

RIGHTS: Final = {
    ADMIN.name: "Your permissions: cluster administrator",
    OPERATOR.name: "Your permissions: operator, who may change applications",
    READ_ONLY.name: "Your permissions: read-only. You may look at everything and change nothing",
}


def describe(
    app: Application, goal: str, policy: Policy, entry: str = NODE_PORT, *, has_nodes: bool = True
) -> str:
    """Return the description: the application, its users, the agent's permissions, and its task.

    ``has_nodes`` says whether a policy that lets the agent log in to nodes is any use here.
    """
    nodes = ", and root on the nodes (ssh NODE)" if policy.has_ssh_key and has_nodes else ""
    journeys = ", ".join(journey.name for journey in app.journeys)
    components = ", ".join(component.name for component in app.components)
    url = app.frontend_url
    if entry == INGRESS:
        url = f"https://{app.host}, by the ingress controller in the namespace ingress-nginx"
    users = (
        f"Entry point: Service {app.front_door.service}, port {app.front_door.port}; users outside the cluster reach it at "
        f"{url}\n"
        f"User journeys, under constant load: {journeys}\n"
    )
    return (
        f"You are on call for {app.name}, a microservice application on Kubernetes. {app.about}".rstrip()
        + "\n\n"
        f"Namespace: {app.namespace}\n"
        f"{users if app.journeys else ''}"
        f"Components, each a Deployment of the same name: {components}\n"
        f"{RIGHTS[policy.name]}{nodes}.\n\n"
        f"Your task: {goal}\n"
    )


def instruct(example: str) -> str:
    """Return the instructions: how to call actions and how to submit."""
    return (
        "Work step by step. Each of your answers must contain exactly one call of one action, in a fenced block of its own; "
        "you may write your thoughts around it. For example:\n\n"
        '```\nexec_shell("kubectl get namespaces")\n```\n\n'
        "You then get its result. A call that fails or cannot be parsed costs a step, and its error message says what to do "
        "instead.\n"
        "Do not start editors or other programs that wait for input from a person.\n"
        "When you are done, submit. That ends the session:\n\n"
        f"```\n{example}\n```\n"
    )
