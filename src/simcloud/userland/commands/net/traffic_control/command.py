"""tc: set, change, remove and show the queueing discipline of an interface.

Only the root discipline of an interface is supported: no classes, no filters, no ingress.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from simcloud.machine.network import Queueing, qdisc
from simcloud.machine.process import Context
from simcloud.userland.commands.net.traffic_control.disciplines import Netem, Words, discipline
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.registry import command

FAILED: Final = 2
VERSION: Final = "tc utility, iproute2-6.1.0, libbpf 1.1.2"
USAGE: Final = """\
Usage:\ttc [ OPTIONS ] OBJECT { COMMAND | help }
\ttc [-force] -batch filename
where  OBJECT := { qdisc | class | filter | chain |
\t\t    action | monitor | exec }
       OPTIONS := { -V[ersion] | -s[tatistics] | -d[etails] | -r[aw] |
\t\t    -o[neline] | -j[son] | -p[retty] | -c[olor]
\t\t    -b[atch] [filename] | -n[etns] name | -N[umeric] |
\t\t     -nm | -nam[es] | { -cf | -conf } path
\t\t     -br[ief] }"""
QDISC_USAGE: Final = """\
Usage: tc qdisc [ add | del | replace | change | show ] dev STRING
       [ handle QHANDLE ] [ root | ingress | clsact | parent CLASSID ]
       [ estimator INTERVAL TIME_CONSTANT ]
       [ stab [ help | STAB_OPTIONS] ]
       [ ingress_block BLOCK_INDEX ] [ egress_block BLOCK_INDEX ]
       [ [ QDISC_KIND ] [ help | OPTIONS ] ]

       tc qdisc { show | list } [ dev STRING ] [ QDISC_ID ] [ invisible ]
Where:
QDISC_KIND := { [p|b]fifo | tbf | prio | cbq | red | etc. }
OPTIONS := ... try tc qdisc add <desired QDISC_KIND> help
STAB_OPTIONS := ... try tc qdisc add stab help"""
OBJECTS: Final = ("qdisc", "class", "filter")
VERBS: Final = {"add": "add", "change": "change", "replace": "replace", "delete": "del", "show": "show",
                "list": "show", "lst": "show", "ls": "show", "help": "help"}  # fmt: skip


class Request(Struct):
    """The part of a ``tc qdisc`` command line before the discipline."""

    device: str = ""
    root: bool = False
    handle: int | None = None
    kind: str = ""


@command("tc")
async def tc(ctx: Context) -> int:
    """Show or change what happens to packets on their way out."""
    words = ctx.args[1:]
    flags = []
    while words and words[0].startswith("-"):
        flags.append(words.pop(0).lstrip("-"))
    if any(flag[:1] == "V" for flag in flags):
        await ctx.out(f"{VERSION}\n")
        return 0
    if not words or words[0] == "help":
        raise UsageError(USAGE, 0 if words else 255)
    if not any(each.startswith(words[0]) for each in OBJECTS):
        raise UsageError(f'Object "{words[0]}" is unknown, try "tc help".', 255)
    verb = _verb(words[1] if len(words) > 1 else "show", words[0])
    if verb == "help":
        raise UsageError(QDISC_USAGE, 0)
    rest = Words(words[2:])
    if not "qdisc".startswith(words[0]):
        if verb != "show":
            raise UsageError("Error: Parent Qdisc doesn't exists.", FAILED)
        _device(ctx, _request(rest).device)
    elif verb == "show":
        await ctx.out(
            _show_disciplines(ctx, _request(rest).device, counted=any(flag[:1] == "s" for flag in flags))
        )
    else:
        _change(ctx, verb, rest)
    return 0


def _verb(word: str, subject: str) -> str:
    found = next((verb for name, verb in VERBS.items() if name.startswith(word)), None)
    if found is None:
        raise UsageError(f'Command "{word}" is unknown, try "tc {subject} help".', 255)
    return found


def _request(words: Words) -> Request:
    """Read up to the kind of discipline; its own settings are left."""
    found = Request()
    while words and not found.kind:
        word = words.next()
        if word == "dev":
            found.device = words.next()
        elif word == "root":
            found.root = True
        elif word == "parent":
            found.root = words.next() == "root"
        elif word == "handle":
            number = words.next().partition(":")[0]
            try:
                found.handle = int(number, 16) & 0xFFFF
            except ValueError:
                raise UsageError(f'Error: argument "{number}" is wrong: invalid qdisc ID', 255) from None
        elif word == "help":
            raise UsageError(QDISC_USAGE, 0)
        else:
            found.kind = word
    return found


def _device(ctx: Context, name: str) -> None:
    known = [info.name for info in ctx.container.namespace.interfaces()]
    if name and name not in known:
        raise UsageError(f'Cannot find device "{name}"')


def _exit(ctx: Context) -> qdisc.Exit:
    """Through the machine's own interface goes what all its pods send to other machines."""
    namespace = ctx.container.namespace
    return namespace.network.exit_of(ctx.machine.name if _is_machines(ctx) else namespace)


def _is_machines(ctx: Context) -> bool:
    return ctx.container.namespace is ctx.machine.host.namespace


# -- changing ------------------------------------------------------------------------------------


def _change(ctx: Context, verb: str, words: Words) -> None:
    request = _request(words)
    present = _exit(ctx).queueing if request.device == "eth0" else None
    same_kind = present is not None and present.kind == request.kind
    before = _netem_of(present) if same_kind and verb in ("change", "replace") else None
    wanted = discipline(request.kind, words, before) if request.kind in ("netem", "tbf") else None
    _device(ctx, request.device)
    if not ctx.capable("NET_ADMIN"):
        raise UsageError("RTNETLINK answers: Operation not permitted", FAILED)
    if not request.device:
        raise UsageError("RTNETLINK answers: No such device", FAILED)
    if verb == "del":
        _delete(ctx, request, present)
        return
    if not request.root:
        raise UsageError("Error: Handle cannot be zero.", FAILED)
    if verb == "change" and present is None:
        raise UsageError("Error: Qdisc not found. To create specify NLM_F_CREATE flag.", FAILED)
    if verb == "change" and not same_kind:
        raise UsageError("Error: Invalid qdisc name: must match existing qdisc.", FAILED)
    if verb == "add" and present is not None:
        raise UsageError("Error: Exclusivity flag on, cannot modify.", FAILED)
    wanted = wanted or discipline(request.kind, words, None)
    if request.device != "eth0":
        raise UsageError("RTNETLINK answers: Operation not supported", FAILED)
    handle = present.handle if present is not None and same_kind else request.handle
    wanted.apply(_exit(ctx).put(wanted.kind, wanted, handle))


def _delete(ctx: Context, request: Request, present: Queueing | None) -> None:
    if not request.root:
        raise UsageError("Error: Failed to find qdisc with specified handle.", FAILED)
    if present is None:
        raise UsageError("Error: Cannot delete qdisc with handle of zero.", FAILED)
    if request.kind and request.kind != present.kind:
        raise UsageError("Error: Invalid qdisc name: must match existing qdisc.", FAILED)
    if request.handle is not None and request.handle != present.handle:
        raise UsageError("Error: Invalid handle.", FAILED)
    _exit(ctx).clear()


def _netem_of(present: Queueing | None) -> Netem | None:
    return present.settings if present is not None and isinstance(present.settings, Netem) else None


# -- showing -------------------------------------------------------------------------------------


def _show_disciplines(ctx: Context, device: str, counted: bool) -> str:
    _device(ctx, device)
    text = ""
    for info in ctx.container.namespace.interfaces():
        if device and info.name != device:
            continue
        where = "" if device else f"dev {info.name} "
        queueing = _exit(ctx).queueing if info.name == "eth0" else None
        sent_bytes, sent_packets, dropped = info.sent_bytes, info.sent_packets, info.send_dropped
        if queueing is not None:
            text += f"qdisc {queueing.kind} {queueing.handle:x}: {where}root refcnt 2 {queueing.settings.describe()}\n"
            exit_ = _exit(ctx)
            sent_bytes = exit_.sent.total("bytes") - queueing.bytes_before
            sent_packets = exit_.sent.total("packets") - queueing.packets_before
            dropped = queueing.place.dropped
        else:
            text += f"qdisc noqueue 0: {where}root refcnt 2 \n"
        if counted:
            text += (
                f" Sent {sent_bytes} bytes {sent_packets} pkt (dropped {dropped}, overlimits 0 requeues 0) \n"
                " backlog 0b 0p requeues 0\n"
            )
    return text
