"""The registry of commands by name.

A command is a program like any other. The decorator registers its names, and reports a wrong command line or an
unusable file in one line on stderr, as all commands do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from simcloud.machine.files import FileError
from simcloud.machine.process import (
    BadDescriptor,
    CommandNotFound,
    Context,
    ForkFailed,
    NotExecutable,
    Program,
)
from simcloud.userland.commands.options import UsageError

COMMANDS: dict[str, Program] = {}


def command(*names: str) -> Callable[[Program], Program]:
    """Register a program under one or more names."""

    def register(program: Program) -> Program:
        wrapped = report_usage_errors(program)
        for name in names:
            if name in COMMANDS:
                raise ValueError(f"the command '{name}' is registered twice")
            COMMANDS[name] = wrapped
        return wrapped

    return register


def report_usage_errors(program: Program) -> Program:
    """Make a program of a command: its mistakes end it with a message."""

    @wraps(program)
    async def run_with_usage_errors(ctx: Context) -> int | None:
        name = ctx.args[0].rpartition("/")[2]
        try:
            return await program(ctx)
        except UsageError as mistake:
            await ctx.err(f"{mistake}\n")
            return mistake.status
        except FileError as error:
            await ctx.err(f"{name}: {error.path}: {error.strerror}\n")
            return 1
        except CommandNotFound as error:
            await ctx.err(f"{name}: {error}: No such file or directory\n")
            return 127
        except (NotExecutable, ForkFailed) as error:
            await ctx.err(f"{name}: {error}\n")
            return 126
        except BadDescriptor as error:
            await ctx.err(f"{name}: write error: {error}\n")
            return 1

    return run_with_usage_errors
