"""Actions: documented, typed functions that a session may offer to an agent.

The signature and the docstring (Google's style) are the only source: the text for the agent, the JSON schema for tool
calling and other protocols, and the conversion of arguments are derived from them, so that they cannot disagree. A call
with wrong arguments raises an error that says what was expected. This module does not run actions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import FunctionType
from typing import Any, Final, TypeVar, get_type_hints

from aiopslab.orchestrator.actions.arguments import NotOfType, build_schema, convert, format_type, quote
from aiopslab.orchestrator.actions.docstrings import Docstring, parse_docstring
from aiopslab.utils import InvalidActionError

F = TypeVar("F", bound=Callable[..., Any])
MARK: Final = "is_action"
MAX_SIMILAR: Final = 3
MAX_NAME_CHARS: Final = 100


def action(method: F) -> F:
    """Mark a method as an action. It needs a docstring and types, which are the agent's documentation."""
    if not (method.__doc__ or "").strip():
        raise TypeError(
            f"{method.__qualname__} needs a docstring to be an action: it is the agent's documentation."
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
        """Whether a call must pass it."""
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        text = f"{self.name}: {format_type(self.type)}"
        return text if self.is_required else f"{text} = {self.default!r}"


@dataclass(frozen=True)
class Action:
    """A function with its signature and documentation. ``Action.of(method)`` reads a bound method of any class."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    docstring: Docstring
    returns: Any

    @staticmethod
    def of(function: Callable[..., Any], name: str = "") -> Action:
        """Return the action of a function, from its signature and docstring."""
        docstring = parse_docstring(inspect.getdoc(function) or "")
        hints = _get_types(function)
        parameters = tuple(
            Parameter(
                parameter.name,
                hints.get(parameter.name, Any),
                parameter.default,
                docstring.arguments.get(parameter.name, ""),
            )
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        )
        name = name or getattr(function, "__name__", "action")
        return Action(name, function, parameters, docstring, hints.get("return", Any))

    @property
    def signature(self) -> str:
        """The call's signature."""
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def documentation(self) -> str:
        """The text for the agent."""
        result = "" if self.returns in (Any, None, type(None)) else f" -> {format_type(self.returns)}"
        return f"{self.signature}{result}\n{self.docstring.text}".rstrip()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        properties = {}
        for parameter in self.parameters:
            schema = build_schema(parameter.type)
            if parameter.description:
                schema["description"] = parameter.description
            if not parameter.is_required:
                schema["default"] = parameter.default
            properties[parameter.name] = schema
        return {
            "type": "object",
            "properties": properties,
            "required": [parameter.name for parameter in self.parameters if parameter.is_required],
            "additionalProperties": False,
        }

    def bind_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name, converted to their types; raises ``InvalidActionError``."""
        names = [parameter.name for parameter in self.parameters]
        if len(args) > len(names):
            limit = "no arguments" if not names else f"at most {len(names)}"
            raise self._make_error(f"takes {limit}, and {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                similar = find_similar(name, names)
                suggestion = f"; did you mean {similar[0]!r}?" if similar else ""
                raise self._make_error(f"has no argument {quote(name)}{suggestion}")
            if name in given:
                raise self._make_error(f"was given {name!r} twice")
            given[name] = value
        missing = [
            parameter.name
            for parameter in self.parameters
            if parameter.is_required and parameter.name not in given
        ]
        if missing:
            raise self._make_error(f"needs {' and '.join(map(repr, missing))}")
        return {
            parameter.name: self._convert(parameter, given[parameter.name])
            for parameter in self.parameters
            if parameter.name in given
        }

    def _convert(self, parameter: Parameter, value: Any) -> Any:
        if value is None and parameter.default is None:
            return None
        try:
            return convert(value, parameter.type)
        except NotOfType as error:
            raise self._make_error(f"needs {error.wanted} for {parameter.name!r}, not {error.got}") from None

    def _make_error(self, what: str) -> InvalidActionError:
        return InvalidActionError(f"{self.name} {what}. Call it as {self.signature}.")


def find_actions(owner: object) -> dict[str, Action]:
    """Return all actions of an object, its public methods with a docstring, in the order written."""
    found: dict[str, Action] = {}
    for part in reversed(type(owner).__mro__):
        for name, member in vars(part).items():
            if _is_action(name, member):
                found[name] = Action.of(_bind(owner, name, member), name)
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


def _bind(owner: object, name: str, member: object) -> Callable[..., Any]:
    """Return a bound method. The papers write actions as functions in a class, without ``self``."""
    if isinstance(member, FunctionType):
        first = next(iter(inspect.signature(member).parameters), "")
        return member.__get__(owner) if first == "self" else member
    bound: Callable[..., Any] = getattr(owner, name)
    return bound


def _get_types(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError):
        return {}  # annotations that cannot be resolved: such arguments are passed unchanged


def find_similar(name: str, known: Sequence[str]) -> list[str]:
    """Return the known names that are similar to a name, the most similar first."""
    originals = {other.lower(): other for other in reversed(known)}
    wanted = name[:MAX_NAME_CHARS].lower()
    close = get_close_matches(wanted, list(originals), MAX_SIMILAR, 0.55)
    parts = [
        other for other in originals if wanted and other not in close and (wanted in other or other in wanted)
    ]
    return [originals[other] for other in (*close, *parts)][:MAX_SIMILAR]
