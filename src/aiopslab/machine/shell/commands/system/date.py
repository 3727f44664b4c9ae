"""The date command: the machine's clock, or another moment, in a format."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from aiopslab.machine.process import Context
from aiopslab.machine.shell.commands.options import UsageError, parse
from aiopslab.machine.shell.commands.registry import command

DEFAULT_FORMAT: Final = "%a %b %e %H:%M:%S %Z %Y"
RFC_EMAIL: Final = "%a, %d %b %Y %H:%M:%S %z"
ISO_FORMATS: Final = {
    "date": "%Y-%m-%d",
    "hours": "%Y-%m-%dT%H%:z",
    "minutes": "%Y-%m-%dT%H:%M%:z",
    "seconds": "%Y-%m-%dT%H:%M:%S%:z",
    "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}
RFC_3339: Final = {"date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z"}
UNIT_S: Final = {"sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800,
                 "fortnight": 1_209_600}  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ABSOLUTE_FORMATS: Final = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d",
    "%m/%d/%Y", "%Y%m%d", "%b %d %Y", "%d %b %Y", "%b %d %Y %H:%M:%S", "%d %b %Y %H:%M:%S", "%b %d",
    "%a %b %d %H:%M:%S %Y", "%Y/%m/%d %H:%M:%S", "%B %d %Y", "%d %B %Y",
)  # fmt: skip
TIME_FORMATS: Final = ("%H:%M", "%H:%M:%S")


@command("date")
async def date(ctx: Context) -> int:
    """Print the date and time. The clock is virtual and cannot be set."""
    options = parse(
        ctx.args,
        "d:r:uRI::s:",
        ("date=", "reference=", "utc", "universal", "rfc-email", "iso-8601=?", "rfc-3339=", "set="),
    )
    if options.any("s", "set"):
        await ctx.err("date: cannot set date: Operation not permitted\n")
        return 1
    moment = ctx.now
    if options.any("r", "reference"):
        moment = ctx.files.stat(options.last("r", "reference")).mtime
    if options.any("d", "date"):
        text = options.last("d", "date")
        parsed = parse_moment(text, ctx.now)
        if parsed is None:
            await ctx.err(f"date: invalid date '{text}'\n")
            return 1
        moment = parsed
    form = DEFAULT_FORMAT
    for operand in options.operands:
        if not operand.startswith("+"):
            await ctx.err(f"date: invalid date '{operand}'\n")
            return 1
        form = operand[1:]
    if options.any("R", "rfc-email"):
        form = RFC_EMAIL
    elif options.any("I", "iso-8601"):
        form = _lookup(ISO_FORMATS, options.last("I", "iso-8601") or "date", "--iso-8601")
    elif options.any("rfc-3339"):
        form = _lookup(RFC_3339, options.last("rfc-3339"), "--rfc-3339")
    await ctx.out(format_moment(moment, form) + "\n")
    return 0


def _lookup(table: dict[str, str], word: str, option: str) -> str:
    matches = [name for name in table if name.startswith(word)]
    if not word or not matches:
        raise UsageError(f"date: invalid argument '{word}' for '{option}'")
    return table[matches[0]]


def format_moment(moment: float, form: str) -> str:
    """GNU date's format language, in UTC."""
    second = int(moment // 1)
    nanos = round((moment - second) * 1e9) % 1_000_000_000
    when = datetime.fromtimestamp(second, UTC)
    out, position = [], 0
    while position < len(form):
        if form[position] != "%" or position + 1 >= len(form):
            out.append(form[position])
            position += 1
            continue
        end = position + 1
        while end < len(form) - 1 and form[end] in "-_0^#:123456789":
            end += 1
        out.append(_directive(form[position + 1 : end], form[end], when, second, nanos))
        position = end + 1
    return "".join(out)


def _directive(flags: str, letter: str, when: datetime, second: int, nanos: int) -> str:
    if letter == "s":
        text = str(second)
    elif letter == "N":
        digits = flags.lstrip("-_0^#")
        text = f"{nanos:09d}"[: int(digits)] if digits.isdigit() else f"{nanos:09d}"
    elif letter == "z":
        text = "+00:00" if ":" in flags else "+0000"
    elif letter == "Z":
        text = "UTC"
    elif letter in "nt%":
        text = {"n": "\n", "t": "\t", "%": "%"}[letter]
    elif letter in "kl":
        text = f"{int(when.strftime('%H' if letter == 'k' else '%I')):2d}"
    elif letter == "P":
        text = when.strftime("%p").lower()
    elif letter in "qC":
        text = str((when.month + 2) // 3) if letter == "q" else f"{when.year // 100:02d}"
    elif letter in "aAbBcdDeFgGhHIjmMprRSTuUVwWxXyY":
        text = _portable(letter, when)
    else:
        return f"%{flags}{letter}"
    if "-" in flags:
        text = text.lstrip("0 ") or "0"
    elif "_" in flags and text[:1] == "0":
        text = text.lstrip("0").rjust(len(text)) if text.strip("0") else "0".rjust(len(text))
    return text.upper() if "^" in flags else text


def _portable(letter: str, when: datetime) -> str:
    forms = {"c": "%a %b %e %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S", "r": "%I:%M:%S %p", "h": "%b"}
    return when.strftime(forms.get(letter, f"%{letter}"))


def parse_moment(text: str, now: float) -> float | None:
    """Seconds since 1970 for what people write after ``date -d``; None when it means nothing."""
    words = text.replace(",", " ").split()
    if len(words) == 1 and words[0].startswith("@"):
        try:
            return float(words[0][1:])
        except ValueError:
            return None
    if words and words[-1] in ("UTC", "GMT", "Z"):
        words = words[:-1]
    rest, shift_s, months = _relative(words)
    base = _absolute(" ".join(rest), now)
    if base is None:
        return None
    if months:
        base = _add_months(base, months)
    return base + shift_s


def _relative(words: list[str]) -> tuple[list[str], float, int]:
    """Take relative items out of a date: what is left, the seconds and the months they add."""
    rest: list[str] = []
    shift_s, months, position = 0.0, 0, 0
    while position < len(words):
        word = words[position].lower()
        following = words[position + 1].lower() if position + 1 < len(words) else ""
        count = {"next": 1, "last": -1, "a": 1, "an": 1}.get(word)
        if (
            count is None
            and word.lstrip("+-").isdigit()
            and following.rstrip("s") in (*UNIT_S, "month", "year")
        ):
            count = int(word)
        unit = following.rstrip("s")
        if count is not None and unit in (*UNIT_S, "month", "year"):
            position += 2
            if position < len(words) and words[position].lower() == "ago":
                count, position = -count, position + 1
            if unit in UNIT_S:
                shift_s += count * UNIT_S[unit]
            else:
                months += count * (12 if unit == "year" else 1)
        elif word in ("tomorrow", "yesterday"):
            shift_s += 86_400 if word == "tomorrow" else -86_400
            position += 1
        else:
            rest.append(words[position])
            position += 1
    return rest, shift_s, months


def _absolute(text: str, now: float) -> float | None:
    if text in ("", "now"):
        return now
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if text.lower() == "today":
        return now
    if text.lower() == "midnight":
        return today.timestamp()
    if text.lower() in WEEKDAYS or text.lower() in [day[:3] for day in WEEKDAYS]:
        wanted = [day[:3] for day in WEEKDAYS].index(text.lower()[:3])
        return (today + timedelta(days=(wanted - today.weekday()) % 7)).timestamp()
    clean, fraction = text.removesuffix("Z").removesuffix("+00:00").removesuffix("+0000").strip(), 0.0
    head, dot, digits = clean.rpartition(".")
    if dot and digits.isdigit() and ":" in head:
        clean, fraction = head, float(f"0.{digits}")
    for form in TIME_FORMATS:
        try:
            clock = datetime.strptime(clean, form)
        except ValueError:
            continue
        return today.replace(hour=clock.hour, minute=clock.minute, second=clock.second).timestamp() + fraction
    for form in ABSOLUTE_FORMATS:
        try:
            # A leap day without a year must still parse.
            when = (
                datetime.strptime(f"{clean} {today.year}", f"{form} %Y")
                if "Y" not in form
                else (datetime.strptime(clean, form))
            )
        except ValueError:
            continue
        return when.replace(tzinfo=UTC).timestamp() + fraction
    return None


def _add_months(moment: float, months: int) -> float:
    when = datetime.fromtimestamp(moment, UTC)
    total = when.year * 12 + when.month - 1 + months
    first = when.replace(year=total // 12, month=total % 12 + 1, day=1)
    # Days past a month's end run over into the next, as GNU date has it.
    return (first + timedelta(days=when.day - 1)).timestamp()
