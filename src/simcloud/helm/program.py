"""helm as a program that a machine has on its PATH."""

from __future__ import annotations

from simcloud.helm import verbs
from simcloud.helm.command import find, help_of
from simcloud.helm.errors import HelmError
from simcloud.helm.session import Helm
from simcloud.kubectl import Door, Exit, KubectlError
from simcloud.kubernetes.api import ApiError
from simcloud.machine.process import Context, Program

__all__ = ["helm_program"]

verbs.load()


def helm_program(door: Door) -> Program:
    """The program, for machines whose kubeconfigs lead to one cluster."""

    async def helm(ctx: Context) -> int:
        try:
            await _run(ctx, door)
        except HelmError as error:
            await ctx.err(f"Error: {error}\n")
            return 1
        except KubectlError as error:
            await ctx.err(f"Error: {error.message}\n")
            return error.code
        except ApiError as error:
            await ctx.err(f"Error: {error.message}\n")
            return 1
        except Exit as end:
            return end.code
        return 0

    return helm


async def _run(ctx: Context, door: Door) -> None:
    command, flags = find(ctx.args[1:])
    if flags.help or command.run is None:
        await ctx.out(help_of(command))
        return
    command.check(flags.args)
    helm = Helm(ctx, command.path, flags, door)
    await command.run(helm)
