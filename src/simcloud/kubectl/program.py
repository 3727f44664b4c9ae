"""kubectl as a program that a machine has on its PATH."""

from __future__ import annotations

from typing import Final

from simcloud.kubectl import verbs
from simcloud.kubectl.command import find, global_flags
from simcloud.kubectl.connection import Door
from simcloud.kubectl.errors import Crash, Exit, KubectlError, PrintError, WithContext, klog, sentence
from simcloud.kubectl.help.pages import help_of
from simcloud.kubectl.printing.sorting import Unsortable
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError
from simcloud.machine.process import Context, Program

__all__ = ["kubectl_program"]

verbs.load()

DRY_RUN_ALONE: Final = "--dry-run is deprecated and can be replaced with --dry-run=client."
PROFILES: Final = (None, "none", "cpu", "heap", "goroutine", "threadcreate", "block", "mutex")
"""What can be measured of the genuine tool itself; here nothing is written down for any of them."""


START_CPU_S: Final = 0.06
"""What the genuine tool takes before it asks for anything: two commands in a row leave the cluster time to act."""


def kubectl_program(door: Door) -> Program:
    """The program, for machines whose kubeconfigs lead to one cluster."""
    global_flags()  # read now: copies of a world would each read them again

    async def kubectl(ctx: Context) -> int:
        try:
            return await _run(ctx, door)
        except KubectlError as error:
            await ctx.err(_line(error.format_message()))
            return error.code
        except ApiError as error:
            await ctx.err(_line(sentence(error)))
            return 1
        except WithContext as error:
            await ctx.err(_line(sentence(error.error, error.doing)))
            return 1
        except PrintError as error:
            await ctx.out(error.printed)
            await ctx.err(_line(_unprintable(ctx, error)))
            return 2 if isinstance(error, Crash) else 1
        except Exit as end:
            return end.code

    return kubectl


async def _run(ctx: Context, door: Door) -> int:
    await ctx.cpu(START_CPU_S)
    command, flags = find(ctx.args[1:])
    if flags.get("profile") not in PROFILES and command.path != "debug":
        raise KubectlError(f"unknown profile '{flags['profile']}'")
    if flags.help or command.run is None:
        failed = command.silent and not flags.help
        await (ctx.err if failed else ctx.out)(help_of(command))
        return int(failed)
    for warning in command.parser().deprecations(flags):
        await ctx.err(f"{warning}\n")
    kubectl = Kubectl(ctx, command, flags, door)
    try:
        if flags.get("dry-run") == "unchanged":
            await kubectl.log("W", "helpers.go:719", DRY_RUN_ALONE)
        code = await command.run(kubectl)
    except Exit as end:
        code = end.code
    finally:
        await kubectl.tell_warnings()
    for complaint in kubectl.complaints():
        await kubectl.complain(complaint)
    return code or (1 if kubectl.failed else 0)


def _unprintable(ctx: Context, error: PrintError) -> str:
    """How the genuine tool ends where it cannot print: with a sentence, a line of its log, or a panic."""
    if isinstance(error, Unsortable):
        return klog(ctx, "F", error.place, str(error))
    return str(error) if isinstance(error, Crash) else f"error: {error}"


def _line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
