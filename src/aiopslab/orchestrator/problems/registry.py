"""The registry of all problems, by id: those of this package, of installed packages, and of users' own files.

The problems of a module are every ``Family`` in it, and every task class with an ``id`` that it defines. An installed
package registers such a module, or one such object, as an entry point of the group ``aiopslab.problems``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Final

from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.tasks import TASKS, Task
from aiopslab.utils import AIOpsLabError, NoPythonFile, load_extensions, load_module

GROUP: Final = "aiopslab.problems"
FOLDER: Final = "aiopslab.orchestrator.problems"
TYPES: Final = tuple(task.task_type for task in TASKS)
SUGGESTED: Final = 3


class UnknownProblem(AIOpsLabError):
    """No problem has this id; the message suggests similar ones."""

    def __init__(self, pid: str, known: list[str]) -> None:
        near = get_close_matches(pid, known, SUGGESTED, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "List all problems with: aiopslab list"
        super().__init__(f"There is no problem '{pid}'. {hint}")


class CannotLoad(AIOpsLabError):
    """A file or package with problems cannot be loaded; the message says why."""


@dataclass(frozen=True)
class Entry:
    """One problem, not yet created."""

    task_type: str
    make: Callable[[], Task]


class ProblemRegistry:
    """Finds problems by id and creates a new instance at each request."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self.loaded: list[Path] = []
        """The loaded files; another process must load them too, to have the same problems."""
        folder = import_module(FOLDER)
        for module in sorted(iter_modules(folder.__path__), key=lambda module: module.name):
            self._add(import_module(f"{FOLDER}.{module.name}"))
        for name, contributed in load_extensions(GROUP):
            try:
                self._add(contributed)
            except CannotLoad as error:  # a broken package must not hide the problems of others
                warnings.warn(f"The problems of '{name}' cannot be used: {error.message}", stacklevel=2)

    def get_problem_ids(self, task_type: str | None = None) -> list[str]:
        """Return the ids of all problems, or of one task type; raises ``ValueError`` for an unknown type."""
        if task_type is not None and task_type not in TYPES:
            raise ValueError(f"There is no task '{task_type}'. Choose one of: {', '.join(TYPES)}.")
        return [pid for pid, entry in self._entries.items() if task_type in (None, entry.task_type)]

    def get_problem_count(self, task_type: str | None = None) -> int:
        """Return the number of problems, or of those of one task type."""
        return len(self.get_problem_ids(task_type))

    @property
    def PROBLEM_REGISTRY(self) -> Mapping[str, Callable[[], Task]]:  # noqa: N802 (the public release's name)
        """Functions that create each problem, by id, for scripts that iterate over all. ``load`` adds to it."""
        return MappingProxyType({pid: entry.make for pid, entry in self._entries.items()})

    def get_problem(self, pid: str) -> Task:
        """Return a new instance of a problem; raises ``UnknownProblem``."""
        entry = self._entries.get(pid)
        if entry is None:
            raise UnknownProblem(pid, list(self._entries))
        return entry.make()

    get_problem_instance = get_problem
    """The public release's name."""

    def load(self, path: str | Path) -> list[str]:
        """Load the problems of a Python file and return their ids; raises ``CannotLoad``."""
        file = Path(path)
        if not file.is_file():
            raise CannotLoad(f"There is no file '{path}' to load problems from.")
        try:
            ids = self._add(_import_file(file))
        except Exception as error:
            raise CannotLoad(f"'{path}' cannot be loaded: {_format_error(error)}") from error
        if not ids:
            raise CannotLoad(
                f"'{path}' has no problems. Define a class that extends one of the tasks and has an id "
                '(id = "my_family-localization-1"), or a Family.'
            )
        self.loaded.append(file)
        return ids

    def _add(self, found: object) -> list[str]:
        """Add the problems of a module, a family or a class; all of them or none."""
        new: dict[str, Entry] = {}
        for pid, entry in _find_entries(found):
            if pid in self._entries or pid in new:
                raise CannotLoad(f"a problem '{pid}' exists already. Choose another id.")
            new[pid] = entry
        self._entries.update(new)
        return list(new)


def _find_entries(found: object) -> Iterator[tuple[str, Entry]]:
    if isinstance(found, ModuleType):
        for member in vars(found).values():
            if _is_defined_in(found, member):
                yield from _find_entries(member)
    elif isinstance(found, Family):
        for pid, task_type, make in found.iter_problems():
            yield pid, Entry(task_type, make)
    elif isinstance(found, type) and issubclass(found, Task):
        _check_task(found)
        yield found.id, Entry(found.task_type, found)
    else:
        raise CannotLoad("an entry point must name a module, a Family or a class that extends a task.")


def _check_task(task: type[Task]) -> None:
    if isabstract(task):
        lacking = ", ".join(sorted(task.__abstractmethods__))
        raise CannotLoad(
            f"class {task.__name__} lacks {lacking}. Extend DetectionTask, LocalizationTask, AnalysisTask or MitigationTask."
        )
    if not task.id:
        raise CannotLoad(
            f'class {task.__name__} has no id. Give it one: id = "my_family-{task.task_type}-1".'
        )


def _is_defined_in(module: ModuleType, member: object) -> bool:
    """Whether a member is one of the module's problems: a family, or a task class with an id defined there."""
    if isinstance(member, type):
        return issubclass(member, Task) and member.__module__ == module.__name__ and "id" in vars(member)
    return isinstance(member, Family)


def _import_file(file: Path) -> ModuleType:
    try:
        return load_module(file, "aiopslab_problems")
    except NoPythonFile as error:
        raise CannotLoad(error.message) from None


def _format_error(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}" if not isinstance(error, AIOpsLabError) else error.message
