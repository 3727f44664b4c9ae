"""The current cloud: what code acts on that is not given a cloud, as all code for the public AIOpsLab release.

While a problem is staged, the author's code acts on its cloud. Afterwards the current cloud is the one that was prepared last
in this process. Only a weak reference is kept, so that a cloud ends with the session or the application that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import ref

from aiopslab.utils import AIOpsLabError

if TYPE_CHECKING:
    from simcloud.machine.process import Completed


class Cloud(Protocol):
    """What these clients need of a cloud; ``Site`` implements it."""

    app: Any

    def attempt(self, line: str, timeout_s: float = ...) -> Completed:
        """Run a line on the operators' host, and return how it ended."""

    def put_file(self, path: str, data: bytes) -> None:
        """Write a file on the operators' host."""

    def run_in_session(self, line: str, timeout_s: float = ...) -> Completed:
        """Run a line on the agent's host, and return how it ended."""


class NoCloud(AIOpsLabError):
    """There is no cloud to act on."""

    def __init__(self, caller: str) -> None:
        super().__init__(
            f"{caller} has no cloud to act on. Call it in a problem's start_workload, inject_fault or recover_fault, which the "
            "orchestrator calls at the right time, after Orchestrator().init_problem(ID) or an application's deploy(), or within "
            "'with at_site(environment):'."
        )


_AUTHORS: Final[ContextVar[Cloud | None]] = ContextVar("cloud", default=None)
"""The cloud of the problem that is being staged, whose author's code runs now."""
_LATEST: list[ref[Any]] = []
"""The cloud that was prepared last."""


@contextmanager
def at_cloud(cloud: Cloud) -> Iterator[None]:
    """Make a cloud the current one inside the ``with`` block, for the code of a problem's author."""
    token = _AUTHORS.set(cloud)
    try:
        yield
    finally:
        _AUTHORS.reset(token)


def make_current(cloud: Cloud) -> None:
    """Make a cloud the current one of this process, as long as it exists."""
    _LATEST[:] = [ref(cloud)]


def find_cloud() -> Any:
    """Return the current cloud, or None."""
    return _AUTHORS.get() or (_LATEST[0]() if _LATEST else None)


def get_cloud(caller: str) -> Any:
    """Return the current cloud; raises ``NoCloud`` with the caller's name."""
    cloud = find_cloud()
    if cloud is None:
        raise NoCloud(caller)
    return cloud


def is_author() -> bool:
    """Whether the code of a problem's author runs now, which may read files of this host; an agent's may not."""
    return _AUTHORS.get() is not None


def open_cloud(app: Any) -> Any:
    """Return a new cloud with an application, as the current one. Rooms below the cloud name it, and cannot import it."""
    environment = import_module("aiopslab.cloud").Environment(app)
    environment.open()
    make_current(environment)
    return environment
