"""What all commands about problems share: which there are, how one is prepared, and how what went wrong is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final, Literal

from aiopslab.orchestrator.problems import CannotLoad, ProblemRegistry, UnknownProblem
from aiopslab.utils.status import AIOpsLabError
from simcloud.world.copies import CopyFailed
from simcloud.world.policies import POLICIES

if TYPE_CHECKING:
    from aiopslab.orchestrator.posing import Posed
    from aiopslab.orchestrator.staging import Tell

DONE: Final = 0
FAILED: Final = 1
WRONG_CALL: Final = 2
INTERRUPTED: Final = 130


class WrongCall(AIOpsLabError):
    """What was asked for at the command line makes no sense; the sentence says what would."""


def known_problems(files: Sequence[Path] = (), wanted: Sequence[str] = ()) -> ProblemRegistry:
    """All problems, those of users' own files among them; raises ``CannotLoad``, and ``UnknownProblem`` for what is wanted."""
    problems = ProblemRegistry()
    for file in files:
        problems.load(file)
    for pid in wanted:
        problems.get_problem(pid)
    return problems


def prepared(problems: ProblemRegistry, pid: str, seed: int, policy: str | None, tell: Tell) -> Posed:
    """A problem that stands ready; raises ``UnknownProblem``. ``policy`` is whose rights the agent has, if not the problem's."""
    from aiopslab.orchestrator.posing import pose
    from aiopslab.orchestrator.staging import settled, stage

    task = problems.get_problem(pid)
    task.policy = policy or task.policy
    stage(task, settled(task, seed, tell), tell)
    return pose(task)


def checked_policy(name: str | None) -> str | None:
    """The name of a policy, if any; raises ``WrongCall``."""
    if name is not None and name not in POLICIES:
        raise WrongCall(f"There is no policy '{name}'. Choose one of: {', '.join(POLICIES)}.")
    return name


def check_folder(folder: Path, option: str) -> None:
    """Raise ``WrongCall`` when nothing can be written there: better now than when all the work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise WrongCall(
            f"{folder} cannot be written to ({error.strerror or error}). Name another folder by {option}."
        ) from None


def thinking(told: str) -> float | Literal["wall"]:
    """What a turn costs before its action: seconds, or ``wall`` for what the agent really needs; raises ``WrongCall``."""
    if told == "wall":
        return "wall"
    try:
        seconds = float(told)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise WrongCall(f"--thinking is a number of seconds from 0 to 3600, or 'wall', not '{told}'.")
    return seconds


def told(work: Callable[[], int]) -> int:
    """Do it; the exit code. What went wrong is a sentence on standard error."""
    try:
        return work()
    except AIOpsLabError as error:
        return _say(error, str(error), WRONG_CALL if _asked_wrongly(error) else FAILED)
    except KeyboardInterrupt as error:
        return _say(error, "Interrupted.", INTERRUPTED)
    except CopyFailed as error:
        return _say(error, f"A copy of the world failed: {str(error).strip().splitlines()[-1]}", FAILED)
    except BrokenPipeError:
        sys.stderr.close()  # who read our output has gone: nobody is there to be told
        return FAILED
    except OSError as error:  # a full disk, too many open files
        return _say(error, f"The system that this runs on refuses: {error}.", FAILED)
    except Exception as error:
        words = f"{type(error).__name__}: {error}".rstrip(": ")
        return _say(error, f"The run failed inside, which is a defect of this program: {words}", FAILED)


def _asked_wrongly(error: AIOpsLabError) -> bool:
    """Whether another call would do, rather than another run."""
    if isinstance(error, (WrongCall, UnknownProblem, CannotLoad)):
        return True
    # Much comes with these; where one of them was raised it is there already.
    from aiopslab.agents import NoSuchAgent
    from aiopslab.orchestrator.models import ModelFailed

    return isinstance(error, (NoSuchAgent, ModelFailed))


def _say(error: BaseException, words: str, code: int) -> int:
    print("\n".join((words, *_notes(error))), file=sys.stderr)
    return code


def _notes(error: BaseException) -> list[str]:
    """What was noted on an error, or on the one that it came from: where the record is."""
    found: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(found) < 10:
        found += getattr(seen, "__notes__", ())
        seen = seen.__cause__ or seen.__context__
    return list(dict.fromkeys(found))
