"""C's ``printf`` directives for floating point, for the format of ``seq``."""

from __future__ import annotations

import re

from msgspec import Struct

from simcloud.machine.process import Context
from simcloud.userland.commands.text.counts import whole
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import fail

_DIRECTIVE = re.compile(r"%([-+#0 ']*+)([0-9]*)(\.[0-9]*)?(.?)")


class FloatFormat(Struct):
    """Text around one directive. ``percent`` signs doubled in the text are already single."""

    before: str
    flags: str
    width: int
    precision: int | None
    kind: str
    after: str

    def show(self, value: float) -> str:
        """A number in this format."""
        precision = "" if self.precision is None else f".{self.precision}"
        width = str(self.width) if self.width else ""
        return f"{self.before}{f'%{self.flags}{width}{precision}{self.kind}' % value}{self.after}"


def parse_float_format(ctx: Context, text: str, kinds: str) -> FloatFormat:
    """Read a format with exactly one directive of these kinds, or end the tool with its complaint."""
    at, before = _literal(text, 0)
    if at == len(text):
        fail(ctx, f"format {quote(text)} has no % directive")
    form = _DIRECTIVE.match(text[at:])
    assert form is not None  # a lone percent sign matches
    kind = form[4]
    end = at + len(form[0])
    if kind == "L":
        kind, end = text[end : end + 1], end + 1
    if not kind:
        fail(ctx, f"format {quote(text)} ends in %")
    if kind not in kinds:
        fail(ctx, f"format {quote(text)} has unknown %{kind} directive")
    stop, after = _literal(text, end)
    if stop < len(text):
        fail(ctx, f"format {quote(text)} has too many % directives")
    width, precision = whole(form[2] or "0"), form[3]
    digits = None if precision is None else whole(precision[1:] or "0")
    ctx.spend_bytes(width + (digits or 0))
    return FloatFormat(before, form[1].replace("'", ""), width, digits, kind, after)


def _literal(text: str, at: int) -> tuple[int, str]:
    """Plain text from a place on; where the next directive begins, and the text."""
    found = ""
    while at < len(text):
        if text[at] == "%":
            if text[at + 1 : at + 2] != "%":
                break
            at += 1
        found += text[at]
        at += 1
    return at, found
