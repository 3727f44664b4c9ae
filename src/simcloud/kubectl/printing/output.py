"""Chooses the printer for an ``-o`` value.

A printer is created once for a command and may be called several times; some of them keep state between calls (YAML
documents are separated by ``---``, columns print their headers once).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from simcloud.golang import format_json
from simcloud.golang.template import GoTemplate, TemplateError
from simcloud.kubectl.errors import Crash, PrintError
from simcloud.kubectl.jsonpath import JsonPath, JsonPathError
from simcloud.kubectl.jsonpath.nodes import Panic
from simcloud.kubectl.printing.columns import CustomColumns, columns_of_file, columns_of_spec
from simcloud.kubectl.printing.kyaml_form import as_kyaml
from simcloud.kubectl.printing.lists import as_names, without_managed_fields
from simcloud.kubectl.printing.yaml_form import as_yaml
from simcloud.kubernetes.api import Object

_TEMPLATES = ("go-template", "go-template-file", "template", "templatefile")
_PATHS = ("jsonpath", "jsonpath-as-json", "jsonpath-file")
_COLUMNS = ("custom-columns", "custom-columns-file")
_PLAIN = ("json", "kyaml", "name", "yaml")

OBJECT_FORMATS = tuple(sorted((*_TEMPLATES, *_PATHS, *_PLAIN)))
"""What the verbs that change things can print."""
GET_FORMATS = tuple(sorted((*OBJECT_FORMATS, *_COLUMNS, "wide")))
"""What ``get`` can print."""

ReadFile = Callable[[str], str]
"""Reads a file of the user's machine; an OSError's ``strerror`` is printed."""


class Printer(Protocol):
    """Prints objects."""

    def print(self, *objects: Object) -> str:
        """The text for some objects, one after another. PrintError if they cannot be printed so."""


class Settings(Struct, frozen=True):
    """The flags beside ``-o`` that bear on it."""

    template: str = ""
    allow_missing_keys: bool = True
    no_headers: bool = False
    show_managed_fields: bool = False
    keep_order: bool = False
    """The objects are kubectl's own, in the order of Go's structs, not the server's."""
    done: str = ""
    """What ``-o name`` says a verb has done."""


_DEFAULT = Settings()


def choose(
    output: str, read_file: ReadFile, settings: Settings = _DEFAULT, formats: tuple[str, ...] = GET_FORMATS
) -> Printer | None:
    """The printer for an ``-o`` value; None where a table for people is asked for. PrintError if there is none."""
    if not output and settings.template:
        output = "go-template"
    name, _, argument = output.partition("=")
    if name in _PATHS:
        return _path_printer(name, argument or settings.template, read_file, settings)
    if name in _TEMPLATES:
        return _template_printer(name, argument or settings.template, read_file, settings)
    if name in _COLUMNS and name in formats:
        return _columns_printer(name, argument or settings.template, read_file, settings)
    plain = output.lower()
    if plain in ("json", "yaml", "kyaml"):
        return _WholePrinter(plain, settings)
    if plain == "name":
        return _NamePrinter(settings.done)
    if not output or (output == "wide" and "wide" in formats):
        return None
    raise PrintError(
        f'unable to match a printer suitable for the output format "{output}", '
        f"allowed formats are: {','.join(formats)}"
    )


def _path_printer(name: str, template: str, read_file: ReadFile, settings: Settings) -> Printer:
    template = _template(name, template, read_file)
    try:
        path = JsonPath(template, allow_missing=settings.allow_missing_keys)
    except JsonPathError as error:
        raise PrintError(f"error parsing jsonpath {template}, {error}\n") from None
    return _PathPrinter(path, name == "jsonpath-as-json")


def _template_printer(name: str, template: str, read_file: ReadFile, settings: Settings) -> Printer:
    template = _template(name, template, read_file)
    try:
        return _TemplatePrinter(GoTemplate(template, allow_missing=settings.allow_missing_keys))
    except TemplateError as error:
        raise PrintError(f"error parsing template {template}, {error}\n") from None


def _template(name: str, template: str, read_file: ReadFile) -> str:
    if not template:
        raise PrintError("template format specified but no template given")
    return _contents(template, read_file, "--template") if name.endswith("file") else template


def _columns_printer(name: str, argument: str, read_file: ReadFile, settings: Settings) -> Printer:
    if not argument:
        raise PrintError("custom-columns format specified but no custom columns given")
    try:
        if name == "custom-columns":
            columns = columns_of_spec(argument)
        else:
            columns = columns_of_file(_contents(argument, read_file, "template"))
    except JsonPathError as error:
        raise PrintError(str(error)) from None
    return CustomColumns(columns, headers=not settings.no_headers or name == "custom-columns-file")


def _contents(path: str, read_file: ReadFile, flag: str) -> str:
    try:
        return read_file(path)
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise PrintError(f"error reading {flag} {path}, open {path}: {reason}\n") from None


@dataclass
class _WholePrinter:
    form: str
    settings: Settings
    _printed: int = field(default=0, init=False)

    def print(self, *objects: Object) -> str:
        return "".join(map(self._one, objects))

    def _one(self, obj: Object) -> str:
        if not self.settings.show_managed_fields:
            obj = without_managed_fields(obj)
        self._printed += 1
        if self.form == "json":
            return as_json(obj, keep_order=self.settings.keep_order)
        if self.form == "kyaml":
            return as_kyaml(obj, keep_order=self.settings.keep_order)
        between = "---\n" if self._printed > 1 else ""
        return between + as_yaml(obj)


class _NamePrinter(Struct, frozen=True):
    done: str

    def print(self, *objects: Object) -> str:
        return "".join(as_names(obj, self.done) for obj in objects)


class _PathPrinter(Struct, frozen=True):
    path: JsonPath
    as_json: bool

    def print(self, *objects: Object) -> str:
        try:
            return "".join(self.path.evaluate_with_details(obj, as_json=self.as_json) for obj in objects)
        except Panic as error:
            raise Crash(f"panic: {error}") from None
        except JsonPathError as error:
            raise PrintError(str(error)) from None


class _TemplatePrinter(Struct, frozen=True):
    template: GoTemplate

    def print(self, *objects: Object) -> str:
        printed = ""
        for obj in objects:
            try:
                printed += self.template.render_object(obj)
            except TemplateError as error:
                raise PrintError(str(error), printed + error.printed) from None
        return printed


def as_json(obj: Object, *, keep_order: bool = False) -> str:
    """An object or List as ``-o json`` prints it.

    What came from the server has its keys sorted; ``keep_order`` is for objects kubectl itself has built,
    which stand in the order of Go's structs.
    """
    return format_json(obj, indent=4, keep_order=keep_order) + "\n"
