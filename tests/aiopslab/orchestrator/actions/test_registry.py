"""What is made from a signature and a docstring: documentation, schema, and the reading of arguments."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from aiopslab.orchestrator.actions import Action, ActionSet, action
from aiopslab.orchestrator.actions.registry import find_actions
from aiopslab.utils.status import AIOpsLabError, InvalidActionError
from simcloud.sim import SimulationError


class Kitchen:
    """A little world of its own: actions need no cloud to be read."""

    def __init__(self) -> None:
        self.pots = 3

    @action
    def cook(
        self,
        dish: str,
        minutes: int = 5,
        heat: float = 0.5,
        level: Literal["low", "high"] = "low",
        herbs: list[str] | None = None,
        covered: bool = False,
    ) -> str:
        """Cooks a dish.

        Args:
            dish (str): What to cook, for example
                "soup".
            minutes (int): How long.

        Returns:
            str: What became of it.
        """
        return repr((dish, minutes, heat, level, herbs, covered))

    @action
    def burn(self) -> str:
        """Burns the dish."""
        raise KeyError("/home/cook/secret.py")

    @action
    def refuse(self) -> str:
        """Refuses in words of its own."""
        raise AIOpsLabError("There is no gas. Pay the bill.")

    @action
    def collapse(self) -> str:
        """Ends the world."""
        raise SimulationError("the roof fell in")

    @action
    def flood(self, size: int = 1_000_000) -> str:
        """Says far too much."""
        return "x" * size

    def _hidden(self) -> str:
        """Not for others."""
        return ""

    def unspoken(self) -> str:  # without a docstring it is no action
        return ""


class Own(Kitchen):
    """As users write them: documented, not marked; the papers leave even ``self`` away."""

    def wash(self, times: int = 1) -> int:
        """Washes the pots."""
        return self.pots * times

    def clock(ns: str, duration: int = 5) -> str:  # noqa: N805 (written as in the papers, without self)
        """
        Tells the time.
            Args:
                ns (str): Where.
        """
        return f"{ns} {duration}"

    @staticmethod
    def bell() -> str:
        """Rings."""
        return "ding"

    def cook(self, dish: str) -> str:
        """Cooks it its own way."""
        return f"my {dish}"


ALL = ("cook", "burn", "refuse", "collapse", "flood")


@pytest.fixture
def kitchen() -> ActionSet:
    return ActionSet(Kitchen(), ALL)


def test_documentation_is_signature_and_docstring(kitchen: ActionSet) -> None:
    told = kitchen.docs["cook"]
    first = told.splitlines()[0]
    assert first.startswith(
        "cook(dish: str, minutes: int = 5, heat: float = 0.5, level: 'low' | 'high' = 'low'"
    )
    assert first.endswith("-> str")
    assert "    dish (str): What to cook" in told
    assert list(kitchen.docs) == list(ALL)


def test_schema_says_types_defaults_and_meanings(kitchen: ActionSet) -> None:
    schema = kitchen.schemas["cook"]
    assert schema["required"] == ["dish"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["dish"] == {
        "type": "string",
        "description": 'What to cook, for example "soup".',
    }
    assert schema["properties"]["minutes"] == {"type": "integer", "description": "How long.", "default": 5}
    assert schema["properties"]["level"] == {"enum": ["low", "high"], "default": "low"}
    assert schema["properties"]["herbs"]["anyOf"] == [
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"},
    ]


@pytest.mark.parametrize(
    ("args", "kwargs", "read"),
    [
        (["soup"], {}, ("soup", 5, 0.5, "low", None, False)),
        (["soup", "7", 1, "HIGH", ["salt"], "true"], {}, ("soup", 7, 1.0, "high", ["salt"], True)),
        ([], {"dish": 3, "minutes": 7.0, "heat": "2"}, ("3", 7, 2.0, "low", None, False)),
        (["soup"], {"herbs": None, "covered": "False"}, ("soup", 5, 0.5, "low", None, False)),
    ],
)
def test_harmless_differences_of_type_are_taken(
    kitchen: ActionSet, args: list[Any], kwargs: dict[str, Any], read: tuple[Any, ...]
) -> None:
    assert kitchen.perform("cook", args, kwargs) == repr(read)


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        ([], {}, "cook needs 'dish'."),
        (["soup"], {"minuts": 5}, "cook has no argument 'minuts'; did you mean 'minutes'?"),
        (["soup"], {"dish": "soup"}, "cook was given 'dish' twice."),
        ([1, 2, 3, 4, 5, 6, 7], {}, "cook takes at most 6, and 7 were given."),
        (["soup", "long"], {}, "cook needs a whole number for 'minutes', not 'long'."),
        (["soup", 2.5], {}, "cook needs a whole number for 'minutes', not 2.5."),
        (["soup", True], {}, "cook needs a whole number for 'minutes', not True."),
        (["soup", "9" * 400], {}, "cook needs a whole number for 'minutes', not '999"),
        (["soup", None], {}, "cook needs a whole number for 'minutes', not None."),
        ([["soup"]], {}, "cook needs a text for 'dish', not ['soup']."),
        (["soup"], {"level": "top"}, "cook needs one of 'low', 'high' for 'level', not 'top'."),
        (["soup"], {"herbs": "salt"}, "cook needs a list or None for 'herbs', not 'salt'."),
        (["soup"], {"heat": float("nan")}, "cook needs a number for 'heat', not nan."),
    ],
)
def test_wrong_arguments_are_told_with_the_signature(
    kitchen: ActionSet, args: list[Any], kwargs: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidActionError) as error:
        kitchen.perform("cook", args, kwargs)
    assert str(error.value).startswith(told)
    assert "Call it as cook(dish: str, minutes: int = 5" in str(error.value)


def test_an_unknown_action_names_the_nearest(kitchen: ActionSet) -> None:
    with pytest.raises(InvalidActionError, match=r"There is no action 'cok'. Did you mean cook"):
        kitchen.perform("cok")
    with pytest.raises(InvalidActionError, match=r"Available actions: cook, burn.*, submit\."):
        kitchen.perform("")


def test_only_what_is_offered_can_be_done() -> None:
    with pytest.raises(InvalidActionError, match="There is no action 'burn'"):
        ActionSet(Kitchen(), ("cook",)).perform("burn")


@pytest.mark.parametrize("name", ["cok", "_hidden", "unspoken", "__init__"])
def test_an_author_who_offers_what_there_is_not_is_told(name: str) -> None:
    with pytest.raises(ValueError, match=f"Kitchen has no action '{name}'"):
        ActionSet(Kitchen(), (name,))


def test_an_action_needs_a_docstring() -> None:
    with pytest.raises(TypeError, match="needs a docstring"):
        action(Kitchen.unspoken)


def test_a_mishap_inside_shows_nothing_of_the_host(kitchen: ActionSet) -> None:
    told = kitchen.perform("burn")
    assert told.startswith("Internal error in burn; your call was valid.")
    assert "KeyError" not in told and "/home" not in told and "Traceback" not in told


def test_an_action_may_refuse_in_its_own_words(kitchen: ActionSet) -> None:
    assert kitchen.perform("refuse") == "There is no gas. Pay the bill."


def test_a_defect_of_the_world_is_no_observation(kitchen: ActionSet) -> None:
    with pytest.raises(SimulationError):
        kitchen.perform("collapse")


def test_no_observation_is_longer_than_the_bound(kitchen: ActionSet) -> None:
    told = kitchen.perform("flood")
    assert len(told.encode()) < 41_000
    assert "of 1000000 bytes omitted" in told


def test_a_users_own_actions_need_no_mark() -> None:
    own = ActionSet(Own(), ("wash", "clock", "bell", "cook"))
    assert own.docs["clock"].startswith("clock(ns: str, duration: int = 5) -> str\nTells the time.")
    assert own.perform("wash", ["2"]) == "6"
    assert own.perform("clock", [], {"ns": "here"}) == "here 5"
    assert own.perform("bell") == "ding"
    assert own.perform("cook", ["soup"]) == "my soup"
    assert set(find_actions(Own())) == {*ALL, "wash", "clock", "bell"}


def test_any_documented_function_can_be_read() -> None:
    def submit(has_anomaly: str) -> str:
        """Submits the answer."""
        return has_anomaly

    read = Action.of(submit)
    assert read.documentation == "submit(has_anomaly: str) -> str\nSubmits the answer."
    assert read.bind_arguments([], {"has_anomaly": "Yes"}) == {"has_anomaly": "Yes"}
