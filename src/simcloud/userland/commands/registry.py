"""Where commands are found by name.

A command is a program like any other. Decorating it gives it its names, and the manners all
commands share: a wrong command line or a file that cannot be used is told in one line on stderr.
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
        mannered = _with_manners(program)
        for name in names:
            if name in COMMANDS:
                raise ValueError(f"the command '{name}' is registered twice")
            COMMANDS[name] = mannered
        return mannered

    return register


def _with_manners(program: Program) -> Program:
    @wraps(program)
    async def mannered(ctx: Context) -> int | None:
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

    return mannered
