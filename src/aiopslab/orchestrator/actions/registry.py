"""What an action is: a documented, typed function that somebody may be offered.

Its signature and its docstring (Google's style) are all there is to say of it: the text that an agent reads, the JSON
schema that tool calling and protocols need, and how arguments are read are made from them, and so cannot disagree.
Whoever calls with wrong arguments is told in a sentence what was expected. Nothing here runs an action.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import FunctionType
from typing import Any, Final, TypeVar, get_type_hints

from aiopslab.orchestrator.actions.arguments import NotOfType, quoted, read_value, schema_of, type_name
from aiopslab.orchestrator.actions.docstrings import Documented, documented
from aiopslab.utils.status import InvalidActionError

F = TypeVar("F", bound=Callable[..., Any])
MARK: Final = "is_action"
MOST_NEAR: Final = 3
LONGEST_NAME: Final = 100


def action(method: F) -> F:
    """Mark a method as an action. It must have a docstring and types: they are what the agent is told."""
    if not (method.__doc__ or "").strip():
        raise TypeError(
            f"{method.__qualname__} needs a docstring to be an action: it is what the agent is told."
        )
    setattr(method, MARK, True)
    return method


@dataclass(frozen=True)
class Parameter:
    """One argument of an action."""

    name: str
    type: Any
    default: Any
    description: str

    @property
    def is_required(self) -> bool:
        """Whether a call must give it."""
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        told = f"{self.name}: {type_name(self.type)}"
        return told if self.is_required else f"{told} = {self.default!r}"


@dataclass(frozen=True)
class Action:
    """A function with what is known of it. ``Action.of(method)`` reads a bound method, of any class."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    documented: Documented
    returns: Any

    @staticmethod
    def of(function: Callable[..., Any], name: str = "") -> Action:
        """Read a function's signature and docstring."""
        told = documented(inspect.getdoc(function) or "")
        hints = _types(function)
        parameters = tuple(
            Parameter(one.name, hints.get(one.name, Any), one.default, told.arguments.get(one.name, ""))
            for one in inspect.signature(function).parameters.values()
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        )
        found = name or getattr(function, "__name__", "action")
        return Action(found, function, parameters, told, hints.get("return", Any))

    @property
    def signature(self) -> str:
        """How it is called."""
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def documentation(self) -> str:
        """What an agent is told of it."""
        result = "" if self.returns in (Any, None, type(None)) else f" -> {type_name(self.returns)}"
        return f"{self.signature}{result}\n{self.documented.text}".rstrip()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        properties = {}
        for one in self.parameters:
            told = schema_of(one.type) | ({"description": one.description} if one.description else {})
            properties[one.name] = told if one.is_required else told | {"default": one.default}
        return {
            "type": "object",
            "properties": properties,
            "required": [one.name for one in self.parameters if one.is_required],
            "additionalProperties": False,
        }

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, of the right types; ``InvalidActionError`` says what does not fit."""
        names = [one.name for one in self.parameters]
        if len(args) > len(names):
            most = "no arguments" if not names else f"at most {len(names)}"
            raise self._wrong(f"takes {most}, and {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                near = nearest(name, names)
                meant = f"; did you mean {near[0]!r}?" if near else ""
                raise self._wrong(f"has no argument {quoted(name)}{meant}")
            if name in given:
                raise self._wrong(f"was given {name!r} twice")
            given[name] = value
        missing = [one.name for one in self.parameters if one.is_required and one.name not in given]
        if missing:
            raise self._wrong(f"needs {' and '.join(map(repr, missing))}")
        return {one.name: self._read(one, given[one.name]) for one in self.parameters if one.name in given}

    def _read(self, parameter: Parameter, value: Any) -> Any:
        if value is None and parameter.default is None:
            return None
        try:
            return read_value(value, parameter.type)
        except NotOfType as error:
            raise self._wrong(f"needs {error.wanted} for {parameter.name!r}, not {error.got}") from None

    def _wrong(self, what: str) -> InvalidActionError:
        return InvalidActionError(f"{self.name} {what}. Call it as {self.signature}.")


def actions_of(owner: object) -> dict[str, Action]:
    """All actions of an object: its marked methods, and what its class documents besides, in the order written."""
    found: dict[str, Action] = {}
    for part in reversed(type(owner).__mro__):
        for name, member in vars(part).items():
            if _is_action(name, member):
                found[name] = Action.of(_callable(owner, name, member), name)
            elif name in found and not callable(member):
                del found[name]
    return found


def _is_action(name: str, member: object) -> bool:
    function = member.__func__ if isinstance(member, staticmethod) else member
    return (
        isinstance(function, FunctionType)
        and not name.startswith("_")
        and bool((function.__doc__ or "").strip())
    )


def _callable(owner: object, name: str, member: object) -> Callable[..., Any]:
    """A method as it is called. The papers write actions as functions in a class, without ``self``."""
    if isinstance(member, FunctionType):
        first = next(iter(inspect.signature(member).parameters), "")
        return member.__get__(owner) if first == "self" else member
    bound: Callable[..., Any] = getattr(owner, name)
    return bound


def _types(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return {}  # written for readers only: such arguments are taken as they come


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """The known names that look like another one, the most similar first."""
    lowered = {one.lower(): one for one in reversed(known)}
    wanted = name[:LONGEST_NAME].lower()
    near = get_close_matches(wanted, list(lowered), MOST_NEAR, 0.55)
    parts = [one for one in lowered if wanted and one not in near and (wanted in one or one in wanted)]
    return [lowered[one] for one in (*near, *parts)][:MOST_NEAR]
