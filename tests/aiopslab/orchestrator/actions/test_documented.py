"""The page on actions and the actions agree."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from aiopslab.cloud.environment import Environment
from aiopslab.orchestrator.actions import DEFAULT, ActionFailed, ActionSet, TaskActions, action
from simcloud.world.copies import Copy
from tests.aiopslab.orchestrator.actions.sessions import session

PAGE = Path(__file__).parents[4] / "docs" / "actions.md"


class MyActions(TaskActions):
    """As the page writes it."""

    @action
    def get_owner(self, component: str) -> str:
        """Tells who looks after a component.

        Args:
            component (str): Its name, for example "geo".
        """
        try:
            return self.environment.app.component(component).owner
        except KeyError:
            raise ActionFailed(f"There is no component {component!r}. get_topology lists them.") from None


def signatures(environment: Environment) -> list[str]:
    """Every action as the page writes it: names and defaults."""
    return [
        f"{one.name}({', '.join(p.name if p.is_required else f'{p.name}={p.default!r}' for p in one.parameters)})".replace(
            "'", '"'
        )
        for one in session(environment).actions.values()
    ]


def asked_of_own(environment: Environment) -> list[str]:
    offered = ActionSet(MyActions(environment), (*DEFAULT, "get_owner"))
    return [*offered.docs, offered.perform("get_owner", ["geo"]), offered.perform("get_owner", ["gio"])]


def test_the_page_has_every_action_and_no_other(hotels: Copy[Environment]) -> None:
    written = re.findall(r"^\| `(\w+\(.*?\))` \|", PAGE.read_text(), re.MULTILINE)
    with hotels.branch() as episode:
        assert sorted(written) == sorted(episode.call(signatures))


def test_a_users_own_actions_join_the_default_ones(hotels: Copy[Environment]) -> None:
    with hotels.branch() as episode:
        *names, owner, sentence = episode.call(asked_of_own)
    assert names == [*DEFAULT, "get_owner"]
    assert owner == "search-team"
    assert sentence == "There is no component 'gio'. get_topology lists them."


def test_every_argument_of_every_action_is_explained(hotels: Copy[Environment]) -> None:
    with hotels.branch() as episode:
        schemas = episode.call(schemas_of)
    for name, schema in schemas.items():
        for argument, told in schema["properties"].items():
            assert told.get("description") and told.get("type"), (name, argument)


def schemas_of(environment: Environment) -> dict[str, dict[str, Any]]:
    return session(environment).schemas
