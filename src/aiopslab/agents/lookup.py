"""Turn the value of ``--agent`` into an agent.

The value is a registered name (``noop``, ``scripted:actions.txt``), a class, function or object of a module or a file
(``my_package.agents:Careful``, ``careful.py:Careful``), or a command that speaks JSON lines (``cmd:./my-agent --fast``).
Errors in a user's module are reported as one sentence that names the module.
"""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from importlib import import_module
from inspect import Parameter, isclass, signature
from pathlib import Path
from shutil import which
from types import ModuleType
from typing import Any, Final

from aiopslab.agents.registry import list_aliases, load_agents, resolve_alias
from aiopslab.utils import AIOpsLabError, load_module

COMMAND: Final = "cmd:"


class NoSuchAgent(AIOpsLabError):
    """The value of ``--agent`` names no usable agent; the message says what to write instead."""


def find_agent(spec: str, model: str | None = None) -> tuple[str, Any]:
    """Return a name for the records and a new agent in this process; raises ``NoSuchAgent``.

    ``make_process`` returns an agent in a process of its own.
    """
    if spec.startswith(COMMAND):
        from aiopslab.orchestrator import SubprocessAgent  # loads asyncio, which few agents need

        argv = parse_command(spec.removeprefix(COMMAND))
        return Path(argv[0]).name, SubprocessAgent(argv)
    factories = load_agents()
    name, _, argument = spec.partition(":")
    name = name if name in factories else resolve_alias(name)
    if name in factories:
        return name, _create(factories[name], name, model, argument)
    if not argument:
        raise NoSuchAgent(_describe_unknown(spec, list(factories)))
    found = _get_attribute(_import(name), name, argument)
    agent = _create(found, spec, model) if isclass(found) else found
    if not (callable(agent) or hasattr(agent, "get_action")):
        raise NoSuchAgent(f"{spec} is not an agent: it has no get_action(state) and cannot be called.")
    return argument, agent


def takes_model(spec: str) -> bool:
    """Return whether an agent may be given a model. That of a file or module is not known before it is created, so it may."""
    if spec.startswith(COMMAND):
        return False
    factories = load_agents()
    name = spec.partition(":")[0]
    factory = factories.get(name) or factories.get(resolve_alias(name))
    return factory is None or "model" in signature(factory).parameters


def _describe_unknown(spec: str, names: list[str]) -> str:
    aliases = [alias for name in names for alias in list_aliases(name)]
    near = get_close_matches(spec, [*names, *aliases], 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return (
        f"There is no agent '{spec}'.{hint} Known agents: {', '.join(names)}. Name your own as FILE.py:Name, "
        "MODULE:Name, or 'cmd:COMMAND'."
    )


def parse_command(line: str) -> list[str]:
    """Return the words of a command; raises ``NoSuchAgent`` if there are none or the program does not exist."""
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise NoSuchAgent(f"The command '{line}' cannot be parsed: {error}.") from None
    if not argv:
        raise NoSuchAgent("There is no command after 'cmd:'. Write it as --agent \"cmd:./my-agent --fast\".")
    if which(argv[0]) is None:
        raise NoSuchAgent(
            f"There is no program '{argv[0]}'. Check the command, and that the file is executable."
        )
    return argv


def _import(name: str) -> ModuleType:
    try:
        return _import_file(Path(name)) if name.endswith(".py") else import_module(name)
    except NoSuchAgent:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise NoSuchAgent(f"{name} cannot be loaded: {reason}.") from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise NoSuchAgent(f"There is no file {path}.")
    return load_module(path, "aiopslab_agents")


def _get_attribute(module: ModuleType, module_name: str, attribute: str) -> Any:
    found = getattr(module, attribute, None)
    if found is None:
        names = [name for name in vars(module) if not name.startswith("_")]
        near = get_close_matches(attribute, names, 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise NoSuchAgent(f"{module_name} has no '{attribute}'.{hint}")
    return found


def _create(factory: Any, name: str, model: str | None, argument: str = "") -> Any:
    """Call a factory with the argument after its name, if any, and with the model if it takes one."""
    parameters = signature(factory).parameters
    if model is not None and "model" not in parameters:
        raise NoSuchAgent(f"The agent {name} takes no model. Leave out --model.")
    keywords = {"model": model} if model is not None else {}
    needed = [
        parameter.name
        for parameter in parameters.values()
        if parameter.default is Parameter.empty
        and parameter.kind
        in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        and parameter.name not in keywords
    ]
    if len(needed) > bool(argument):
        hint = "--model" if "model" in needed else f"{name}:{needed[0].upper()}"
        raise NoSuchAgent(f"The agent {name} requires '{needed[0]}'; pass it as {hint}.")
    try:
        return factory(*([argument] if argument else []), **keywords)
    except AIOpsLabError:
        raise
    except Exception as error:
        raise NoSuchAgent(
            f"The agent {name} cannot be created: {str(error) or type(error).__name__}."
        ) from error
