"""The registry of all problems, by id: those of this package, of installed packages, and of users' own files.

The problems of a module are every ``Family`` in it, and every task class with an ``id`` that it defines. An installed
package registers such a module, or one such object, as an entry point of the group ``aiopslab.problems``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

from aiopslab.apps import NoOtherNames
from aiopslab.orchestrator.problems.drawn import DrawnFamily, DrawTask, find_family, list_families, parse_id
from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.missing import find_missing_application
from aiopslab.orchestrator.tasks import ALL_TASKS, Task
from aiopslab.utils import AIOpsLabError, NoPythonFile, load_extensions, load_module

GROUP: Final = "aiopslab.problems"
FOLDER: Final = "aiopslab.orchestrator.problems"
TYPES: Final = tuple(task.task_type for task in ALL_TASKS)
SUGGESTED: Final = 3


class UnknownProblem(AIOpsLabError, ValueError):
    """No problem has this id; the message suggests similar ones, or names the application that it waits for."""

    def __init__(self, pid: str, known: list[str]) -> None:
        waits_for = find_missing_application(pid)
        if waits_for:
            super().__init__(
                f"The problem '{pid}' waits for its application: {waits_for} is not available yet."
            )
            return
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
    draw: DrawTask | None = None
    """Creates a drawn problem from a seed."""
    make_renamed: Callable[[], Task] | None = None
    """Creates a problem of a family with other names; a drawn one is drawn with them."""
    app: str = ""
    """The name of its application, if it is known without creating the problem."""


class ProblemRegistry:
    """Finds problems by id and creates a new instance at each request.

    A problem is looked up in the module or drawn family that its id names. All modules, and later all families and installed packages,
    are loaded when that does not suffice, because they import every fault.
    """

    def __init__(self) -> None:
        self._known: dict[str, Entry] = {}
        """The problems that are loaded; ``_entries`` has all."""
        self._has_modules = self._is_complete = False
        self.loaded: list[Path] = []
        """The loaded files; another process must load them too, to have the same problems."""

    def _load_modules(self) -> dict[str, Entry]:
        """Load the problems of this package; return all that are loaded."""
        if not self._has_modules:
            self._has_modules = True
            for name in _list_modules():
                self._add(import_module(f"{FOLDER}.{name}"), self._known)
        return self._known

    @property
    def _entries(self) -> dict[str, Entry]:
        if not self._is_complete:
            self._is_complete = True
            self._load_modules()
            for family in list_families():
                self._add(family, self._known)
            for name, contributed in load_extensions(GROUP):
                try:
                    self._add(contributed, self._known)
                except CannotLoad as error:  # a broken package must not hide the problems of others
                    warnings.warn(f"The problems of '{name}' cannot be used: {error.message}", stacklevel=2)
        return self._known

    def get_problem_ids(self, task_type: str | None = None) -> list[str]:
        """Return the ids of all problems, of one task type, or those that contain another text, such as "scale_pod"."""
        if task_type is None or task_type in TYPES:
            return [pid for pid, entry in self._entries.items() if task_type in (None, entry.task_type)]
        return [pid for pid in self._entries if task_type in pid]

    def get_problem_count(self, task_type: str | None = None) -> int:
        """Return the number of problems, or of those of one task type."""
        return len(self.get_problem_ids(task_type))

    @property
    def PROBLEM_REGISTRY(self) -> MutableMapping[str, Callable[[], Task]]:  # noqa: N802 (the public release's name)
        """Functions that create each problem, by id. Setting an item registers a problem in this registry."""
        return _Factories(self._entries)

    DOCKER_REGISTRY: Final[tuple[str, ...]] = ()
    """The ids of problems that run in Docker: none."""

    def get_problem_deployment(self, problem_id: str) -> str:
        """Return where a problem runs: always "k8s"."""
        return "k8s"

    def get_problem(self, problem_id: str) -> Callable[[], Task] | None:
        """Return a function that creates a problem, or None for an unknown id, as in the public release."""
        plain, noise, *_ = parse_id(problem_id)
        entry = self._get(plain)
        if entry is None or (noise is not None and entry.draw is None):
            return None
        return partial(self.get_problem_instance, problem_id)

    def get_problem_instance(self, pid: str, seed: int = 0) -> Task:
        """Return a new instance of a problem; raises ``UnknownProblem`` and ``NoOtherNames``.

        An id may carry its own seed, ``ID@12``, and ask for other names of components, ``ID+names``.
        """
        plain, noise, own_seed, has_other_names = parse_id(pid)
        entry = self._find(pid)
        if noise is not None and entry.draw is None:
            raise UnknownProblem(pid, list(self._entries))
        seed = seed if own_seed is None else own_seed
        if entry.draw is not None:
            problem = entry.draw(seed, noise or "usual", has_other_names)
        elif not has_other_names:
            problem = entry.make()
        elif entry.make_renamed is not None:
            problem = entry.make_renamed()
        else:
            raise NoOtherNames(f"the components of the problem '{plain}', which has its own class")
        problem.seed = seed
        if plain != pid or not problem.id:
            problem.id = pid
        return problem

    def is_drawn(self, pid: str) -> bool:
        """Whether the seed decides what is wrong; raises ``UnknownProblem``."""
        return self._find(pid).draw is not None

    def get_task_type(self, pid: str) -> str:
        """Return the type of a problem's task; raises ``UnknownProblem``."""
        return self._find(pid).task_type

    def get_app_name(self, pid: str) -> str:
        """Return the name of a problem's application, without drawing the problem; raises ``UnknownProblem``."""
        return self._find(pid).app or self.get_problem_instance(pid).app.name

    def _get(self, plain: str) -> Entry | None:
        if plain in self._known or self._is_complete:
            return self._known.get(plain)
        for find in (_find_module, find_family):
            if (source := find(plain)) is not None and (entry := dict(_find_entries(source)).get(plain)):
                return entry
        return self._load_modules().get(plain) or self._entries.get(plain)

    def _find(self, pid: str) -> Entry:
        entry = self._get(parse_id(pid).plain)
        if entry is None:
            raise UnknownProblem(pid, list(self._entries))
        return entry

    def load(self, path: str | Path) -> list[str]:
        """Load the problems of a Python file and return their ids; raises ``CannotLoad``."""
        file = Path(path)
        if not file.is_file():
            raise CannotLoad(f"There is no file '{path}' to load problems from.")
        try:
            ids = self._add(_import_file(file), self._entries)
        except Exception as error:
            raise CannotLoad(f"'{path}' cannot be loaded: {_format_error(error)}") from error
        if not ids:
            raise CannotLoad(
                f"'{path}' has no problems. Define a class that extends one of the tasks and has an id "
                '(id = "my_family-localization-1"), or a Family.'
            )
        self.loaded.append(file)
        return ids

    @staticmethod
    def _add(found: object, entries: dict[str, Entry]) -> list[str]:
        """Add the problems of a module, a family or a class; all of them or none."""
        new: dict[str, Entry] = {}
        for pid, entry in _find_entries(found):
            if pid in entries or pid in new:
                raise CannotLoad(f"a problem '{pid}' exists already. Choose another id.")
            new[pid] = entry
        entries.update(new)
        return list(new)


class _Factories(MutableMapping[str, Callable[[], Task]]):
    """The functions that create problems, by id: a view of a registry's entries."""

    def __init__(self, entries: dict[str, Entry]) -> None:
        self._entries = entries

    def __getitem__(self, pid: str) -> Callable[[], Task]:
        return self._entries[pid].make

    def __setitem__(self, pid: str, make: Callable[[], Task]) -> None:
        named = [kind for kind in TYPES if kind in pid]
        self._entries[pid] = Entry(getattr(make, "task_type", named[0] if named else TYPES[0]), make)

    def __delitem__(self, pid: str) -> None:
        del self._entries[pid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


@cache
def _list_modules() -> tuple[str, ...]:
    """Return the names of this package's modules, sorted."""
    return tuple(sorted(module.name for module in iter_modules(import_module(FOLDER).__path__)))


def _find_module(plain: str) -> ModuleType | None:
    """Return the module that is named like a problem's family, or None."""
    name = plain.partition("-")[0]
    return import_module(f"{FOLDER}.{name}") if name in _list_modules() else None


def _find_entries(found: object) -> Iterator[tuple[str, Entry]]:
    if isinstance(found, ModuleType):
        for member in vars(found).values():
            if _is_defined_in(found, member):
                yield from _find_entries(member)
    elif isinstance(found, Family):
        for pid, task_type, make in found.iter_problems():
            yield pid, Entry(task_type, make, make_renamed=partial(make, other_names=True))
    elif isinstance(found, DrawnFamily):
        for pid, task_type, draw in found.iter_problems():
            yield pid, Entry(task_type, partial(draw, 0, "usual", False), draw, app=found.app.name)
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
    return isinstance(member, Family | DrawnFamily)


def _import_file(file: Path) -> ModuleType:
    try:
        return load_module(file, "aiopslab_problems")
    except NoPythonFile as error:
        raise CannotLoad(error.message) from None


def _format_error(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return f"{type(error).__name__}: {error}" if not isinstance(error, AIOpsLabError) else error.message
