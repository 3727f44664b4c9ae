"""Functions on text."""

from __future__ import annotations

import re
import string
from random import Random
from typing import Any

from simcloud.golang import Int, quote
from simcloud.golang.template import CallError, Function, absent
from simcloud.helm.functions.values import Strings, check_size, text_of

_S = "string"
_I = "int"


def _quote(*values: Any) -> str:
    return " ".join(quote(text_of(value)) for value in values if not absent(value))


def _squote(*values: Any) -> str:
    return " ".join(f"'{text_of(value)}'" for value in values if not absent(value))


def _cat(*values: Any) -> str:
    return " ".join(text_of(value) for value in values if not absent(value))


def _trunc(count: int, text: str) -> str:
    if count < 0 and len(text) + count > 0:
        return text[len(text) + count :]
    return text[:count] if 0 <= count < len(text) else text


def _substr(start: int, end: int, text: str) -> str:
    packed = text.encode("utf-8", "surrogateescape")
    if start < 0:
        cut = packed[:end]
    elif end < 0 or end > len(packed):
        cut = packed[start:]
    else:
        cut = packed[start:end]
    return cut.decode("utf-8", "surrogateescape")


def _indent(spaces: int, text: str) -> str:
    pad = " " * check_size(max(spaces, 0))
    check_size(len(text) + len(pad) * (text.count("\n") + 1))
    return pad + text.replace("\n", f"\n{pad}")


def _repeat(count: int, text: str) -> str:
    if count < 0:
        raise CallError("strings: negative Repeat count")
    check_size(count * len(text))
    return text * count


def _replace(old: str, new: str, text: str) -> str:
    check_size(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
    return text.replace(old, new)


def _title(text: str) -> str:
    return re.sub(r"(?<![\w'])(\w)", lambda found: found[1].upper(), text)


def _kebabcase(text: str) -> str:
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", text)
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", spaced)
    spaced = re.sub(r"([A-Za-z])(\d)|(\d)([A-Za-z])", lambda m: f"{m[1] or m[3]} {m[2] or m[4]}", spaced)
    return "-".join(word.lower() for word in re.split(r"[\s_\-.]+", spaced))


def _join(separator: str, value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return "" if absent(value) else text_of(value)
    parts = [text_of(item) for item in value if not absent(item)]
    check_size(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _split(separator: str, text: str) -> dict[str, str]:
    return {f"_{place}": part for place, part in enumerate(_parts(separator, text))}


def _parts(separator: str, text: str) -> Strings:
    return Strings(text.split(separator) if separator else list(text))


def _strings(value: Any) -> Strings:
    if absent(value):
        return Strings()
    if isinstance(value, list):
        return Strings(text_of(item) for item in value if not absent(item))
    return Strings([text_of(value)])


def _sort_alpha(value: Any) -> Strings:
    return Strings(sorted(_strings(value)))


def _fail(message: str) -> str:
    raise CallError(message)


TEXTS: dict[str, Function] = {
    "quote": Function(_quote, 0),
    "squote": Function(_squote, 0),
    "cat": Function(_cat, 0),
    "upper": Function(str.upper, 1, 1, (_S,)),
    "lower": Function(str.lower, 1, 1, (_S,)),
    "title": Function(_title, 1, 1, (_S,)),
    "trim": Function(lambda text: text.strip(), 1, 1, (_S,)),
    "trimAll": Function(lambda cut, text: text.strip(cut), 2, 2, (_S, _S)),
    "trimall": Function(lambda cut, text: text.strip(cut), 2, 2, (_S, _S)),
    "trimSuffix": Function(lambda end, text: text.removesuffix(end), 2, 2, (_S, _S)),
    "trimPrefix": Function(lambda start, text: text.removeprefix(start), 2, 2, (_S, _S)),
    "trunc": Function(_trunc, 2, 2, (_I, _S)),
    "substr": Function(_substr, 3, 3, (_I, _I, _S)),
    "indent": Function(_indent, 2, 2, (_I, _S)),
    "nindent": Function(lambda spaces, text: "\n" + _indent(spaces, text), 2, 2, (_I, _S)),
    "repeat": Function(_repeat, 2, 2, (_I, _S)),
    "replace": Function(_replace, 3, 3, (_S, _S, _S)),
    "contains": Function(lambda part, text: part in text, 2, 2, (_S, _S)),
    "hasPrefix": Function(lambda start, text: text.startswith(start), 2, 2, (_S, _S)),
    "hasSuffix": Function(lambda end, text: text.endswith(end), 2, 2, (_S, _S)),
    "nospace": Function(lambda text: re.sub(r"\s", "", text), 1, 1, (_S,)),
    "kebabcase": Function(_kebabcase, 1, 1, (_S,)),
    "join": Function(_join, 2, 2, (_S, "")),
    "split": Function(_split, 2, 2, (_S, _S)),
    "splitList": Function(_parts, 2, 2, (_S, _S)),
    "toString": Function(text_of, 1, 1),
    "toStrings": Function(_strings, 1, 1),
    "sortAlpha": Function(_sort_alpha, 1, 1),
    "fail": Function(_fail, 1, 1, (_S,)),
}


def random_texts(stream: Random) -> dict[str, Function]:
    """Functions of chance, drawn from the world's own stream."""

    def make_draw(letters: str) -> Function:
        def draw(count: int) -> str:
            return "".join(stream.choice(letters) for _ in range(check_size(count)))

        return Function(draw, 1, 1, (_I,))

    def between(low: int, high: int) -> Int:
        if high <= low:
            raise CallError("invalid argument to Intn")
        return Int(stream.randrange(low, high))

    def uuid() -> str:
        bits = (stream.getrandbits(128) & ~(0xF << 76) & ~(3 << 62)) | (4 << 76) | (2 << 62)
        text = f"{bits:032x}"
        return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    letters = string.ascii_lowercase + string.ascii_uppercase
    return {
        "randAlphaNum": make_draw(letters + string.digits),
        "randAlpha": make_draw(letters),
        "randNumeric": make_draw(string.digits),
        "randInt": Function(between, 2, 2, (_I, _I)),
        "uuidv4": Function(uuid, 0, 0),
    }
