"""Deep recursion of awk functions without a deep C stack.

Awk functions may call each other a thousand levels deep. Functions that wait are coroutines, and Python runs nested
coroutines on the C stack, which is small and whose overflow ends the whole process. So a coroutine does not await a
function of the program: it hands it to ``run_flat``, which keeps all of them in a list.

Functions that do not wait are nested calls of plain Python functions. Those need no C stack, only a higher recursion
limit, which is set only while awk code runs.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any

from simcloud.sim import call_deep


class Invocation:
    """A request to run a coroutine on top of the one that yields this."""

    __slots__ = ("work",)

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self.work = work


@coroutine
def invoke(work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Run a coroutine to its end, from inside one that ``run_flat`` runs; gives its result."""
    return (yield Invocation(work))


@coroutine
def run_flat(work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """Run a coroutine and all that it invokes, passing on to the kernel whatever they wait for."""
    stack = [work]
    value: Any = None
    error: BaseException | None = None
    while True:
        wanted, value, error = call_deep(_run_until_wait, stack, value, error)
        if not stack:
            break
        try:
            value = yield wanted
        except BaseException as problem:
            error = problem
    if error is not None:
        raise error
    return value


def _run_until_wait(
    stack: list[Coroutine[Any, Any, Any]], value: Any, error: BaseException | None
) -> tuple[Any, Any, BaseException | None]:
    """Run what is on the stack until it waits, and return what for; once the stack is empty, with the result and the error."""
    while stack:
        top = stack[-1]
        try:
            wanted = top.send(value) if error is None else top.throw(error)
        except StopIteration as ending:
            del stack[-1]
            value, error = ending.value, None
            continue
        except BaseException as problem:
            del stack[-1]
            value, error = None, problem
            continue
        value, error = None, None
        if type(wanted) is not Invocation:
            return wanted, value, error
        stack.append(wanted.work)
    return None, value, error
