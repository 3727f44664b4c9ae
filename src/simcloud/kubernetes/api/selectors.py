"""Label and field selectors, from query parameters and from objects.

``parse_labels("app in (web,api),tier!=x")`` and ``parse_fields("status.phase=Running")`` return selectors that match
objects and format themselves like the genuine ones. A selector that cannot be parsed raises ``BadRequest`` with the
server's message. ``selectable_fields`` lists the supported fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from simcloud.kubernetes.api.errors import BadRequest
from simcloud.kubernetes.api.field_errors import FieldError, invalid
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectable_fields import field_reader, field_value, refusal

if TYPE_CHECKING:
    from simcloud.kubernetes.api.resources import Resource

_TOKEN = re.compile(r"[ \t\r\n]*(?:(==|!=|[=!(),><])|([^=!(),>< \t\r\n\0]+)\0?)")
_SYMBOLS = {"", "==", "!=", "=", "!", "(", ")", ",", ">", "<"}
_OPERATORS = {"in", "notin", "=", "==", "!=", ">", "<"}
_WORDS = {"in": " in ", "notin": " notin "}
_KEY_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY = re.compile(rf"{_KEY_FORM}\Z")
_SUBDOMAIN_FORM = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?\Z")
_INT64 = range(-(2**63), 2**63)
_EXPRESSIONS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


class Requirement(Struct, frozen=True):
    """One condition on one label: ``operator`` is in, notin, =, ==, !=, >, <, exists or !."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels meet this condition."""
        value = labels.get(self.key)
        match self.operator:
            case "in" | "=" | "==":
                return value is not None and value in self.values
            case "notin" | "!=":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
        number, limit = _int64(value), _int64(self.values[0])
        if number is None or limit is None:
            return False
        return number > limit if self.operator == ">" else number < limit

    def __str__(self) -> str:
        if self.operator == "exists":
            return self.key
        if self.operator == "!":
            return f"!{self.key}"
        values = ",".join(sorted(self.values))
        if self.operator in _WORDS:
            values = f"({values})"
        return f"{self.key}{_WORDS.get(self.operator, self.operator)}{values}"


class LabelSelector(Struct, frozen=True):
    """Conditions that must all hold. Without any it matches everything, unless it is ``nothing``."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Whether an object with these labels is selected."""
        if self.nothing:
            return False
        return all(requirement.matches(labels or {}) for requirement in self.requirements)

    def __bool__(self) -> bool:
        """Whether it narrows anything."""
        return self.nothing or bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


NOTHING = LabelSelector(nothing=True)


def parse_labels(text: str) -> LabelSelector:
    """The label selector of a query. BadRequest says what cannot be read."""
    requirements = _LabelParser(_utf8(text)).parse()
    return LabelSelector(tuple(sorted(requirements, key=lambda one: one.key)))


def from_label_selector(selector: Object | None) -> LabelSelector:
    """The selector of a LabelSelector object; a missing one selects nothing, an empty one everything."""
    if selector is None:
        return NOTHING
    requirements = [
        _requirement(key, "=", (value or "",)) for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for expression in selector.get("matchExpressions") or ():
        operator = expression.get("operator") or ""
        if operator not in _EXPRESSIONS:
            raise BadRequest(f'"{operator}" is not a valid label selector operator')
        values = tuple(value or "" for value in expression.get("values") or ())
        requirements.append(_requirement(expression.get("key") or "", _EXPRESSIONS[operator], values))
    return LabelSelector(tuple(sorted(requirements, key=lambda one: one.key)))


def from_set(labels: Mapping[str, str] | None) -> LabelSelector:
    """The selector of a plain map of labels, as Services and ReplicationControllers have; not validated."""
    return LabelSelector(
        tuple(Requirement(key, "=", (value,)) for key, value in sorted((labels or {}).items()))
    )


class _LabelParser:
    """Reads requirements from tokens. A token is a symbol, a word, or empty at the end."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        position = 0
        while match := _TOKEN.match(text, position):
            self.tokens.append(match[1] or match[2])
            position = match.end()
        self.tokens.append("")
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def parse(self) -> list[Requirement]:
        requirements: list[Requirement] = []
        if not self.peek():
            return requirements
        if self.peek() in _SYMBOLS - {"!"}:
            raise BadRequest(f"found '{self.peek()}', expected: !, identifier, or 'end of string'")
        while True:
            try:
                requirements.append(self.requirement())
            except BadRequest as error:
                raise BadRequest(f"unable to parse requirement: {error.message}") from None
            token = self.take()
            if not token:
                return requirements
            if token != ",":
                raise BadRequest(f"found '{token}', expected: ',' or 'end of string'")
            if self.peek() in _SYMBOLS - {"!"}:
                raise BadRequest(f"found '{self.peek()}', expected: identifier after ','")

    def requirement(self) -> Requirement:
        key = self.take()
        absent = key == "!"
        if absent:
            key = self.take()
        if key in _SYMBOLS:
            raise BadRequest(f"found '{key}', expected: identifier")
        _refuse([invalid("<nil>", key, "; ".join(messages))] if (messages := _key_faults(key)) else [])
        if absent:
            return _requirement(key, "!", ())
        if self.peek() in ("", ","):
            return _requirement(key, "exists", ())
        operator = self.take()
        if operator not in _OPERATORS:
            raise BadRequest(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")
        values = self.values() if operator in _WORDS else self.value()
        return _requirement(key, operator, tuple(sorted(set(values))))

    def value(self) -> list[str]:
        if self.peek() in ("", ","):
            return [""]
        token = self.take()
        if token in _SYMBOLS:
            raise BadRequest(f"found '{token}', expected: identifier")
        return [token]

    def values(self) -> list[str]:
        token = self.take()
        if token != "(":
            raise BadRequest(f"found '{token}' expected: '('")
        if self.peek() in _SYMBOLS - {",", ")"}:
            raise BadRequest(f"found '{self.peek()}', expected: ',', ')' or identifier")
        found = [""] if self.peek() in (",", ")") else []
        while (token := self.take()) != ")":
            if token in _SYMBOLS and token != ",":
                raise BadRequest(f"found '{token}', expected: ',', or identifier")
            following = self.peek()
            if token != ",":
                found.append(token)
                if following not in (",", ")"):
                    raise BadRequest(f"found '{following}', expected: ',' or ')'")
            elif following in (",", ")"):
                found.append("")
        return found


def _requirement(key: str, operator: str, values: tuple[str, ...]) -> Requirement:
    """A requirement that holds to the rules of keys and values."""
    faults = []
    if messages := _key_faults(key):
        faults.append(invalid("key", key, "; ".join(messages)))
    if operator in _WORDS and not values:
        faults.append(invalid("values", [], "for 'in', 'notin' operators, values set can't be empty"))
    if operator in ("exists", "!") and values:
        faults.append(
            invalid("values", list(values), "values set must be empty for exists and does not exist")
        )
    for index, value in enumerate(values):
        if operator in ("<", ">") and _int64(value) is None:
            faults.append(
                invalid(f"values[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
            )
    for index, value in enumerate(values):
        if messages := _value_faults(value):
            faults.append(invalid(f"values[{index}][{key}]", value, "; ".join(messages)))
    _refuse(faults)
    return Requirement(key, operator, values)


def _refuse(faults: Sequence[FieldError]) -> None:
    messages = list(dict.fromkeys(map(str, faults)))
    if messages:
        raise BadRequest(messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]")


_ALPHANUMERIC = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric"
    f" character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_KEY_FORM}')"
)
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must"
    f" start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORM}')"
)
_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must"
    " start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345',"
    f" regex used for validation is '({_KEY_FORM})?')"
)


def _key_faults(key: str) -> list[str]:
    parts = key.split("/")
    if len(parts) > 2:
        return [
            f"a valid label key {_ALPHANUMERIC} with an optional DNS subdomain prefix and '/'"
            " (e.g. 'example.com/MyName')"
        ]
    faults = []
    if len(parts) == 2:
        prefix = parts[0]
        if not prefix:
            faults.append("prefix part must be non-empty")
        elif len(prefix.encode()) > 253:
            faults.append("prefix part must be no more than 253 bytes")
        if prefix and not all(map(_SUBDOMAIN_LABEL.match, prefix.split("."))):
            faults.append(f"prefix part {_SUBDOMAIN}")
    name = parts[-1]
    if not name:
        faults.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        faults.append("name part must be no more than 63 bytes")
    if not _KEY.match(name):
        faults.append(f"name part {_ALPHANUMERIC}")
    return faults


def _value_faults(value: str) -> list[str]:
    faults = []
    if len(value.encode()) > 63:
        faults.append("must be no more than 63 bytes")
    if value and not _KEY.match(value):
        faults.append(_VALUE)
    return faults


def _int64(text: str | None) -> int | None:
    if text is None or not re.match(r"[+-]?[0-9]{1,30}\Z", text):
        return None
    number = int(text)
    return number if number in _INT64 else None


def _utf8(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 query can hold."""
    return text.encode("utf-8", "replace").decode()


class FieldTerm(Struct, frozen=True):
    """One field that must, or must not, have a value."""

    field: str
    value: str
    negated: bool = False

    def __str__(self) -> str:
        value = self.value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
        return f"{self.field}{'!=' if self.negated else '='}{value}"


class FieldSelector(Struct, frozen=True):
    """Terms that must all hold; without any it matches everything."""

    terms: tuple[FieldTerm, ...] = ()

    def check(self, resource: Resource) -> None:
        """Refuse, as BadRequest, a field that objects of this resource cannot be selected by."""
        for term in self.terms:
            if message := refusal(resource, term.field):
                raise BadRequest(message)

    def matches(self, obj: Object, resource: Resource) -> bool:
        """Whether an object is selected. A field that ``check`` would refuse counts as empty."""
        return all(
            (field_value(obj, resource, term.field) == term.value) != term.negated for term in self.terms
        )

    def select(self, objects: list[Object], resource: Resource) -> list[Object]:
        """Those that are selected, in their order."""
        for term in self.terms:
            read, value, negated = field_reader(resource, term.field), term.value, term.negated
            objects = [obj for obj in objects if (read(obj) == value) != negated]
        return objects

    def exact(self, field: str) -> str | None:
        """The value that a field must have, where a term says so."""
        return next((term.value for term in self.terms if term.field == field and not term.negated), None)

    def __bool__(self) -> bool:
        """Whether it narrows anything."""
        return bool(self.terms)

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))


def parse_fields(text: str) -> FieldSelector:
    """The field selector of a query. BadRequest says what cannot be read."""
    text = _utf8(text)
    terms = []
    for part in sorted(re.findall(r"(?:[^\\,]|\\.|\\\Z)+", text, re.DOTALL)):
        match = re.search(r"!=|==?", part)
        if match is None:
            raise BadRequest(f"invalid selector: '{text}'; can't understand '{part}'")
        terms.append(FieldTerm(part[: match.start()], _unescape(part[match.end() :]), match[0] == "!="))
    return FieldSelector(tuple(terms))


def _unescape(value: str) -> str:
    plain: list[str] = []
    characters = iter(value)
    for character in characters:
        if character == "=":
            raise BadRequest(f"invalid field selector: unescaped character in value: {ord(character)}")
        if character == "\\":
            escaped = next(characters, "")
            if not escaped or escaped not in "\\,=":
                raise BadRequest(f"invalid field selector: invalid escape sequence: \\{escaped}")
            character = escaped
        plain.append(character)
    return "".join(plain)
