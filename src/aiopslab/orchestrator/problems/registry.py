"""All problems, by id: those of this package, those of installed packages, and those of users' own files.

A module brings problems by what it defines: every ``Family``, and every task class with an ``id`` of its own. Installed
packages name such a module, or one such object, as an entry point of the group ``aiopslab.problems``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from inspect import isabstract
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Final

from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import TASKS, Task
from aiopslab.utils.loading import NoPythonFile, load_module
from aiopslab.utils.status import AIOpsLabError

GROUP: Final = "aiopslab.problems"
FOLDER: Final = "aiopslab.orchestrator.problems"
TYPES: Final = tuple(task.task_type for task in TASKS)
SUGGESTED: Final = 3


class UnknownProblem(AIOpsLabError):
    """An id that no problem has; the sentence has the nearest ones."""

    def __init__(self, pid: str, known: list[str]) -> None:
        near = get_close_matches(pid, known, SUGGESTED, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "List them all: aiopslab list"
        super().__init__(f"There is no problem '{pid}'. {hint}")


class CannotLoad(AIOpsLabError):
    """A file or package with problems cannot be used; the sentence says why."""


@dataclass(frozen=True)
class Entry:
    """One problem, not yet made."""

    task_type: str
    make: Callable[[], Task]


class ProblemRegistry:
    """Finds problems and makes them. Every problem that it hands out is a new one."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self.loaded: list[Path] = []
        """The files that were loaded; another process must load them, too, to know the same problems."""
        folder = import_module(FOLDER)
        for found in sorted(iter_modules(folder.__path__), key=lambda one: one.name):
            self._add(import_module(f"{FOLDER}.{found.name}"))
        for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
            try:
                self._add(point.load())
            except Exception as error:  # a stranger's package must not keep the others' problems from running
                warnings.warn(f"The problems of '{point.value}' cannot be used: {_told(error)}", stacklevel=2)

    def get_problem_ids(self, task_type: str | None = None) -> list[str]:
        """The ids of all problems, or of those of one type of task. Raises ``ValueError`` for an unknown type."""
        if task_type is not None and task_type not in TYPES:
            raise ValueError(f"There is no task '{task_type}'. Choose one of: {', '.join(TYPES)}.")
        return [pid for pid, one in self._entries.items() if task_type in (None, one.task_type)]

    def get_problem_count(self, task_type: str | None = None) -> int:
        """How many problems there are, or how many of one type of task."""
        return len(self.get_problem_ids(task_type))

    @property
    def PROBLEM_REGISTRY(self) -> Mapping[str, Callable[[], Task]]:  # noqa: N802 (the public release's name)
        """Of each problem how it is made, by id: for scripts that go through them all. ``load`` adds to it."""
        return MappingProxyType({pid: one.make for pid, one in self._entries.items()})

    def get_problem(self, pid: str) -> Task:
        """A new instance of a problem; raises ``UnknownProblem``."""
        entry = self._entries.get(pid)
        if entry is None:
            raise UnknownProblem(pid, list(self._entries))
        return entry.make()

    get_problem_instance = get_problem
    """The public release's name."""

    def load(self, path: str | Path) -> list[str]:
        """Take in the problems of a Python file, and return their ids. Raises ``CannotLoad``."""
        file = Path(path)
        if not file.is_file():
            raise CannotLoad(f"There is no file '{path}' to load problems from.")
        try:
            ids = self._add(_module(file))
        except Exception as error:
            raise CannotLoad(f"'{path}' cannot be loaded: {_told(error)}") from error
        if not ids:
            raise CannotLoad(
                f"'{path}' has no problems. Define a class that extends one of the tasks and has an id "
                '(id = "my_family-localization-1"), or a Family.'
            )
        self.loaded.append(file)
        return ids

    def _add(self, found: object) -> list[str]:
        """Take in what a module, a family or a class brings; all of it or nothing."""
        new: dict[str, Entry] = {}
        for pid, entry in _entries(found):
            if pid in self._entries or pid in new:
                raise CannotLoad(f"there is a problem '{pid}' already. Choose another id.")
            new[pid] = entry
        self._entries.update(new)
        return list(new)


def _entries(found: object) -> Iterator[tuple[str, Entry]]:
    if isinstance(found, ModuleType):
        own = (thing for thing in vars(found).values() if _is_own(thing, found))
        for thing in own:
            yield from _entries(thing)
    elif isinstance(found, Family):
        for pid, task_type, make in found.problems():
            yield pid, Entry(task_type, make)
    elif isinstance(found, type) and issubclass(found, Task):
        yield _checked(found).id, Entry(found.task_type, found)
    else:
        raise CannotLoad("what it names is no module, no Family and no class that extends a task.")


def _checked(task: type[Task]) -> type[Task]:
    if isabstract(task):
        lacking = ", ".join(sorted(task.__abstractmethods__))
        raise CannotLoad(
            f"class {task.__name__} lacks {lacking}. Extend DetectionTask, LocalizationTask, AnalysisTask or MitigationTask."
        )
    if not task.id:
        raise CannotLoad(
            f'class {task.__name__} has no id. Give it one: id = "my_family-{task.task_type}-1".'
        )
    return task


def _is_own(thing: object, module: ModuleType) -> bool:
    """Whether a module brings a thing: a family that stands there, or a class that it defines and names."""
    if isinstance(thing, type):
        return issubclass(thing, Task) and thing.__module__ == module.__name__ and "id" in vars(thing)
    return isinstance(thing, Family)


def _module(file: Path) -> ModuleType:
    try:
        return load_module(file, "aiopslab_problems")
    except NoPythonFile as error:
        raise CannotLoad(error.message) from None


def _told(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}" if not isinstance(error, AIOpsLabError) else error.message
