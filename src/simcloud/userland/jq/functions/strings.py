"""Functions on strings."""

from __future__ import annotations

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.arithmetic import split_text
from simcloud.userland.jq.functions.registry import native, refuse
from simcloud.userland.jq.json_reader import JsonError, parse_text
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.utf8 import REPLACEMENT

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
TO_LOWER = str.maketrans(UPPER, UPPER.lower())
TO_UPPER = str.maketrans(UPPER.lower(), UPPER)
BLANKS = " \t\n\r\f\v"


@native("explode", 0)
def explode(run: Run, value: Value) -> Value:
    """The characters as numbers."""
    if type(value) is not str:
        raise JqError("explode input must be a string")
    run.spend_bytes(32 * len(value))
    return [float(ord(char)) for char in value]


@native("implode", 0)
def implode(run: Run, value: Value) -> Value:
    """The text of such numbers."""
    if type(value) is not list:
        raise JqError("implode input must be an array")
    run.spend_bytes(len(value))
    return "".join(_character(code) for code in value)


def _character(code: Value) -> str:
    if type(code) is not float or code != code:
        raise JqError("Unicode codepoint must be numeric")
    if code < 0 or code >= 0x110000 or 0xD800 <= code < 0xE000:
        return REPLACEMENT
    return chr(int(code))


@native("ascii_downcase", 0)
def ascii_downcase(run: Run, value: Value) -> Value:
    """The letters A to Z made small."""
    if type(value) is not str:
        raise JqError("explode input must be a string")
    return run.text(value.translate(TO_LOWER))


@native("ascii_upcase", 0)
def ascii_upcase(run: Run, value: Value) -> Value:
    """The letters a to z made large."""
    if type(value) is not str:
        raise JqError("explode input must be a string")
    return run.text(value.translate(TO_UPPER))


@native("ascii", 0)
def ascii_character(_: Run, value: Value) -> Value:
    """The character of a number."""
    return _character(value)


@native("utf8bytelength", 0)
def utf8bytelength(_: Run, value: Value) -> Value:
    """Return the length of a text in UTF-8 bytes."""
    if type(value) is not str:
        refuse(value, "only strings have UTF-8 byte length")
    return float(len(value.encode()))


@native("startswith", 1)
def startswith(_: Run, value: Value, start: Value) -> Value:
    """Whether the text starts so."""
    if type(value) is not str or type(start) is not str:
        raise JqError("startswith() requires string inputs")
    return value.startswith(start)


@native("endswith", 1)
def endswith(_: Run, value: Value, end: Value) -> Value:
    """Whether the text ends so."""
    if type(value) is not str or type(end) is not str:
        raise JqError("endswith() requires string inputs")
    return value.endswith(end)


@native("ltrimstr", 1)
def ltrimstr(_: Run, value: Value, start: Value) -> Value:
    """The text without that start; anything else stays as it is."""
    if type(value) is str and type(start) is str:
        return value.removeprefix(start)
    return value


@native("rtrimstr", 1)
def rtrimstr(_: Run, value: Value, end: Value) -> Value:
    """The text without that end; anything else stays as it is."""
    if type(value) is str and type(end) is str:
        return value.removesuffix(end)
    return value


def _trimmable(value: Value) -> str:
    if type(value) is not str:
        refuse(value, "cannot be trimmed")
    return value


@native("trim", 0)
def trim(_: Run, value: Value) -> Value:
    """The text without blanks around it."""
    return _trimmable(value).strip(BLANKS)


@native("ltrim", 0)
def ltrim(_: Run, value: Value) -> Value:
    """The text without blanks before it."""
    return _trimmable(value).lstrip(BLANKS)


@native("rtrim", 0)
def rtrim(_: Run, value: Value) -> Value:
    """The text without blanks behind it."""
    return _trimmable(value).rstrip(BLANKS)


@native("split", 1)
def split(run: Run, value: Value, separator: Value) -> Value:
    """The parts of a text between separators."""
    if type(value) is not str or type(separator) is not str:
        raise JqError("split input and separator must be strings")
    return split_text(run, value, separator)


@native("fromjson", 0)
def fromjson(run: Run, value: Value) -> Value:
    """The value that a text describes."""
    if type(value) is not str:
        refuse(value, "only strings can be parsed")
    run.spend_bytes(len(value))
    try:
        return parse_text(value.encode())
    except JsonError as error:
        raise JqError(f"{error} (while parsing '{value}')") from None


@native("tonumber", 0)
def tonumber(run: Run, value: Value) -> Value:
    """The number that a text describes."""
    if type(value) is float:
        return value
    if type(value) is str:
        parsed = fromjson(run, value)
        if type(parsed) is float:
            return parsed
    refuse(value, "cannot be parsed as a number")
