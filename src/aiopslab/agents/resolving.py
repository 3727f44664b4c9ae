"""From what ``--agent`` says to an agent.

It is a name that is known (``idle``, ``scripted:actions.txt``), a class, function or object of a module or a file
(``my_package.agents:Careful``, ``careful.py:Careful``), or a command that speaks JSON lines (``cmd:./my-agent --fast``).
What a user's own module does wrong comes out as a sentence that names it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from inspect import Parameter, isclass, signature
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from aiopslab.agents.registry import agents
from aiopslab.orchestrator.agent import SubprocessAgent
from aiopslab.utils.loading import module_of
from aiopslab.utils.status import AIOpsLabError

COMMAND: Final = "cmd:"


class NoSuchAgent(AIOpsLabError):
    """What was named is no agent; the sentence says what is."""


def find_agent(named: str, model: str | None = None, passed: Sequence[str] = ()) -> tuple[str, Any]:
    """The agent that is meant, and a name for its records; raises ``NoSuchAgent``.

    ``passed`` names variables of our environment that a command gets, its keys for instance: it has no others of them.
    """
    if named.startswith(COMMAND):
        return _command(named.removeprefix(COMMAND), passed)
    known = agents()
    name, _, argument = named.partition(":")
    if name in known:
        return name, _made(known[name], name, model, argument)
    if not argument:
        raise NoSuchAgent(_unknown(named, list(known)))
    found = _attribute(_module(name), name, argument)
    made = _made(found, named, model) if isclass(found) else found
    if not (callable(made) or hasattr(made, "get_action")):
        raise NoSuchAgent(f"{named} is no agent: it has no get_action(state) and cannot be called.")
    return argument, made


def _unknown(named: str, known: list[str]) -> str:
    near = get_close_matches(named, known, 1)
    meant = f" Did you mean '{near[0]}'?" if near else ""
    return (
        f"There is no agent '{named}'.{meant} Known are: {', '.join(known)}. Your own is named as FILE.py:Name, "
        "MODULE:Name, or 'cmd:COMMAND'."
    )


def _command(line: str, passed: Sequence[str]) -> tuple[str, Any]:
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise NoSuchAgent(f"The command '{line}' cannot be read: {error}.") from None
    if not argv:
        raise NoSuchAgent("There is no command behind 'cmd:'. Write it as --agent \"cmd:./my-agent --fast\".")
    if missing := [name for name in passed if name not in os.environ]:
        raise NoSuchAgent(
            f"There is no variable {missing[0]} to pass on. Set it first: export {missing[0]}=…"
        )
    return Path(argv[0]).name, SubprocessAgent(argv, {name: os.environ[name] for name in passed})


def _module(name: str) -> ModuleType:
    try:
        return _from_file(Path(name)) if name.endswith(".py") else import_module(name)
    except NoSuchAgent:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise NoSuchAgent(f"{name} cannot be loaded: {told}.") from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise NoSuchAgent(f"There is no file {path}.")
    return module_of(path, "aiopslab_agents")


def _attribute(module: ModuleType, name: str, wanted: str) -> Any:
    found = getattr(module, wanted, None)
    if found is None:
        names = [one for one in vars(module) if not one.startswith("_")]
        near = get_close_matches(wanted, names, 1)
        raise NoSuchAgent(f"{name} has no '{wanted}'." + (f" Did you mean '{near[0]}'?" if near else ""))
    return found


def _made(made_by: Any, name: str, model: str | None, argument: str = "") -> Any:
    """One of a class: a word behind its name is its argument; a model goes to whoever asks for one."""
    takes = signature(made_by).parameters
    if model is not None and "model" not in takes:
        raise NoSuchAgent(f"The agent {name} takes no model. Leave out --model.")
    keywords = {"model": model} if model is not None else {}
    needed = [
        one.name
        for one in takes.values()
        if one.default is Parameter.empty
        and one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        and one.name not in keywords
    ]
    if len(needed) > bool(argument):
        hint = "--model" if "model" in needed else f"{name}:{needed[0].upper()}"
        raise NoSuchAgent(f"The agent {name} needs to know its {needed[0]}: give it by {hint}.")
    try:
        return made_by(*([argument] if argument else []), **keywords)
    except AIOpsLabError:
        raise
    except Exception as error:
        told = str(error) or type(error).__name__
        raise NoSuchAgent(f"The agent {name} cannot begin: {told}.") from error
