"""Restricts the commands of a host to those that a policy permits; a denied command prints what to use instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simcloud.kubectl import verb_of
from simcloud.machine.process import Context, Program
from simcloud.world.policies import Policy

NOT_PERMITTED: Final = 126
NOT_FOUND: Final = 127
KUBECTL: Final = "kubectl"
SHELLS: Final = frozenset({"bash", "sh"})
"""Every line runs in one of these, so they are always permitted."""


def restrict_programs(programs: Mapping[str, Program], policy: Policy) -> dict[str, Program]:
    """Return the programs of a session, with the denied ones replaced by refusals."""
    verbs = {key.removeprefix(f"{KUBECTL} "): why for key, why in policy.denied.items() if " " in key}
    found: dict[str, Program] = {}
    for name, program in programs.items():
        if policy.allowed is not None and name not in policy.allowed | SHELLS:
            found[name] = make_refusal(_describe_allowed(policy.allowed), NOT_PERMITTED)
            continue
        found[name] = restrict_kubectl(program, verbs) if name == KUBECTL and verbs else program
    for name, why in policy.denied.items():
        if " " not in name:
            found[name] = make_refusal(why, NOT_PERMITTED if name in programs else NOT_FOUND)
    return found


def _describe_allowed(allowed: frozenset[str]) -> str:
    return f"not permitted in this session; allowed commands: {', '.join(sorted(allowed))}"


def make_refusal(why: str, status: int) -> Program:
    """Return a command that prints why it is not available."""

    async def refuse(ctx: Context) -> int:
        await ctx.err(f"{ctx.args[0]}: {why}\n")
        return status

    return refuse


def restrict_kubectl(program: Program, verbs: Mapping[str, str]) -> Program:
    """Return kubectl without some of its verbs; ``verbs`` has the message for each."""

    async def guard(ctx: Context) -> int | None:
        verb = verb_of(ctx.args[1:])
        if verb in verbs:
            await ctx.err(f"{ctx.args[0]} {verb}: {verbs[verb]}\n")
            return NOT_PERMITTED
        return await program(ctx)

    return guard
