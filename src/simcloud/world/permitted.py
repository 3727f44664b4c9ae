"""The commands of a host, less those that a policy keeps from it; in their place, a word on what to use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simcloud.kubectl.command import verb_of
from simcloud.machine.process import Context, Program
from simcloud.world.policies import Policy

NOT_PERMITTED: Final = 126
NOT_THERE: Final = 127
KUBECTL: Final = "kubectl"
SHELLS: Final = frozenset({"bash", "sh"})
"""Lines are typed at these: a session without them could do nothing."""


def permitted(programs: Mapping[str, Program], policy: Policy) -> dict[str, Program]:
    """The programs that a session has."""
    verbs = {key.removeprefix(f"{KUBECTL} "): why for key, why in policy.denied.items() if " " in key}
    found: dict[str, Program] = {}
    for name, program in programs.items():
        if policy.allowed is not None and name not in policy.allowed | SHELLS:
            found[name] = refusing(_only(policy.allowed), NOT_PERMITTED)
            continue
        found[name] = guarded(program, verbs) if name == KUBECTL and verbs else program
    for name, why in policy.denied.items():
        if " " not in name:
            found[name] = refusing(why, NOT_PERMITTED if name in programs else NOT_THERE)
    return found


def _only(allowed: frozenset[str]) -> str:
    return f"not permitted in this session, which has only {', '.join(sorted(allowed))}"


def refusing(why: str, status: int) -> Program:
    """A command that says why it is not there."""

    async def refuse(ctx: Context) -> int:
        await ctx.err(f"{ctx.args[0]}: {why}\n")
        return status

    return refuse


def guarded(program: Program, verbs: Mapping[str, str]) -> Program:
    """Kubectl without some of its verbs."""

    async def guard(ctx: Context) -> int | None:
        verb = verb_of(ctx.args[1:])
        if verb in verbs:
            await ctx.err(f"{ctx.args[0]} {verb}: {verbs[verb]}\n")
            return NOT_PERMITTED
        return await program(ctx)

    return guard
