"""Agents in processes of their own, by the value of ``--agent``.

    name, agent = make_process("my_agent.py:Careful", env=["OPENAI_API_KEY"])
    orchestrator.register_agent(agent, name)

This is how ``aiopslab run`` runs every agent, in Python or not, and how every program should that compares agents: the process
holds no world, no answer and no judge. ``find_agent`` creates an agent in the calling process instead.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from aiopslab.agents.lookup import COMMAND, NoSuchAgent, parse_command
from aiopslab.orchestrator import Limits
from aiopslab.orchestrator.models import open_model

if TYPE_CHECKING:
    from aiopslab.orchestrator import Nursery, NurseryLink, SubprocessAgent

_BOOT: Final = "import os, sys; sys.path[:] = sys.argv.pop(1).split(os.pathsep); from aiopslab.agents.{} import main; main()"
_MODEL_VARIABLES: Final = re.compile(r"[A-Z0-9_]+_(API_KEY|BASE_URL)")
"""Environment variables that agents in Python get without being named: they are read by clients of language models."""
_DEFAULT_ENDPOINTS: Final = {
    "OPENAI_API_KEY": "api.openai.com:443",
    "ANTHROPIC_API_KEY": "api.anthropic.com:443",
}
_PORTS: Final = {"http": 80, "https": 443}


def make_process(
    spec: str,
    model: str | None = None,
    env: Sequence[str] = (),
    *,
    limits: Limits = Limits(),  # noqa: B008 (a tuple)
    isolate: bool = False,
    hidden: Sequence[Path] = (),
    endpoints: Sequence[str] = (),
    nursery: NurseryLink | None = None,
) -> tuple[str, SubprocessAgent]:
    """Return a name and an agent in a process of its own, which starts with its session; raises ``NoSuchAgent``.

    ``env`` names further environment variables that it gets. With ``isolate``, it runs in namespaces of its own, does not see the
    ``hidden`` folders, and reaches the network only at the ``endpoints`` (``HOST:PORT``) and those of its models. A ``nursery`` starts
    it faster.
    """
    from aiopslab.orchestrator import Isolation, SubprocessAgent  # the agent's own process does not need them

    if missing := [name for name in env if name not in os.environ]:
        raise NoSuchAgent(
            f"The environment variable {missing[0]} is not set. Set it first: export {missing[0]}=…"
        )
    variables = {name: os.environ[name] for name in env}
    reachable = [_parse_endpoint(endpoint) for endpoint in endpoints]
    if is_program := spec.startswith(COMMAND):
        if model is not None:
            raise NoSuchAgent("A command takes no model. Leave out --model, or pass it in the command.")
        argv = parse_command(spec.removeprefix(COMMAND))
        name = Path(argv[0]).name
    else:
        variables |= {key: value for key, value in os.environ.items() if _MODEL_VARIABLES.fullmatch(key)}
        needed = ["PYTHONPATH", "VIRTUAL_ENV"]
        if model is not None:
            opened = open_model(model)
            needed += opened.variables
            reachable.append(opened.address)
        variables |= {key: os.environ[key] for key in needed if key in os.environ}
        argv = [*_build_command("host"), spec, model or ""]
        name = spec.partition(":")[2].rpartition("/")[2] or spec
    isolation = None
    if isolate:
        reachable += _find_model_endpoints(variables)
        isolation = Isolation(
            tuple(str(path.absolute()) for path in hidden), _find_own_paths(argv, spec), tuple(reachable)
        )
    agent = SubprocessAgent(
        argv, variables, limits=limits, isolation=isolation, announces=not is_program, nursery=nursery
    )
    return name, agent


def start_nursery() -> Nursery | None:
    """Start a process that forks agents, before there is any world; it ends with this process. None where the kernel cannot protect it."""
    from aiopslab.orchestrator import Nursery, get_basic_variables

    if not Nursery.is_supported():
        return None
    return Nursery(_build_command("nursery"), get_basic_variables())


def _build_command(module: str) -> list[str]:
    """Return the command that runs a module of this package in a new interpreter with the same path."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return [sys.executable, "-c", _BOOT.format(module), path]


def _parse_endpoint(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise NoSuchAgent(f"An endpoint is written as HOST:PORT, not '{text}'.")
    return text


def _find_model_endpoints(variables: dict[str, str]) -> list[str]:
    """Return the addresses of the models that the variables name."""
    found = []
    for name, value in variables.items():
        if name.endswith("_BASE_URL"):
            parts = urlsplit(value)
            found.append(f"{parts.hostname}:{parts.port or _PORTS.get(parts.scheme, 443)}")
        elif name in _DEFAULT_ENDPOINTS and name.replace("_API_KEY", "_BASE_URL") not in variables:
            found.append(_DEFAULT_ENDPOINTS[name])
    return found


def _find_own_paths(argv: Sequence[str], spec: str) -> tuple[str, ...]:
    """Return what the agent needs of the file system wherever it is: its folder, its files, and Python's."""
    words = [*argv, *spec.split(":")]
    files = [Path(word).absolute() for word in words if word and len(word) < 4096 and Path(word).exists()]
    folders = [file.parent if file.is_file() else file for file in files]
    paths = (Path.cwd(), *folders, *files, *map(Path, sys.path), Path(sys.prefix), Path(sys.base_prefix))
    ordered = sorted({str(path) for path in paths if path.is_absolute()}, key=len)
    return tuple(path for path in ordered if path not in ("/", "/tmp", "/var/tmp", "/dev/shm", "/run"))
