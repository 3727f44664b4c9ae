"""What all commands about problems share: loading and preparing problems, checking options, reporting errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from aiopslab.apps import NoOtherNames
from aiopslab.cloud import POLICIES, CopyFailed
from aiopslab.generators import Level
from aiopslab.orchestrator.problems import (
    CannotLoad,
    NoSuchSelection,
    ProblemRegistry,
    UnknownProblem,
    replace_noise,
)
from aiopslab.utils import AIOpsLabError

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions
    from aiopslab.orchestrator import PreparedProblem, ProgressCallback

DONE: Final = 0
FAILED: Final = 1
USAGE_ERROR: Final = 2
INTERRUPTED: Final = 130


class Terminated(KeyboardInterrupt):
    """The command was ended by a signal other than that of Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class UsageError(AIOpsLabError):
    """The command line is wrong; the message says how to correct it."""


def load_problems(files: Sequence[Path] = (), wanted: Sequence[str] = ()) -> ProblemRegistry:
    """Return all problems, including those of the files; raises ``CannotLoad``, or ``UnknownProblem`` for a wanted id."""
    problems = ProblemRegistry()
    for file in files:
        problems.load(file)
    for pid in wanted:
        problems.get_problem_instance(pid)
    return problems


def prepare_problem(
    problems: ProblemRegistry,
    pid: str,
    seed: int,
    policy: str | None,
    tell: ProgressCallback,
    cluster: KubernetesOptions | None = None,
) -> PreparedProblem:
    """Deploy a problem and inject its faults; raises ``UnknownProblem``. ``policy`` overrides the problem's policy.

    With ``cluster``, this is done there; the caller must close the environment, which removes everything again.
    """
    from aiopslab.orchestrator import deploy, deploy_on_cluster, open_problem, stage

    task = problems.get_problem_instance(pid, seed)
    task.policy = policy or task.policy
    if cluster is None:
        stage(task, deploy(task, task.seed, tell), tell)
        return open_problem(task)
    environment = deploy_on_cluster(task, task.seed, cluster, tell)
    try:
        stage(task, environment, tell)
        return open_problem(task)
    except BaseException:
        environment.close()
        raise


def check_policy(name: str | None) -> None:
    """Raise ``UsageError`` if there is no policy of that name; None is allowed."""
    if name is not None and name not in POLICIES:
        raise UsageError(f"There is no policy '{name}'. Choose one of: {', '.join(POLICIES)}.")


def check_noise(level: str | None) -> Level | None:
    """Return a level of noise; raises ``UsageError`` if there is none of that name."""
    for known in get_args(Level):
        if level == known:
            return cast("Level", known)
    if level is not None:
        raise UsageError(
            f"There is no level of noise '{level}'. Choose one of: {', '.join(get_args(Level))}."
        )
    return None


def set_noise(pid: str, level: str | None) -> str:
    """Return the id of a drawn problem with another level of noise; raises ``UsageError``."""
    return replace_noise(pid, check_noise(level))


def check_folder(folder: Path, option: str) -> None:
    """Raise ``UsageError`` if the folder cannot be written to. Call this before any long work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written to ({error.strerror or error}). Choose another folder with {option}."
        ) from None


def check_terminal() -> None:
    """Raise ``UsageError`` if no person can type here."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "The agent human needs a terminal, and standard input or output is none. To read lines from a pipe, use aiopslab play."
        )


def parse_thinking(text: str) -> float | Literal["wall"]:
    """Parse the value of ``--thinking``: seconds, or ``wall`` for the agent's real time; raises ``UsageError``."""
    if text == "wall":
        return "wall"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise UsageError(f"--thinking must be a number of seconds from 0 to 3600, or 'wall', not '{text}'.")
    return seconds


def run_command(work: Callable[[], int]) -> int:
    """Run a command and return its exit code; errors are printed as one sentence on standard error."""
    try:
        return work()
    except AIOpsLabError as error:
        return _report(error, str(error), USAGE_ERROR if _is_usage_error(error) else FAILED)
    except Terminated as error:
        return _report(error, "Interrupted.", 128 + error.number)
    except KeyboardInterrupt as error:
        return _report(error, "Interrupted.", INTERRUPTED)
    except CopyFailed as error:
        return _report(error, f"A copy of the world failed: {error.last_line}", FAILED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone: suppress further errors
        return FAILED
    except OSError as error:  # a full disk, too many open files
        return _report(error, f"The operating system reported an error: {error}.", FAILED)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        return _report(error, f"Internal error (a defect of this program): {reason}", FAILED)


def _is_usage_error(error: AIOpsLabError) -> bool:
    """Return whether the command line must be changed, rather than tried again."""
    if isinstance(error, (UsageError, UnknownProblem, NoOtherNames, NoSuchSelection, CannotLoad)):
        return True
    # Slow imports. Where one of these errors was raised, its module is already loaded.
    from aiopslab.agents import NoSuchAgent
    from aiopslab.benchmark import NoCluster, StoreError, StoreFailed
    from aiopslab.cloud.kubernetes import NoAccess
    from aiopslab.orchestrator import AgentNotStarted, NotARecord, NotAvailable
    from aiopslab.orchestrator.models import ModelFailed

    if isinstance(error, StoreFailed):
        return False
    return isinstance(
        error,
        (
            NoSuchAgent, AgentNotStarted, ModelFailed, NoAccess, NoCluster, NotARecord, NotAvailable, StoreError,
        ),
    )  # fmt: skip


def _report(error: BaseException, message: str, code: int) -> int:
    print("\n".join((message, *_collect_notes(error))), file=sys.stderr)
    return code


def _collect_notes(error: BaseException) -> list[str]:
    """Return the notes of an error and of its causes, such as the path of the session record."""
    notes: list[str] = []
    current: BaseException | None = error
    while current is not None and len(notes) < 10:
        notes += getattr(current, "__notes__", ())
        current = current.__cause__ or current.__context__
    return list(dict.fromkeys(notes))
