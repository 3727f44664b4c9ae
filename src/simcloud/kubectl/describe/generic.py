"""The generic description of kinds without their own, such as custom resources: every field with a readable name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from simcloud.golang import sprint
from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import Page
from simcloud.kubectl.describe.parts import write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader
from simcloud.kubernetes.api import Object

_TOLD_ABOVE: Final = frozenset(
    f".metadata.{field}" for field in ("managedFields", "name", "namespace", "labels", "annotations")
)
_ACRONYMS: Final = frozenset({"API", "URL", "UID", "GUID"})
_PLAIN_NAME = re.compile(r"[^\W\d_]*(?:-[^\W\d_]*)*\Z")


async def describe_anything(reader: Reader, obj: Object, show_events: bool) -> str:
    """An object of any kind."""
    page = Page()
    write_name(page, obj)
    write_metadata(page, obj)
    _write_fields(page, obj, 0, "")
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_fields(page: Page, fields: Object, level: int, above: str) -> None:
    for field in sorted(fields):
        value, path = fields[field], f"{above}.{field}"
        if path in _TOLD_ABOVE:
            continue
        if not isinstance(value, dict | list):
            page.field(readable(field), sprint(value), level)
            continue
        page.line(f"{readable(field)}:", level=level)
        if isinstance(value, dict):
            _write_fields(page, value, level + 1, path)
        else:
            _write_list(page, value, level + 1, path)


def _write_list(page: Page, values: list[Any], level: int, path: str) -> None:
    for value in values:
        if isinstance(value, dict):
            _write_fields(page, value, level, path)
        else:
            page.line(sprint(value), level=level)


def readable(field: str) -> str:
    """``lastTransitionTime`` as ``Last Transition Time``; names with other characters than letters stay."""
    if not _PLAIN_NAME.match(field):
        return field
    return " ".join(_capitalise(word) for word in _words(field))


def _capitalise(word: str) -> str:
    if word.upper() in _ACRONYMS:
        return word.upper()
    return word[:1].upper() + word[1:] if word == word.lower() else word


def _words(field: str) -> Iterator[str]:
    """The words of a name: a capital letter begins one, several of them are one of their own."""
    runs = ["".join(letters) for _, letters in groupby(field, _letter_case)]
    for index in range(len(runs) - 1):
        if _letter_case(runs[index][:1]) == "upper" and _letter_case(runs[index + 1][:1]) == "lower":
            runs[index], runs[index + 1] = runs[index][:-1], runs[index][-1] + runs[index + 1]
    return _with_plurals([run for run in runs if run])


def _with_plurals(words: list[str]) -> Iterator[str]:
    """Capitals and a capitalised word after them are one: ``URLs`` and not ``UR Ls``."""
    left = iter(words)
    for word in left:
        if len(word) > 1 and word == word.upper():
            following = next(left, "")
            if following[:1].isupper():
                yield word + following
                continue
            yield word
            if not following:
                return
            word = following
        yield word


def _letter_case(letter: str) -> str:
    if letter.islower():
        return "lower"
    return "upper" if letter.isupper() else "other"
