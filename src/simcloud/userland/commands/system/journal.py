"""journalctl: print the journal of a machine.

Entries are selected by boot, unit, priority, time, pattern and field matches, and printed in the formats of systemd 252.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Final

import msgspec

from simcloud.machine import INIT, KERNEL, LEVELS, Entry
from simcloud.machine.process import Context
from simcloud.patterns import RegexError, compile_regex
from simcloud.userland.commands.options import Options, UsageError
from simcloud.userland.commands.system.dates import UTC, Moment, Zone, format_moment, zone_of
from simcloud.userland.commands.system.timestamps import parse_timestamp
from simcloud.userland.commands.text.tool import tool

VERSION: Final = "252 (252.39-1~deb12u1)"
TIME_FORMAT: Final = "%a %Y-%m-%d %H:%M:%S %Z"
NO_ENTRIES: Final = "-- No entries --\n"
POLL_S: Final = 0.5
TAIL_LINES: Final = 10
PAGER_LINES: Final = 1000
SHORT_FORMATS: Final = {
    "short": "%b %d %H:%M:%S",
    "with-unit": "%b %d %H:%M:%S",
    "short-full": TIME_FORMAT,
    "short-iso": "%Y-%m-%dT%H:%M:%S%z",
    "short-iso-precise": "%Y-%m-%dT%H:%M:%S.%6N%z",
    "short-precise": "%b %d %H:%M:%S.%6N",
}
PRIORITIES: Final = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
BOOT_DIGITS: Final = 32


def _join_values(args: list[str]) -> list[str]:
    """Attach the values of ``-n`` and ``-b``, which may also be left out, to their options."""
    joined = args[:1]
    for word in args[1:]:
        before = joined[-1]
        is_number = word.lstrip("+-").isdecimal()
        if before in ("-n", "-b") and (is_number or word == "all" or len(word) == BOOT_DIGITS):
            joined[-1] += word
        elif before in ("--lines", "--boot") and (is_number or word == "all"):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


@tool(
    "journalctl",
    options="u,unit= user-unit= n,lines=? f,follow r,reverse S,since= U,until= b,boot=? k,dmesg o,output= no-pager "
    "x,catalog e,pager-end q,quiet a,all l,full g,grep= case-sensitive=? t,identifier= p,priority= facility= no-hostname "
    "utc no-full no-tail m,merge system user M,machine= D,directory= file= c,cursor= after-cursor= "
    "F,field= list-boots disk-usage vacuum-size= vacuum-files= vacuum-time= sync flush rotate",
    usage="[OPTIONS...] [MATCHES...]",
    version=VERSION,
    rewrite=_join_values,
)
async def journalctl(ctx: Context, options: Options) -> int:
    """Print log entries from the journal."""
    if not ctx.on_machine:
        raise UsageError("No journal files were found.\n-- No entries --", 1)
    entries = ctx.machine.journal.list_entries()
    answer = _answer_about_journal(ctx, options, entries)
    if answer is not None:
        await ctx.out(answer)
        return 0
    selects = _make_filter(ctx, options, entries)
    found = [entry for entry in entries if selects(entry)]
    if options.any("n", "e", "f"):
        found = _take_last(options, found)
    if options.any("r"):
        found = found[::-1]
    style = options.last("o", default="short")
    printer = _make_printer(ctx, options, style)
    if found or options.any("f", "q"):
        await ctx.out(_separate_boots(found, printer, plain=style in ("cat", "json")))
    else:
        await ctx.out("" if style.startswith("json") else NO_ENTRIES)
    if options.any("f"):
        await _follow(ctx, selects, printer)
    return 0


def _answer_about_journal(ctx: Context, options: Options, entries: list[Entry]) -> str | None:
    """Answer options that do not print entries; None for the others."""
    if options.any("list-boots"):
        return _format_boots(ctx, options, entries)
    if options.any("disk-usage"):
        size = ctx.machine.journal.measure_bytes() / 1024**2
        return f"Archived and active journals take up {size:.1f}M in the file system.\n"
    if options.any("vacuum-size", "vacuum-time", "vacuum-files"):
        folder = f"/var/log/journal/{ctx.machine.machine_id}"
        return f"Vacuuming done, freed 0B of archived journals from {folder}.\n"
    if options.any("sync", "flush", "rotate"):
        return ""
    return None


def _take_last(options: Options, entries: list[Entry]) -> list[Entry]:
    count = options.last("n")
    default = TAIL_LINES if options.any("n", "f") else PAGER_LINES
    if count == "all" or (options.any("no-tail") and not count):
        return entries
    if count and not count.isdecimal():
        raise UsageError(f"Failed to parse lines '{count}'")
    number = int(count) if count else default
    return entries[-number:] if number else []


async def _follow(ctx: Context, selects: Callable[[Entry], bool], printer: Callable[[Entry], str]) -> None:
    last_s = ctx.now
    while True:
        ctx.spend_turn()
        await ctx.sleep(POLL_S)
        new = [
            entry for entry in ctx.machine.journal.list_entries() if entry.time_s > last_s and selects(entry)
        ]
        last_s = ctx.now
        if new:
            await ctx.out("".join(map(printer, new)))


# -- selection -----------------------------------------------------------------------------------


def _make_filter(ctx: Context, options: Options, entries: list[Entry]) -> Callable[[Entry], bool]:
    tests: list[Callable[[Entry], bool]] = []
    if options.any("b", "k"):
        boot_id = _find_boot(options, entries, ctx)
        tests.append(lambda entry: entry.boot_id == boot_id)
    if options.any("k"):
        tests.append(lambda entry: entry.identifier == KERNEL)
    units = [name if "." in name else f"{name}.service" for name in options.all("u")]
    if units:
        tests.append(lambda entry: any(fnmatchcase(entry.unit, unit) for unit in units))
    if options.any("t"):
        tests.append(lambda entry: entry.identifier in options.all("t"))
    if options.any("p"):
        lowest, highest = _parse_priorities(options.last("p"))
        tests.append(lambda entry: lowest <= entry.priority <= highest)
    since_s, until_s = (_parse_limit(ctx, options, letter) for letter in ("S", "U"))
    tests.append(lambda entry: since_s is None or entry.time_s >= since_s)
    tests.append(lambda entry: until_s is None or entry.time_s <= until_s)
    if options.any("g"):
        pattern = options.last("g")
        try:
            regex = compile_regex(pattern.encode(), "perl", ignore_case=_ignores_case(options, pattern))
        except RegexError as error:
            raise UsageError(f'Bad pattern "{pattern}": {error}') from None
        tests.append(lambda entry: regex.search(entry.text.encode("utf-8", "surrogateescape")) is not None)
    matches = _parse_matches(ctx, options)
    if matches:
        tests.append(
            lambda entry: any(
                all(_fields(ctx, entry).get(field) in values for field, values in group.items())
                for group in matches
            )
        )
    return lambda entry: all(test(entry) for test in tests)


def _parse_limit(ctx: Context, options: Options, letter: str) -> float | None:
    if not options.any(letter):
        return None
    limit_s = parse_timestamp(options.last(letter), ctx.now, zone_of(ctx.env))
    if limit_s is None:
        raise UsageError(f"Failed to parse timestamp: {options.last(letter)}")
    return limit_s


def _ignores_case(options: Options, pattern: str) -> bool:
    if options.any("case-sensitive"):
        return options.last("case-sensitive") in ("no", "false", "0")
    return pattern == pattern.lower()


def _parse_matches(ctx: Context, options: Options) -> list[dict[str, list[str]]]:
    """``FIELD=VALUE`` words: values of one field are alternatives, ``+`` separates alternative groups."""
    groups: list[dict[str, list[str]]] = [{}]
    for word in options.operands:
        field, equals, value = word.partition("=")
        if word == "+":
            groups.append({})
        elif equals and field and not word.startswith("/"):
            groups[-1].setdefault(field, []).append(value)
        elif word.startswith("/"):
            if not ctx.files.exists(word):
                raise UsageError(f"Couldn't canonicalize path {word}: No such file or directory")
            groups[-1].setdefault("_EXE", []).append(word)
        else:
            raise UsageError(f"Failed to add match '{word}': Invalid argument")
    return [group for group in groups if group]


def _find_boot(options: Options, entries: list[Entry], ctx: Context) -> str:
    boots = list(dict.fromkeys(entry.boot_id for entry in entries)) or [ctx.machine.boot_id]
    wanted = options.last("b")
    if not wanted:
        return boots[-1]
    if wanted.lstrip("+-").isdecimal():
        number = int(wanted)
        place = number - 1 if number > 0 else len(boots) - 1 + number
        if 0 <= place < len(boots):
            return boots[place]
    elif wanted in boots:
        return wanted
    shown = f"{int(wanted):+d}" if wanted.lstrip("+-").isdecimal() else wanted
    raise UsageError(f"Data from the specified boot ({shown}) is not available: No such boot ID in journal")


def _parse_priorities(text: str) -> tuple[int, int]:
    """``err``, ``3`` or a range ``emerg..err``."""
    first, dots, last = text.partition("..")
    numbers = [_parse_priority(word, text) for word in ((first, last) if dots else (first,))]
    return (min(numbers), max(numbers)) if dots else (0, numbers[0])


def _parse_priority(word: str, text: str) -> int:
    for names in (PRIORITIES, LEVELS):
        if word in names:
            return names.index(word)
    if word.isdecimal() and len(word) == 1 and int(word) < len(PRIORITIES):
        return int(word)
    raise UsageError(f"Unknown log level {text}")


# -- formats -------------------------------------------------------------------------------------


def format_entries(ctx: Context, entries: Sequence[Entry]) -> str:
    """Lines as the journal shows them: time, machine, sender, text."""
    return "".join(map(_make_printer(ctx, Options(), "short"), entries))


def _make_printer(ctx: Context, options: Options, style: str) -> Callable[[Entry], str]:
    zone = UTC if options.any("utc") else zone_of(ctx.env)
    host = "" if options.any("no-hostname") else f"{ctx.machine.name} "
    if style == "cat":
        return lambda entry: f"{entry.text}\n"
    if style in ("json", "json-pretty", "verbose"):
        return lambda entry: _format_fields(ctx, entry, style, zone)
    if style not in SHORT_FORMATS and style not in ("short-monotonic", "short-unix"):
        raise UsageError(f"Unknown output format '{style}'.")

    def print_short(entry: Entry) -> str:
        if style == "short-monotonic":
            stamp = f"[{entry.up_s:12.6f}]"
        elif style == "short-unix":
            stamp = f"{entry.time_s:.6f}"
        else:
            stamp = format_moment(Moment.of(entry.time_s), SHORT_FORMATS[style], zone)
        if entry.identifier == KERNEL and entry.text.startswith(
            f"{INIT}[1]: "
        ):  # written before there was a journal
            return f"{stamp} {host}{entry.text}\n"
        sender = entry.identifier if entry.identifier == KERNEL else f"{entry.identifier}[{entry.pid}]"
        if style == "with-unit" and entry.unit:
            sender = f"{'init.scope' if entry.by_init else entry.unit}/{sender}"
        return f"{stamp} {host}{sender}: {entry.text}\n"

    return print_short


def _fields(ctx: Context, entry: Entry) -> dict[str, str]:
    """The fields of an entry, as structured formats print them and matches compare them."""
    machine, from_kernel = ctx.machine, entry.identifier == KERNEL
    time_us, up_us = round(entry.time_s * 1e6), round(entry.up_s * 1e6)
    digest = sha256(f"{machine.machine_id}{time_us}{entry.text}".encode()).hexdigest()
    cursor = (
        f"s={digest[:32]};i={digest[32:35]};b={entry.boot_id};m={up_us:x};t={time_us:x};x={digest[40:56]}"
    )
    fields = {
        "__CURSOR": cursor,
        "__REALTIME_TIMESTAMP": str(time_us),
        "__MONOTONIC_TIMESTAMP": str(up_us),
        "_BOOT_ID": entry.boot_id,
        "_MACHINE_ID": machine.machine_id,
        "_HOSTNAME": machine.name,
        "PRIORITY": str(entry.priority),
        "SYSLOG_FACILITY": "0" if from_kernel else "3",
        "SYSLOG_IDENTIFIER": entry.identifier,
        "_TRANSPORT": "kernel" if from_kernel else "journal" if entry.by_init else "stdout",
        "MESSAGE": entry.text,
    }
    if from_kernel:
        return {**fields, "_SOURCE_MONOTONIC_TIMESTAMP": str(up_us)}
    words = entry.command.split(" ")
    program = words[0] if words[0].startswith("/") else f"/usr/sbin/{entry.identifier}"
    unit = machine.units.get(entry.unit)
    return {
        **fields,
        "_PID": str(entry.pid),
        "_UID": "0",
        "_GID": "0",
        "_COMM": INIT if entry.by_init else entry.identifier[:15],
        "_EXE": f"/usr/lib/systemd/{INIT}" if entry.by_init else program,
        "_CMDLINE": entry.command,
        "_SYSTEMD_CGROUP": "/init.scope" if entry.by_init or unit is None else unit.cgroup_path,
        "_SYSTEMD_UNIT": "init.scope" if entry.by_init else entry.unit,
        **({"UNIT": entry.unit} if entry.by_init else {}),
    }


def _format_fields(ctx: Context, entry: Entry, style: str, zone: Zone) -> str:
    fields = _fields(ctx, entry)
    if style == "verbose":
        stamp = format_moment(Moment.of(entry.time_s), "%a %Y-%m-%d %H:%M:%S.%6N %Z", zone)
        rows = sorted((name, value) for name, value in fields.items() if not name.startswith("__"))
        return f"{stamp} [{fields['__CURSOR']}]\n" + "".join(f"    {name}={value}\n" for name, value in rows)
    text = msgspec.json.encode(fields)
    if style == "json-pretty":
        return msgspec.json.format(text, indent=8).decode().replace('": ', '" : ') + "\n"
    return f"{text.decode()}\n"


def _separate_boots(entries: Sequence[Entry], printer: Callable[[Entry], str], plain: bool) -> str:
    lines, boot_id = [], entries[0].boot_id if entries else ""
    for entry in entries:
        if entry.boot_id != boot_id and not plain:
            lines.append(f"-- Boot {entry.boot_id} --\n")
        boot_id = entry.boot_id
        lines.append(printer(entry))
    return "".join(lines)


def _format_boots(ctx: Context, options: Options, entries: list[Entry]) -> str:
    zone = UTC if options.any("utc") else zone_of(ctx.env)
    boots: dict[str, list[float]] = {}
    for entry in entries:
        boots.setdefault(entry.boot_id, []).append(entry.time_s)
    lines = [f"{'IDX'} {'BOOT ID':<32} {'FIRST ENTRY':<27} {'LAST ENTRY':<27}"]
    for number, (boot_id, times) in enumerate(boots.items(), 1 - len(boots)):
        first, last = (
            format_moment(Moment.of(time_s), TIME_FORMAT, zone) for time_s in (times[0], times[-1])
        )
        lines.append(f"{number:>3} {boot_id} {first:<27} {last}")
    return "\n".join(lines) + "\n"
