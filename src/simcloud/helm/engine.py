"""Renders a chart: all its templates, with the functions that need the chart (``include``, ``tpl``, ``lookup`` …).

All templates of one rendering share the limits of template execution.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import Any, Final

from msgspec import Struct

from simcloud.golang import quote
from simcloud.golang.template import (
    Body,
    CallError,
    Function,
    Library,
    Run,
    Spent,
    TemplateError,
    absent,
    bodies,
)
from simcloud.helm.charts import Chart
from simcloud.helm.errors import HelmError
from simcloud.helm.functions import library_functions
from simcloud.helm.objects import Capabilities, ChartFacts, Files
from simcloud.sim import call_deep

Lookup = Callable[[str, str, str, str], dict[str, Any]]
_FRAMES: Final = 5_000
"""Python's own limit while templates run, which call each other as plain functions; ours is reached first."""
_ROOT: Final = "gotpl"
_WARNED: Final = re.compile(r"HELM_ERR_START(.*?)HELM_ERR_END", re.DOTALL)
_PLACED: Final = re.compile(r"template: ([^:\n]+:\d+:\d+): executing .*", re.DOTALL)


_CALLING: Final = ("include", "tpl", "required", "lookup")
_KNOWN: Final = frozenset((*library_functions(0.0, Random(0)), *_CALLING))
_REMEMBERED: Final = 20_000
"""Texts up to this length are read once: charts are rendered again and again."""


@lru_cache(maxsize=512)
def _read_before(name: str, text: str) -> dict[str, Body]:
    return bodies(name, text, _KNOWN)


def _bodies(name: str, text: str) -> dict[str, Body]:
    return _read_before(name, text) if len(text) <= _REMEMBERED else bodies(name, text, _KNOWN)


def no_lookup(_api: str, _kind: str, _namespace: str, _name: str) -> dict[str, Any]:
    """What ``lookup`` finds where no cluster is asked."""
    return {}


class _Source(Struct):
    text: str
    data: dict[str, Any]


class Engine:
    """Renders charts at one time of day."""

    def __init__(
        self, now_s: float, stream: Random, lookup: Lookup = no_lookup, *, lint: bool = False
    ) -> None:
        self._plain = library_functions(now_s, stream)
        self._lookup = lookup
        self._lint = lint
        self._spent = Spent()
        self._inside: dict[str, int] = {}

    def render(self, chart: Chart, top: dict[str, Any]) -> dict[str, str]:
        """What each template of the chart prints, by its path. HelmError in the genuine tool's words."""
        sources: dict[str, _Source] = {}
        _collect(chart, top, sources)
        names = sorted(sources, key=lambda name: (name.count("/"), name), reverse=True)

        def render_all() -> dict[str, str]:
            library = self._library(sources, names)
            return {name: self._one(library, name, sources[name]) for name in names if not _is_partial(name)}

        try:
            return call_deep(render_all, frames=_FRAMES)
        except RecursionError:  # a map that holds itself, on which the genuine tool dies
            raise HelmError("runtime: goroutine stack exceeds 1000000000-byte limit") from None

    def _library(self, sources: dict[str, _Source], names: list[str]) -> Library:
        library = Library({}, missing_key="zero")
        library.functions = self._bind(library)
        for name in names:
            try:
                found = _bodies(name, sources[name].text)
            except TemplateError as error:
                raise HelmError(_parse_error(str(error))) from None
            library.templates.update(found)
        return library

    def _one(self, library: Library, name: str, source: _Source) -> str:
        folder = "/".join(name.split("/")[: name.split("/").index("templates") + 1])
        source.data["Template"] = {"Name": name, "BasePath": folder}
        run = Run(library, name, self._spent)
        self._spent.depth = 0
        try:
            run.execute(source.data)
        except TemplateError as error:
            raise HelmError(_execution_error(str(error))) from None
        return run.printed.replace("<no value>", "")

    def _bind(self, library: Library) -> Mapping[str, Function]:
        """Return all functions; those that call templates are bound to this library."""
        return {
            **self._plain,
            "include": Function(lambda name, data: self._include(library, name, data), 2, 2, ("string", "")),
            "tpl": Function(lambda text, data: self._tpl(library, text, data), 2, 2, ("string", "")),
            "required": Function(self._require, 2, 2, ("string", "")),
            "fail": Function(self._fail, 1, 1, ("string",)),
            "lookup": Function(self._look, 4, 4, ("string", "string", "string", "string")),
        }

    def _include(self, library: Library, name: str, data: Any) -> str:
        if name not in library.templates:
            raise CallError(f'template: no template {quote(name)} associated with template "{_ROOT}"')
        run = Run(library, name, self._spent)
        self._deeper(name)
        try:
            run.execute(data)
        except TemplateError as error:
            raise CallError(str(error)) from None
        self._spent.depth -= 1
        return run.printed

    def _deeper(self, name: str) -> None:
        self._spent.depth += 1
        if self._spent.depth > 100:
            message = "unable to execute template"
            raise CallError(f"rendering template has a nested reference name: {name}: {message}")

    def _tpl(self, library: Library, text: str, data: Any) -> str:
        inner = Library(dict(library.templates), missing_key="zero")
        inner.functions = self._bind(inner)
        try:
            inner.templates.update(_bodies(_ROOT, text))
        except TemplateError as error:
            raise CallError(f"cannot parse template {quote(text)}: {error}") from None
        self._deeper(_ROOT)
        run = Run(inner, _ROOT, self._spent)
        try:
            run.execute(data)
        except TemplateError as error:
            raise CallError(f"error during tpl function execution for {quote(text)}: {error}") from None
        self._spent.depth -= 1
        return run.printed.replace("<no value>", "")

    def _require(self, message: str, value: Any) -> Any:
        if absent(value) or value == "":
            if self._lint:
                return ""
            raise CallError(f"HELM_ERR_START{message}HELM_ERR_END")
        return value

    def _fail(self, message: str) -> str:
        if self._lint:
            return ""
        raise CallError(f"HELM_ERR_START{message}HELM_ERR_END")

    def _look(self, api: str, kind: str, namespace: str, name: str) -> dict[str, Any]:
        return self._lookup(api, kind, namespace, name)


def _is_partial(name: str) -> bool:
    return name.rpartition("/")[2].startswith("_")


def _collect(chart: Chart, above: dict[str, Any], sources: dict[str, _Source]) -> dict[str, Any]:
    """The templates of a chart and those inside it, each with what it sees."""
    below: dict[str, Any] = {}
    values = above["Values"] if chart.parent is None else above["Values"].get(chart.name, {})
    data = {
        "Chart": ChartFacts(chart.metadata, chart.parent is None),
        "Files": Files(chart.files),
        "Release": above["Release"],
        "Capabilities": above["Capabilities"],
        "Values": values,
        "Subcharts": below,
    }
    for dependency in chart.dependencies:
        below[dependency.name] = _collect(dependency, data, sources)
    library = chart.metadata.get("type") == "library"
    for name, text in chart.templates:
        if not library or _is_partial(name):
            sources[f"{chart.path}/{name}"] = _Source(text.decode("utf-8", "surrogateescape"), dict(data))
    return data


def top_values(values: dict[str, Any], release: dict[str, Any], capabilities: Capabilities) -> dict[str, Any]:
    """What the root chart's templates see."""
    return {"Values": values, "Release": release, "Capabilities": capabilities}


def _parse_error(message: str) -> str:
    found = re.match(r"template: ([^:\n]+:\d+): (.*)", message, re.DOTALL)
    return f"parse error at ({found[1]}): {found[2]}" if found else message


def _execution_error(message: str) -> str:
    """Format an execution error; one that a chart raised itself loses the chain of template calls."""
    warned = _WARNED.search(message)
    place = _PLACED.match(message)
    if warned is None or place is None:
        return message
    return f"execution error at ({place[1]}): {warned[1]}"
