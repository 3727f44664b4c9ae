"""Sets of templates, and the use of limits by their executions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from simcloud.golang.template.functions import FUNCTIONS, Function
from simcloud.golang.template.nodes import ListNode
from simcloud.golang.template.parser import parse


class Body(Struct):
    """A template and its source text, which errors refer to."""

    nodes: ListNode
    source: str
    text: str


class Library(Struct):
    """Templates that can call each other, and their functions.

    ``missing_key`` defines the result for a missing key: ``default`` no value, ``zero`` nil, ``error`` a failure.
    """

    templates: dict[str, Body]
    functions: Mapping[str, Function] = field(default_factory=lambda: FUNCTIONS)
    missing_key: str = "default"


class Spent(Struct):
    """The use of limits by executions; nested executions share one."""

    steps: int = 0
    characters: int = 0
    depth: int = 0


def bodies(name: str, text: str, functions: Collection[str]) -> dict[str, Body]:
    """The templates of a text by their names. TemplateError if it cannot be read."""
    return {found: Body(nodes, name, text) for found, nodes in parse(name, text, functions).items()}
