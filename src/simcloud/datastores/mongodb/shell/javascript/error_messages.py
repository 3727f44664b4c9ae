"""What the two engines say when something is wrong.

The old shell runs SpiderMonkey, mongosh runs V8: the same mistake reads differently. A ``Words``
takes the facts and owns the sentence.
"""

from __future__ import annotations

from typing import Protocol


class Words(Protocol):
    """An engine's sentences; each method is one mistake."""

    is_v8: bool

    def unexpected(self, text: str, kind: str) -> str:
        """A word where none such may stand."""

    def missing(self, sign: str, what: str, found: str, kind: str) -> str:
        """A sign that should have stood where another word was found."""

    def unterminated(self, what: str) -> str:
        """A string, template, comment or regex without an end."""

    def illegal_character(self, character: str) -> str:
        """A character that begins nothing."""

    def bad_number(self) -> str:
        """A name straight after a number."""

    def bad_escape(self) -> str:
        """A broken ``\\x`` or ``\\u``."""

    def bad_target(self) -> str:
        """An assignment to something that holds nothing."""

    def bad_regex(self, pattern: str, flags: str, why: str) -> str:
        """A regular expression that does not read."""

    def no_variable_name(self) -> str:
        """A declaration of something that is no name."""

    def redeclared(self, kind: str, name: str) -> str:
        """A name declared twice."""

    def too_long(self) -> str:
        """More source than is read."""

    def too_deep(self) -> str:
        """Source nested deeper than is read."""

    def not_defined(self, name: str) -> str:
        """A variable nobody declared."""

    def too_early(self, name: str) -> str:
        """A variable used before its declaration ran."""

    def constant(self, name: str) -> str:
        """An assignment to a constant."""

    def not_callable(self, text: str) -> str:
        """A call of something that is no function."""

    def not_constructor(self, text: str) -> str:
        """``new`` on something that makes nothing."""

    def not_iterable(self, text: str) -> str:
        """Iteration over something that has no items."""

    def no_properties(self, text: str, value: str, key: str, writing: bool) -> str:
        """A property of undefined or null."""

    def not_object_in(self, key: str, text: str) -> str:
        """``in`` on something that is no object."""

    def bad_instanceof(self, text: str) -> str:
        """``instanceof`` something that is no function."""

    def bad_this(self, method: str, kind: str, value: str) -> str:
        """A built-in method called on the wrong kind of thing."""

    def bad_length(self) -> str:
        """An array longer than arrays can be."""

    def string_too_long(self) -> str:
        """A string longer than strings can be."""

    def reduce_empty(self) -> str:
        """``reduce`` of nothing without a first value."""

    def circular(self) -> str:
        """JSON of something that holds itself."""

    def bad_json(self, text: str, at: int) -> str:
        """JSON that does not read."""

    def too_much_recursion(self) -> tuple[str, str]:
        """Kind and words of the error at the end of the stack."""

    def no_conversion(self) -> str:
        """An object that turns into nothing plain."""

    def bad_date(self) -> str:
        """A date that is none, asked for its text."""

    def negative_count(self, count: str) -> str:
        """``repeat`` less than no times."""


class SpiderMonkey:
    """Mozilla's engine, as in the mongo shell 4.4."""

    is_v8 = False

    def unexpected(self, text: str, kind: str) -> str:
        if kind == "end":
            return "expected expression, got end of script"
        if kind in ("number", "string", "template"):
            return f"unexpected token: {kind} literal"
        if kind == "name":
            return "unexpected token: identifier"
        if kind == "keyword":
            return f"expected expression, got keyword '{text}'"
        return f"expected expression, got '{text}'"

    def missing(self, sign: str, what: str, found: str, kind: str) -> str:
        return f"missing {sign} {what}" if what else self._format_expected(found, kind)

    def _format_expected(self, found: str, kind: str) -> str:
        if kind in ("number", "string", "template"):
            return f"unexpected token: {kind} literal"
        if kind == "name":
            return "unexpected token: identifier"
        return f"unexpected token: {'end of script' if kind == 'end' else repr(found)}"

    def unterminated(self, what: str) -> str:
        return {
            "string": '"" literal not terminated before end of script',
            "template": "`` literal not terminated before end of script",
            "comment": "unterminated comment",
            "regex": "unterminated regular expression literal",
        }[what]

    def illegal_character(self, character: str) -> str:
        return "illegal character"

    def bad_number(self) -> str:
        return "identifier starts immediately after numeric literal"

    def bad_escape(self) -> str:
        return "malformed hexadecimal character escape sequence"

    def bad_target(self) -> str:
        return "invalid assignment left-hand side"

    def bad_regex(self, pattern: str, flags: str, why: str) -> str:
        return why

    def no_variable_name(self) -> str:
        return "missing variable name"

    def redeclared(self, kind: str, name: str) -> str:
        return f"redeclaration of {kind} {name}"

    def too_long(self) -> str:
        return "source is too long"

    def too_deep(self) -> str:
        return "too much recursion"

    def not_defined(self, name: str) -> str:
        return f"{name} is not defined"

    def too_early(self, name: str) -> str:
        return f"can't access lexical declaration `{name}' before initialization"

    def constant(self, name: str) -> str:
        return f"invalid assignment to const `{name}'"

    def not_callable(self, text: str) -> str:
        return f"{text} is not a function"

    def not_constructor(self, text: str) -> str:
        return f"{text} is not a constructor"

    def not_iterable(self, text: str) -> str:
        return f"{text} is not iterable"

    def no_properties(self, text: str, value: str, key: str, writing: bool) -> str:
        return f"{value} has no properties" if text == value else f"{text} is {value}"

    def not_object_in(self, key: str, text: str) -> str:
        return f"cannot use 'in' operator to search for \"{key}\" in {text}"

    def bad_instanceof(self, text: str) -> str:
        return f"invalid 'instanceof' operand {text}"

    def bad_this(self, method: str, kind: str, value: str) -> str:
        return f"{method} method called on incompatible {value}"

    def bad_length(self) -> str:
        return "invalid array length"

    def string_too_long(self) -> str:
        return "allocation size overflow"

    def reduce_empty(self) -> str:
        return "reduce of empty array with no initial value"

    def circular(self) -> str:
        return "cyclic object value"

    def bad_json(self, text: str, at: int) -> str:
        line = text.count("\n", 0, at) + 1
        column = at - (text.rfind("\n", 0, at) + 1) + 1
        what = "unexpected end of data" if at >= len(text) else "unexpected character"
        return f"JSON.parse: {what} at line {line} column {column} of the JSON data"

    def too_much_recursion(self) -> tuple[str, str]:
        return "InternalError", "too much recursion"

    def no_conversion(self) -> str:
        return "can't convert object to primitive type"

    def bad_date(self) -> str:
        return "invalid date"

    def negative_count(self, count: str) -> str:
        return "repeat count must be non-negative"


class V8(SpiderMonkey):
    """Google's engine, as in mongosh, which reads scripts with Babel: what does not read is in Babel's words."""

    is_v8 = True

    def unexpected(self, text: str, kind: str) -> str:
        return "Unexpected token"

    def missing(self, sign: str, what: str, found: str, kind: str) -> str:
        if sign == ";" and not what:
            return "Missing semicolon."
        if what.endswith((" list", " parameters")):
            sign = ","
        return f'Unexpected token, expected "{sign}"' if len(sign) < 3 else "Unexpected token"

    def unterminated(self, what: str) -> str:
        return {
            "string": "Unterminated string constant.",
            "template": "Unterminated template.",
            "comment": "Unterminated comment.",
            "regex": "Unterminated regular expression.",
        }[what]

    def illegal_character(self, character: str) -> str:
        return f"Unexpected character '{character}'."

    def bad_number(self) -> str:
        return "Identifier directly after number."

    def bad_escape(self) -> str:
        return "Invalid Unicode escape sequence"

    def bad_target(self) -> str:
        return "Invalid left-hand side in assignment expression."

    def bad_regex(self, pattern: str, flags: str, why: str) -> str:
        return f"Invalid regular expression: /{pattern}/{flags}: {why}"

    def no_variable_name(self) -> str:
        return "Unexpected token"

    def redeclared(self, kind: str, name: str) -> str:
        return f"Identifier '{name}' has already been declared."

    def too_deep(self) -> str:
        return "Maximum call stack size exceeded"

    def too_early(self, name: str) -> str:
        return f"Cannot access '{name}' before initialization"

    def constant(self, name: str) -> str:
        return "Assignment to constant variable."

    def no_properties(self, text: str, value: str, key: str, writing: bool) -> str:
        return f"Cannot {'set' if writing else 'read'} properties of {value} ({'setting' if writing else 'reading'} '{key}')"

    def not_object_in(self, key: str, text: str) -> str:
        return f"Cannot use 'in' operator to search for '{key}' in {text}"

    def bad_instanceof(self, text: str) -> str:
        return "Right-hand side of 'instanceof' is not callable"

    def bad_this(self, method: str, kind: str, value: str) -> str:
        return f"Method {method} called on incompatible receiver {value}"

    def bad_length(self) -> str:
        return "Invalid array length"

    def string_too_long(self) -> str:
        return "Invalid string length"

    def reduce_empty(self) -> str:
        return "Reduce of empty array with no initial value"

    def circular(self) -> str:
        return "Converting circular structure to JSON"

    def bad_json(self, text: str, at: int) -> str:
        if at >= len(text):
            return "Unexpected end of JSON input"
        shown = text if len(text) <= 40 else "..." + text[max(0, at - 10) : at + 10] + "..."
        return f"Unexpected token '{text[at]}', \"{shown}\" is not valid JSON"

    def too_much_recursion(self) -> tuple[str, str]:
        return "RangeError", "Maximum call stack size exceeded"

    def no_conversion(self) -> str:
        return "Cannot convert object to primitive value"

    def bad_date(self) -> str:
        return "Invalid time value"

    def negative_count(self, count: str) -> str:
        return f"Invalid count value: {count}"
