"""Functions on the environment of a program, and those that end it."""

from __future__ import annotations

from simcloud.userland.jq.errors import Backtrack, Halt, JqError
from simcloud.userland.jq.functions.registry import native, refuse
from simcloud.userland.jq.output import dump
from simcloud.userland.jq.paths import whole
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value

FAILED_STATUS = 5


@native("error", 0)
def fail(_: Run, value: Value) -> Value:
    """Fail with the input; nothing to say is no failure."""
    if value is None:
        raise Backtrack
    raise JqError(value)


@native("error", 1)
def fail_with(run: Run, _: Value, value: Value) -> Value:
    """Fail with that."""
    return fail(run, value)


@native("env", 0)
def environment(run: Run, _: Value) -> Value:
    """The environment."""
    return dict(run.environment)


@native("input_filename", 0)
def input_filename(run: Run, _: Value) -> Value:
    """The file being read."""
    return run.input_name()


@native("input_line_number", 0)
def input_line_number(run: Run, _: Value) -> Value:
    """Return the number of lines read."""
    return float(run.input_line())


@native("halt", 0)
def halt(_: Run, __: Value) -> Value:
    """End here."""
    raise Halt(0)


@native("halt_error", 0)
def halt_error(run: Run, value: Value) -> Value:
    """End here as a failure."""
    return halt_error_with(run, value, float(FAILED_STATUS))


@native("halt_error", 1)
def halt_error_with(run: Run, value: Value, status: Value) -> Value:
    """End here with a status, the input on stderr: a text as it is, anything else as JSON."""
    if type(status) is not float:
        refuse(value, "halt_error/1: number required")
    text = "" if value is None else value if type(value) is str else dump(value, run.spend) + "\n"
    raise Halt(whole(status) & 0xFF, text.encode())
