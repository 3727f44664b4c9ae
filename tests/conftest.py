"""Which genuine tools are here, so that differential tests compare with the right ones or say why not.

The reference is Debian 12: another release of a tool words things differently, so a test that
needs one that is missing, or of another version, is left out and the closing summary says so. In
continuous integration (``CI=true``) nothing is left out: the run ends at once.

Worlds are deterministic, so a test of ours alone has one chance. Genuine tools, sockets and terminals run by the
host's clock, with threads of their own: what differs there counts when it differs again (``SECOND_LOOKS``), and the
closing summary names what was looked at twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

IN_CI = os.environ.get("CI") == "true"

# A loaded machine is no defect; and CI gives the same answer for the same code.
settings.register_profile(
    "aiopslab",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=IN_CI,
)
settings.load_profile("aiopslab")


def take_no_notice(_number: int, _frame: object) -> None:
    """What a process does that was started to outlive the terminal (``nohup``) or in the background (``&``)."""


# A signal that is ignored stays so in all that is started from here, and no bash can trap it: traps and Control-C
# would be other ones under nohup. One that is caught, if only to take no notice of it, is as ever in our children.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else take_no_notice)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# Whom tests talk to is on this machine, at no proxy; what they read was written for no terminal.
here = "127.0.0.1,localhost"
os.environ.update(NO_PROXY=here, no_proxy=here, COLUMNS="80", LINES="25")
for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "PY_COLORS"):
    os.environ.pop(name, None)
os.umask(0o022)  # what genuine tools show of the files they make is Debian's, too

# Package: a command whose first line of output shows Debian 12's version, and what it holds.
TOOLS = {
    "bash": ("bash --version", "version 5.2"),
    "busybox": ("busybox --help", "BusyBox v1.35"),
    "coreutils": ("sort --version", "(GNU coreutils) 9.1"),
    "dash": ("dash -c pwd", "/"),
    "diffutils": ("diff --version", "(GNU diffutils) 3.8"),
    "findutils": ("find --version", "(GNU findutils) 4.9"),
    "gawk": ("gawk --version", "GNU Awk 5.2"),
    "grep": ("grep --version", "(GNU grep) 3.8"),
    "jq": ("jq --version", "jq-1.6"),
    "memcached": ("memcached --version", "memcached 1.6.18"),
    "procps": ("ps --version", "procps-ng 4.0.2"),
    "prometheus": ("prometheus --version", "version 2.42."),
    "redis": ("redis-server --version", "v=7.0."),
    "sed": ("sed --version", "(GNU sed) 4.9"),
}

# Kubernetes' own clients, fetched into the environment by scripts/get_clients.py.
CLIENTS = Path(sys.prefix) / "clients"
FETCHED = {
    "kubectl": (f"{CLIENTS}/kubectl-1.36.4 version --client", "v1.36.4"),
    "kubectl-1.37": (f"{CLIENTS}/kubectl-1.37.1 version --client", "v1.37.1"),
    "kubectl-1.20": (f"{CLIENTS}/kubectl-1.20 version --client", "v1.20.2"),
}
TOOLS |= FETCHED

# What a bare mark does not mean: other shells than the usual one, and what is no shell's helper.
BY_NAME_ONLY = {"busybox", "dash", "memcached", "prometheus", "redis", *FETCHED}

SECOND_LOOKS = 2
HOSTS_CLOCK = ("cli", "kubectl", "replay", "server")
"""The rooms of tests that talk through this machine's sockets and terminals, besides those that compare with genuine tools."""

MISSED = pytest.StashKey[dict[str, None]]()


@cache
def missing_tools() -> tuple[str, ...]:
    """The packages of ``TOOLS`` that this machine does not have in the reference version."""
    return tuple(package for package, (command, sign) in TOOLS.items() if not is_here(command, sign))


def is_here(command: str, sign: str) -> bool:
    try:
        output = subprocess.check_output(command.split(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return sign in output.decode("utf-8", "replace").partition("\n")[0]


def tools_of(item: pytest.Item) -> frozenset[str]:
    """What a test compares with: the tools its marks name; a bare mark means bash and all its helpers."""
    marks = list(item.iter_markers("differential"))
    named = frozenset(tool for mark in marks for tool in mark.args)
    unknown = named - TOOLS.keys()
    if unknown:
        raise pytest.UsageError(
            f"{item.nodeid}: no tool is known as {', '.join(sorted(unknown))}; see tests/conftest.py"
        )
    return named if named or not marks else frozenset(TOOLS) - BY_NAME_ONLY


def runs_by_the_hosts_clock(item: pytest.Item) -> bool:
    room = next(iter(item.path.relative_to(Path(__file__).parent).parts[1:]), "")
    return room in HOSTS_CLOCK or item.get_closest_marker("differential") is not None


def pytest_sessionstart() -> None:
    if IN_CI and missing_tools():
        raise pytest.UsageError(f"in CI every genuine tool must be here; {advice(missing_tools())}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = frozenset(missing_tools())
    left_out = {item: tools_of(item) & missing for item in items}
    items[:] = [item for item in items if not left_out[item]]
    config.hook.pytest_deselected(items=[item for item, tools in left_out.items() if tools])
    for item in items:
        if runs_by_the_hosts_clock(item):
            item.add_marker(pytest.mark.flaky(reruns=SECOND_LOOKS))
    missed = config.stash.setdefault(MISSED, {})
    for tools in left_out.values():
        missed.update(dict.fromkeys(sorted(tools)))
    if hasattr(config, "workeroutput"):  # one of several processes: the first one tells for all
        config.workeroutput["missed"] = list(missed)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    missed = getattr(node, "workeroutput", {}).get("missed", ())
    node.config.stash.setdefault(MISSED, {}).update(dict.fromkeys(missed))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    missed = config.stash.get(MISSED, {})
    if missed:
        terminalreporter.write_line(f"Some differential tests were left out; {advice(tuple(missed))}")


def advice(packages: tuple[str, ...]) -> str:
    """Which tools are missing and how to get them."""
    names = " ".join(packages)
    remedies = []
    if any(package in FETCHED for package in packages):
        remedies.append("python scripts/get_clients.py")
    installed = [package for package in packages if package not in FETCHED]
    if installed:
        remedies.append(f"on Debian 12, apt-get install {' '.join(installed)}")
    return f"missing, or of another version than the reference: {names}. Get them by: {'; '.join(remedies)}"
