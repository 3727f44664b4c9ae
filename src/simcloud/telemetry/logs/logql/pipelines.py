"""The parser of pipelines: filters, parsers, formats."""

from __future__ import annotations

from typing import Final

from simcloud.telemetry.logs.logql import extraction, filters, line_formats
from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.line import Stage
from simcloud.telemetry.logs.logql.nodes import Unwrap
from simcloud.telemetry.logs.logql.tokens import Reader, make_matcher

LINE_FILTERS: Final = ("|=", "!=", "|~", "!~")
_UNKNOWN: Final = ("|>", "!>")
_CONVERSIONS: Final = {
    "BYTES_CONV": "bytes",
    "DURATION_CONV": "duration",
    "DURATION_SECONDS_CONV": "duration_seconds",
}
_COMPARISONS: Final = ("==", ">", ">=", "<", "<=")


def read_stages(reader: Reader) -> tuple[Stage, ...]:
    """Parse all stages, up to ``unwrap`` or the end of the pipeline."""
    stages: list[Stage] = []
    while reader.word.kind in LINE_FILTERS or reader.word.kind in _UNKNOWN or reader.word.kind == "|":
        if reader.word.kind == "|":
            if reader.following.kind == "unwrap":
                break
            reader.next()
            stages.append(_stage(reader))
        else:
            stages.append(_line_filter(reader))
    return tuple(stages)


def read_unwrap(reader: Reader) -> Unwrap | None:
    """``| unwrap label`` and the filters behind it, if it is there."""
    if not (reader.word.kind == "|" and reader.following.kind == "unwrap"):
        return None
    reader.next()
    reader.next()
    conversion = ""
    if reader.word.kind in _CONVERSIONS:
        conversion = _CONVERSIONS[reader.next().kind]
        reader.expect("(")
        label = reader.expect("IDENTIFIER").text
        reader.expect(")")
    else:
        label = reader.expect("IDENTIFIER", *_CONVERSIONS).text
    stages = []
    while reader.accept("|"):
        stages.append(_label_filter(reader))
    return Unwrap(label, conversion, tuple(stages))


def _line_filter(reader: Reader) -> Stage:
    sign = reader.next()
    if sign.kind in _UNKNOWN:
        raise LogqlError(f"line filter {sign.kind} is not supported here", sign.line, sign.column)
    if reader.word.kind == "ip":
        raise LogqlError("ip() is not supported here", reader.word.line, reader.word.column)
    texts = [reader.expect("STRING", "ip").text]
    while reader.accept("or"):
        texts.append(reader.expect("STRING", "ip").text)
    return filters.line_filter(sign.kind, texts)


def _stage(reader: Reader) -> Stage:
    kind = reader.word.kind
    match kind:
        case "json":
            reader.next()
            found = _expressions(reader)
            return extraction.json_expressions(found) if found else extraction.json_stage
        case "logfmt":
            reader.next()
            flags = _flags(reader)
            return extraction.logfmt_stage(_expressions(reader), keep_empty="--keep-empty" in flags)
        case "pattern":
            reader.next()
            return extraction.pattern_stage(reader.expect("STRING").text)
        case "regexp":
            reader.next()
            return extraction.regexp_stage(reader.expect("STRING").text)
        case "line_format":
            reader.next()
            return line_formats.line_format(reader.expect("STRING").text)
        case "label_format":
            reader.next()
            return _label_format(reader)
        case "decolorize":
            reader.next()
            return line_formats.decolorize
        case "drop" | "keep":
            reader.next()
            choices = _choices(reader)
            return line_formats.drop(choices) if kind == "drop" else line_formats.keep(choices)
        case "IDENTIFIER" | "(":
            return _label_filter(reader)
        case "unpack":
            raise LogqlError("unpack is not supported here", reader.word.line, reader.word.column)
    reader.reject_word()


def _flags(reader: Reader) -> list[str]:
    flags = []
    while reader.word.kind == "PARSER_FLAG":
        flags.append(reader.next().text)
    return flags


def _expressions(reader: Reader) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    while reader.word.kind == "IDENTIFIER":
        name = reader.next().text
        found.append((name, reader.expect("STRING").text if reader.accept("=") else name))
        if not reader.accept(","):
            return found
    if found:
        reader.reject_word("IDENTIFIER")
    return found


def _label_format(reader: Reader) -> Stage:
    changes = []
    while True:
        name = reader.expect("IDENTIFIER").text
        reader.expect("=")
        source = reader.expect("IDENTIFIER", "STRING")
        changes.append((name, source.text, source.kind == "IDENTIFIER"))
        if not reader.accept(","):
            return line_formats.label_format(changes)


def _choices(reader: Reader) -> list[line_formats.Choice]:
    choices: list[line_formats.Choice] = []
    while True:
        if reader.following.kind in ("=", "!=", "=~", "!~"):
            matcher = reader.matcher()
            choices.append((matcher.name, matcher))
        else:
            choices.append((reader.expect("IDENTIFIER").text, None))
        if not reader.accept(","):
            return choices


def _label_filter(reader: Reader) -> Stage:
    """Conditions with ``or`` between them."""
    left = _and_filter(reader)
    while reader.accept("or"):
        left = filters.either(left, _and_filter(reader))
    return left


def _and_filter(reader: Reader) -> Stage:
    left = _operand(reader)
    while reader.accept("and"):
        left = filters.both(left, _operand(reader))
    return left


def _operand(reader: Reader) -> Stage:
    """Parse a condition. After a comma or another condition, all the rest belongs together."""
    condition = _condition(reader)
    if reader.accept(",") or reader.word.kind in ("IDENTIFIER", "("):
        return filters.both(condition, _label_filter(reader))
    return condition


def _condition(reader: Reader) -> Stage:
    if reader.accept("("):
        reader.deeper()
        inner = _label_filter(reader)
        reader.shallower()
        reader.expect(")")
        return inner
    name = reader.expect("IDENTIFIER").text
    if reader.word.kind in ("=~", "!~"):
        return filters.label_matcher(make_matcher(name, reader.next().kind, reader.expect("STRING").text))
    if reader.word.kind not in ("=", "!=", *_COMPARISONS):
        reader.reject_word()
    sign = reader.next().kind
    if sign in ("=", "!=") and reader.word.kind == "STRING":
        return filters.label_matcher(make_matcher(name, sign, reader.next().text))
    negative = reader.word.kind == "-" and reader.following.kind == "NUMBER"
    if negative or (reader.word.kind == "+" and reader.following.kind == "NUMBER"):
        reader.next()
    if reader.word.kind not in ("NUMBER", "DURATION", "BYTES"):
        reader.reject_word(*(("BYTES", "NUMBER", "DURATION") if sign in _COMPARISONS else ()))
    value = reader.next()
    return filters.label_comparison(name, sign, value.kind, -value.value if negative else value.value)
