"""The state of a running awk program: variables, the current record, conversions, costs.

Everything that compiled code shares is here. What waits (reading, writing, commands) is in ``inputs``
and ``output``; this module never waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from simcloud.machine.process import Context, LimitExceeded
from simcloud.patterns import RegexError
from simcloud.userland.awk import variables
from simcloud.userland.awk.errors import Fatal
from simcloud.userland.awk.fields import Record, splitter_for
from simcloud.userland.awk.inputs import Inputs
from simcloud.userland.awk.locale import Locale
from simcloud.userland.awk.output import Outputs
from simcloud.userland.awk.patterns import Pattern, compile_pattern, unknown_escapes
from simcloud.userland.awk.printf import format_values
from simcloud.userland.awk.randoms import Randoms
from simcloud.userland.awk.records import separator_for
from simcloud.userland.awk.values import (
    DEFAULT_FORMAT,
    UNSET,
    Array,
    Input,
    Value,
    integer_text,
    special_text,
    to_number,
    truth,
)

LOOP_TURNS: Final = 8
"""Turns of awk's loops that one turn of the process's budget pays for: they are that much lighter."""

MAX_CALLS: Final = 1000
"""Maximum depth of function calls."""

SMALL_TEXT: Final = 256
"""Strings up to this length cost nothing worth counting."""

ELEMENT_BYTES: Final = 128
"""Charge for a new array element, in addition to its subscript."""


class Runtime:
    """One run of a program. ``globals`` holds every global variable, the predefined ones first."""

    def __init__(self, ctx: Context, name: str, locale: Locale) -> None:
        self.ctx = ctx
        self.name = name
        self.locale = locale
        self.pay: Callable[[int], None] = ctx.spend_bytes
        self.globals: list[Any] = [UNSET] * len(variables.PREDEFINED)
        self.record = Record(self.pay)
        self.outputs = Outputs(ctx, locale)
        self.inputs = Inputs(ctx, locale, self.outputs, separator_for("\n", locale, ignore_case=False))
        self.randoms = Randoms()
        self.exit_status = 0
        self.rule_kind = "BEGIN"
        self.output_terminator = "\n"
        self.subscript_separator = "\x1c"
        self.text_format = DEFAULT_FORMAT
        self.print_format = DEFAULT_FORMAT
        self.ignore_case = False
        self._calls = 0
        self._turns_owed = 0
        self._warned: list[str] = []
        self._watchers = {
            "NR": self._counter(variables.NR),
            "FNR": self._counter(variables.FNR),
            "NF": self._set_field_count,
            "FS": self._set_field_separator,
            "OFS": self._set_output_separator,
            "ORS": self._set_output_terminator,
            "RS": self._set_record_separator,
            "SUBSEP": self._set_subscript_separator,
            "CONVFMT": self._set_text_format,
            "OFMT": self._set_print_format,
            "IGNORECASE": self._set_ignore_case,
        }
        self._set_defaults()

    def _set_defaults(self) -> None:
        defaults: dict[str, Value | Array] = {
            "NR": 0.0, "NF": 0.0, "FNR": 0.0, "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "SUBSEP": "\x1c",
            "RSTART": 0.0, "RLENGTH": -1.0, "RT": "", "CONVFMT": DEFAULT_FORMAT, "OFMT": DEFAULT_FORMAT,
            "IGNORECASE": 0.0, "ARGC": 0.0, "ERRNO": "", "ARGV": {},
            "ENVIRON": {}, "PROCINFO": {}, "FILENAME": "",
        }  # fmt: skip
        for name, value in defaults.items():
            self.globals[variables.SLOTS[name]] = value
        environ = self.globals[variables.ENVIRON]
        for key, text in self.ctx.env.items():
            environ[self.locale.from_argument(key)] = Input(self.locale.from_argument(text))
        process_facts = self.globals[variables.PROCINFO]
        process_facts.update({"version": "5.2.1", "platform": "posix"})
        process_facts["pid"] = float(self.ctx.process.pid)
        process_facts["strftime"] = "%a %b %e %H:%M:%S %Z %Y"

    # -- costs ---------------------------------------------------------------------------------

    def turn(self, weight: int = 1) -> None:
        """Pay for one turn of a loop or one call of a function."""
        self._turns_owed += weight
        if self._turns_owed >= LOOP_TURNS:
            self.ctx.spend_turn(self._turns_owed // LOOP_TURNS)
            self._turns_owed %= LOOP_TURNS

    def charge_text(self, text: str) -> str:
        """Charge for a new string if it is long, and return it."""
        if len(text) > SMALL_TEXT:
            self.pay(len(text))
        return text

    def enter_call(self) -> None:
        """One more function is being called inside another."""
        self.turn()
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise LimitExceeded(f"limit exceeded: more than {MAX_CALLS} function calls inside each other")

    def leave_call(self) -> None:
        """A function has returned."""
        self._calls -= 1

    # -- conversions ---------------------------------------------------------------------------

    def to_text(self, value: Value) -> str:
        """Convert a value to text, with CONVFMT for fractional numbers."""
        if isinstance(value, str):
            return value
        return self.number_text(value, self.text_format)

    def print_text(self, value: Value) -> str:
        """Convert a value to text as ``print`` does, with OFMT for fractional numbers."""
        if isinstance(value, str):
            return value
        return self.number_text(value, self.print_format)

    def number_text(self, number: float, template: str) -> str:
        """A number as a string."""
        whole = integer_text(number)
        if whole is not None:
            return whole
        if not math.isfinite(number):
            return special_text(number)
        if template == DEFAULT_FORMAT:
            return f"{number:.6g}"
        return self._format(number, template)

    def _format(self, number: float, template: str) -> str:
        # A format such as %s would ask for the text of the number again: there it has the default.
        return format_values(
            template,
            [number],
            self.locale,
            lambda value: self.number_text(to_number(value), DEFAULT_FORMAT),
            self.pay,
        )

    def format(self, arguments: list[Value]) -> str:
        """Format the arguments of ``printf`` and ``sprintf``."""
        template = self.to_text(arguments[0])
        return self.charge_text(format_values(template, arguments[1:], self.locale, self.to_text, self.pay))

    def pattern(self, source: str, place: str = "") -> Pattern:
        """A regular expression given as a string at run time."""
        if "\\" in source:
            self.warn_of_escapes(source, place)
        try:
            return compile_pattern(source, self.locale, self.ignore_case)
        except RegexError as error:
            raise Fatal(f"invalid regexp: {error}: /{source}/") from None

    def field_number(self, number: float) -> int:
        """Return the field index of ``$number``."""
        if not 0 <= number < 1e15:
            shown = int(number) if math.isfinite(number) else -(2**63)
            raise Fatal(f"attempt to access field {shown}")
        return int(number)

    # -- variables -----------------------------------------------------------------------------

    def watch(self, name: str, value: Value) -> None:
        """A predefined variable was assigned."""
        self._watchers[name](value)

    def _counter(self, slot: int) -> Callable[[Value], None]:
        def convert(value: Value) -> None:
            self.globals[slot] = to_number(value)

        return convert

    def _set_field_count(self, value: Value) -> None:
        count = to_number(value)
        if count < 0:
            raise Fatal("NF set to negative value")
        self.record.resize(self.field_number(count))

    def _set_field_separator(self, value: Value) -> None:
        self.record.split()
        paragraphs = self.to_text(self.globals[variables.SLOTS["RS"]]) == ""
        try:
            self.record.splitter = splitter_for(
                self.to_text(value),
                self.locale,
                self.pay,
                ignore_case=self.ignore_case,
                paragraphs=paragraphs,
            )
        except RegexError as error:
            raise Fatal(f"invalid regexp: {error}: /{self.to_text(value)}/") from None

    def _set_record_separator(self, value: Value) -> None:
        source = self.to_text(value)
        try:
            separator = separator_for(source, self.locale, ignore_case=self.ignore_case)
        except RegexError as error:
            raise Fatal(f"invalid regexp: {error}: /{source}/") from None
        self.inputs.change_separator(separator)
        self._set_field_separator(self.globals[variables.SLOTS["FS"]])

    def _set_output_separator(self, value: Value) -> None:
        self.record.whole()
        self.record.output_separator = self.to_text(value)

    def _set_output_terminator(self, value: Value) -> None:
        self.output_terminator = self.to_text(value)

    def _set_subscript_separator(self, value: Value) -> None:
        self.subscript_separator = self.to_text(value)

    def _set_text_format(self, value: Value) -> None:
        self.text_format = self.to_text(value)

    def _set_print_format(self, value: Value) -> None:
        self.print_format = self.to_text(value)

    def _set_ignore_case(self, value: Value) -> None:
        self.ignore_case = truth(value)
        self._set_field_separator(self.globals[variables.SLOTS["FS"]])

    # -- messages ------------------------------------------------------------------------------

    def message(self, kind: str, text: str, place: str) -> str:
        """A whole line of complaint, with the record it happened at."""
        where = f"{place}: " if place else ""
        count = self.globals[variables.FNR]
        if count > 0:
            filename = self.to_text(self.globals[variables.FILENAME])
            where += f"(FILENAME={filename} FNR={count:.0f}) "
        return f"{self.name}: {where}{kind}: {text}\n"

    def warn(self, text: str, place: str) -> None:
        """Complain and go on."""
        self.outputs.complain(self.message("warning", text, place))

    def warn_of_escapes(self, source: str, place: str) -> None:
        """Complain once about each meaningless backslash of a regular expression."""
        for warning in unknown_escapes(source):
            if warning not in self._warned:
                self._warned.append(warning)
                self.warn(warning, place)
