"""pstree: print processes as a tree; equal branches are printed once."""

from __future__ import annotations

from typing import NamedTuple

from simcloud.machine.process import Context, KernelThread, Process
from simcloud.patterns import is_utf8_locale
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.processes.facts import Facts
from simcloud.userland.commands.text.tool import tool

MAX_DEPTH = 60
"""Below this depth branches are cut off."""


class _Strokes(NamedTuple):
    single: str
    first: str
    middle: str
    last: str
    passing: str


ASCII = _Strokes("---", "-+-", " |-", " `-", " | ")
BOXES = _Strokes("───", "─┬─", " ├─", " └─", " │ ")


class _Branch(NamedTuple):
    """A label and its subtrees."""

    label: str
    below: tuple[_Branch, ...]


@tool(
    "pstree",
    options="a,arguments A,ascii c,compact-not h,highlight-all l,long n,numeric-sort p,show-pids u,uid-changes U,unicode "
    "T,hide-threads s,show-parents",
    usage="[OPTION]... [PID|USER]",
    version="(PSmisc) 23.6",
)
async def pstree(ctx: Context, options: Options) -> int:
    """Show running processes as a tree."""
    facts = Facts(ctx)
    roots = [p for p in facts.processes if facts.parent_pid(p) == 0 and not isinstance(p, KernelThread)]
    for word in options.operands[:1]:
        if word.isdecimal() and word.isascii():
            roots = [p for p in facts.processes if facts.pid(p) == int(word[:9])]
        else:
            number = facts.user_number(word)
            if number is None:
                raise UsageError(f"No such user name: {word}")
            roots = [
                p for p in facts.processes if p.uid == number and (p.parent is None or p.parent.uid != number)
            ]
    boxes = options.any("U") or (is_utf8_locale(ctx.env) and not options.any("A"))
    strokes = BOXES if boxes else ASCII
    lines: list[str] = []
    for root in roots:
        branch = _branch(ctx, facts, options, root, 0)
        lines += _as_list(branch, strokes) if options.any("a") else _draw(branch, strokes)
    await ctx.out("".join(f"{line}\n" for line in lines))
    return 0 if roots else 1


def _branch(ctx: Context, facts: Facts, options: Options, process: Process, depth: int) -> _Branch:
    ctx.spend_turn()
    label = facts.command_line(process) if options.any("a") else process.name
    if options.any("p"):
        label = (
            f"{process.name},{facts.pid(process)}{label[len(process.argv[0]) :]}"
            if options.any("a")
            else f"{label}({facts.pid(process)})"
        )
    children = list(process.children.values()) if depth < MAX_DEPTH else []
    if not options.any("n"):
        children.sort(key=lambda child: child.name)
    below = [_branch(ctx, facts, options, child, depth + 1) for child in children if child in facts.processes]
    return _Branch(label, tuple(below if options.any("c", "a", "p") else _compact(below)))


def _compact(branches: list[_Branch]) -> list[_Branch]:
    """Equal branches once, with how many there are."""
    counts: dict[_Branch, int] = {}
    for branch in branches:
        counts[branch] = counts.get(branch, 0) + 1
    compact = []
    for branch, count in counts.items():
        if count == 1:
            compact.append(branch)
        else:
            inside = "\n".join(_draw(branch, ASCII))
            compact.append(
                _Branch(f"{count}*[{inside}]" if "\n" not in inside else f"{count}*[{branch.label}]", ())
            )
    return compact


def _draw(branch: _Branch, strokes: _Strokes) -> list[str]:
    if not branch.below:
        return [branch.label]
    lines: list[str] = []
    indent = " " * len(branch.label)
    only = len(branch.below) == 1
    for number, child in enumerate(branch.below):
        is_last = number == len(branch.below) - 1
        first, *rest = _draw(child, strokes)
        if number == 0:
            lines.append(branch.label + (strokes.single if only else strokes.first) + first)
        else:
            lines.append(indent + (strokes.last if is_last else strokes.middle) + first)
        passing = "   " if is_last else strokes.passing
        lines += [f"{indent}{passing}{line}" for line in rest]
    return lines


def _as_list(branch: _Branch, strokes: _Strokes) -> list[str]:
    lines = [branch.label]
    for number, child in enumerate(branch.below):
        is_last = number == len(branch.below) - 1
        first, *rest = _as_list(child, strokes)
        lines.append(f" {strokes.last if is_last else strokes.middle}{first}")
        passing = "    " if is_last else f" {strokes.passing}"
        lines += [f"{passing}{line}" for line in rest]
    return lines
