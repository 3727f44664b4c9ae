"""How tests are run: the host's own ways kept out, and genuine tools asked or their recorded answers taken.

See ``tests/genuine.py`` for the recordings. The results do not depend on the machine, its load or its time zone, so a
test has one chance.
"""

from __future__ import annotations

import gc
import os
import platform
import signal
import socket
import zlib
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from scripts.commits import read_commit_number
from tests import genuine

IN_CI = os.environ.get("CI") == "true"


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all",
        action="store_true",
        help="run the slow tests, too, and those that ask genuine tools while they run",
    )
    parser.addoption(
        "--slow-share",
        type=int,
        default=1,
        metavar="N",
        help="with --all: run only one in N of the slow cases; the commit decides which, so that N landings run about all",
    )
    parser.addoption(
        "--record",
        action="store_true",
        help="ask the genuine tools, and rewrite the recordings of their answers",
    )


def pytest_configure(config: pytest.Config) -> None:
    genuine.configure(config)
    # A loaded machine is no defect; and CI gives the same answer for the same code.
    settings.register_profile(
        "aiopslab",
        max_examples=100 if config.getoption("all") else 40,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
        derandomize=IN_CI,
    )
    settings.load_profile("aiopslab")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_named = any("::" in argument for argument in config.args)
    if genuine.SESSION.is_recording:
        chosen = [item for item in items if genuine.is_recorded(item)]
    elif is_named:
        return
    else:
        chosen = leave_out(items, config.option.slow_share if config.option.all else None)
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen


def leave_out(items: list[pytest.Item], share: int | None) -> list[pytest.Item]:
    """Leave out slow tests, except one in ``share`` and as many cases as their mark keeps, evenly spread.

    Cases of a large matrix that are marked ``rarely=K`` run K times more rarely, unless all run.

    Without a share all slow cases are left out that no mark keeps, and live tests.
    """
    cases: dict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    left_out = {item for item in items if share is None and item.get_closest_marker("live")}
    turn = read_commit_number() if share is not None and share > 1 else 0
    for item in items:
        if item not in left_out and item.get_closest_marker("slow"):
            cases[item.path, item.name.partition("[")[0]].append(item)
    for slow in cases.values():
        marked = slow[0].get_closest_marker("slow").kwargs
        keep, of = marked.get("keep", 0), (share or 0) * (marked.get("rarely", 1) if share != 1 else 1)
        left_out.update(item for item in slow if not of or (zlib.crc32(item.nodeid.encode()) + turn) % of)
        left_out.difference_update(slow[index * len(slow) // keep] for index in range(keep))
    return [item for item in items if item not in left_out]


def pytest_deselected(items: list[pytest.Item]) -> None:
    if items:
        genuine.note_selection(items[0].config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    genuine.note_selection(session.config, ())
    # The collector runs in every world, and would look at 700,000 objects of the tests themselves each time.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    genuine.SESSION.item = item
    result = yield
    if genuine.SESSION.is_recording and (nextitem is None or nextitem.path != item.path):
        genuine.SESSION.write(item.path)
    return result


def pytest_runtest_setup(item: pytest.Item) -> None:
    tools = genuine.tools_of(item)
    if not genuine.is_live():
        tools = [tool for tool in tools if tool.startswith("kubectl")]
    genuine.require(tools)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if not report.passed:
        genuine.SESSION.incomplete.add(item.path)
    return report


@pytest.fixture
def hosts_own(monkeypatch: pytest.MonkeyPatch) -> str:
    """A word in all that a program can ask this machine about itself: it must not be seen inside of a world."""
    word = "hosts-own-4711"
    told = os.uname_result(("Linux", word, word, word, word))
    monkeypatch.setattr(os, "uname", lambda: told)
    monkeypatch.setattr(platform, "uname", lambda: told)
    monkeypatch.setattr(platform, "release", lambda: word)
    monkeypatch.setattr(socket, "gethostname", lambda: word)
    monkeypatch.setattr(os, "getpid", lambda: 47110815)
    for name in ("HOME", "HOSTNAME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "USER"):
        monkeypatch.setenv(name, f"/{word}/{name}")
    return word
