"""The error messages of the two JavaScript engines.

The shell ``mongo`` runs SpiderMonkey and ``mongosh`` runs V8, which word the same error differently.
"""

from __future__ import annotations

from typing import Protocol


class ErrorMessages(Protocol):
    """The messages of an engine; each method is one error."""

    is_v8: bool

    def bad_token(self, text: str, kind: str) -> str:
        """An unexpected token."""

    def missing(self, sign: str, what: str, found: str, kind: str) -> str:
        """A missing sign, and the token found in its place."""

    def no_end(self, what: str) -> str:
        """A string, template, comment or regex without an end."""

    def illegal_character(self, character: str) -> str:
        """A character that begins no token."""

    def bad_number(self) -> str:
        """A name straight after a number."""

    def bad_escape(self) -> str:
        """A broken ``\\x`` or ``\\u``."""

    def bad_target(self) -> str:
        """An invalid target of an assignment."""

    def bad_regex(self, pattern: str, flags: str, why: str) -> str:
        """An invalid regular expression."""

    def no_variable_name(self) -> str:
        """A declaration without a valid name."""

    def duplicate_name(self, kind: str, name: str) -> str:
        """A name declared twice."""

    def too_long(self) -> str:
        """More source than is read."""

    def too_deep(self) -> str:
        """Source nested deeper than is read."""

    def not_defined(self, name: str) -> str:
        """An undeclared variable."""

    def too_early(self, name: str) -> str:
        """A variable used before its declaration ran."""

    def constant(self, name: str) -> str:
        """An assignment to a constant."""

    def not_callable(self, text: str) -> str:
        """A call of a value that is not a function."""

    def not_constructor(self, text: str) -> str:
        """``new`` on a value that is not a constructor."""

    def not_iterable(self, text: str) -> str:
        """Iteration over a value that is not iterable."""

    def no_properties(self, text: str, value: str, key: str, writing: bool) -> str:
        """A property of undefined or null."""

    def not_object_in(self, key: str, text: str) -> str:
        """``in`` on a value that is not an object."""

    def bad_instanceof(self, text: str) -> str:
        """``instanceof`` on a value that is not a function."""

    def bad_this(self, method: str, kind: str, value: str) -> str:
        """A built-in method called on a value of the wrong kind."""

    def bad_length(self) -> str:
        """An array longer than arrays can be."""

    def string_too_long(self) -> str:
        """A string longer than strings can be."""

    def reduce_empty(self) -> str:
        """``reduce`` of an empty array without an initial value."""

    def circular(self) -> str:
        """JSON of a circular structure."""

    def bad_json(self, text: str, at: int) -> str:
        """Invalid JSON."""

    def too_much_recursion(self) -> tuple[str, str]:
        """The class and the message of a stack overflow."""

    def no_conversion(self) -> str:
        """An object that cannot be converted to a primitive."""

    def bad_date(self) -> str:
        """An invalid date converted to text."""

    def negative_count(self, count: str) -> str:
        """``repeat`` with a negative count."""


class SpiderMonkey:
    """Mozilla's engine, as in the mongo shell 4.4."""

    is_v8 = False

    def bad_token(self, text: str, kind: str) -> str:
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

    def no_end(self, what: str) -> str:
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

    def duplicate_name(self, kind: str, name: str) -> str:
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
    """Google's engine, as in mongosh, which parses scripts with Babel: syntax errors have Babel's messages."""

    is_v8 = True

    def bad_token(self, text: str, kind: str) -> str:
        return "Unexpected token"

    def missing(self, sign: str, what: str, found: str, kind: str) -> str:
        if sign == ";" and not what:
            return "Missing semicolon."
        if what.endswith((" list", " parameters")):
            sign = ","
        return f'Unexpected token, expected "{sign}"' if len(sign) < 3 else "Unexpected token"

    def no_end(self, what: str) -> str:
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

    def duplicate_name(self, kind: str, name: str) -> str:
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
