"""The values of a release: the chart's own, overridden by files and flags, and the parts of subcharts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from simcloud.golang import sprint, type_name
from simcloud.helm.charts import Chart
from simcloud.helm.errors import HelmError
from simcloud.helm.functions.encoding import json_kind
from simcloud.helm.goyaml import YamlError, read_yaml
from simcloud.helm.strvals import parse_value, set_values
from simcloud.kubernetes.api import copy
from simcloud.machine.files import FileError

if TYPE_CHECKING:
    from simcloud.helm.session import Helm

Warn = Callable[[str], None]
GLOBAL = "global"


async def read_values(helm: Helm) -> dict[str, Any]:
    """Read the values of the command line; raises ``HelmError``."""
    base: dict[str, Any] = {}
    for path in helm.flags["values"]:
        base = merge_maps(base, await _value_file(helm, path))
    for text in helm.flags["set-json"]:
        try:
            set_values(text, base, json=True)
        except HelmError:
            raise HelmError(f"failed parsing --set-json data {text}") from None
    _set_all(helm, "set", base, parse_value)
    _set_all(helm, "set-string", base, str)
    _set_all(helm, "set-file", base, lambda path: _read_text(helm, path))
    for text in helm.flags["set-literal"]:
        name, _, value = text.partition("=")
        set_values(f"{name}=", base, {"": value}.get)
    return base


def _set_all(helm: Helm, flag: str, base: dict[str, Any], value_of: Callable[[str], Any]) -> None:
    for text in helm.flags[flag]:
        try:
            set_values(text, base, value_of)
        except HelmError as error:
            raise HelmError(f"failed parsing --{flag} data: {error}") from None


async def _value_file(helm: Helm, path: str) -> dict[str, Any]:
    data = await helm.input() if path.strip() == "-" else await _read(helm, path)
    try:
        found = read_yaml(data)
    except YamlError as error:
        raise HelmError(f"failed to parse {path}: error converting YAML to JSON: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise HelmError(
            f"failed to parse {path}: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{json_kind(found)} into Go value of type map[string]interface {{}}"
        )
    return found


async def _read(helm: Helm, path: str) -> bytes:
    try:
        return await helm.ctx.read_file(path)
    except FileError as error:
        raise HelmError(f"open {path}: {error.strerror.lower()}") from None


def _read_text(helm: Helm, path: str) -> str:
    try:
        return helm.ctx.files.read(path).decode(errors="replace")
    except FileError as error:
        raise HelmError(f"open {path}: {error.strerror.lower()}") from None


def merge_maps(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Merge two maps; the second wins."""
    result = dict(under)
    for name, value in over.items():
        below = result.get(name)
        result[name] = (
            merge_maps(below, value) if isinstance(value, dict) and isinstance(below, dict) else value
        )
    return result


def coalesce(chart: Chart, given: dict[str, Any], warn: Warn) -> dict[str, Any]:
    """The values that templates see: given ones over the chart's; raises ``HelmError``."""
    values: dict[str, Any] = copy(given)
    _coalesce(chart, values, warn, chart.value_path)
    return values


def _coalesce(chart: Chart, values: dict[str, Any], warn: Warn, path: str) -> None:
    _cover(chart, values, warn, path)
    for dependency in chart.dependencies:
        if dependency.name not in values or values[dependency.name] is None:
            values[dependency.name] = {}
        part = values[dependency.name]
        if not isinstance(part, dict):
            raise HelmError(f"type mismatch on {dependency.name}: %!t({_format_typed(part)})")
        _globals(part, values, warn, path)
        _coalesce(dependency, part, warn, f"{path}.{dependency.name}")


def _cover(chart: Chart, values: dict[str, Any], warn: Warn, path: str) -> None:
    """Lay values over a chart's own; null takes away what the chart says, for a subchart only there."""
    inner = [dependency.name for dependency in chart.dependencies]
    for name, standard in copy(chart.values).items():
        if name not in values:
            values[name] = standard
        elif values[name] is None:
            del values[name]
        elif isinstance(values[name], dict):
            if isinstance(standard, dict):
                _fill(values[name], standard, warn, f"{path}.{name}", keep_null=name in inner)
            elif standard is not None:
                warn(f"coalesce.go:237: warning: skipped value for {path}.{name}: Not a table.")


def _format_typed(value: Any) -> str:
    return f"{type_name(value)}={sprint(value)}"


def _globals(part: dict[str, Any], above: dict[str, Any], warn: Warn, path: str) -> None:
    shared = above.get(GLOBAL, {})
    own = part.setdefault(GLOBAL, {})
    if not isinstance(own, dict):
        warn(f"warning: skipping globals because destination {GLOBAL} is not a table.")
        return
    if not isinstance(shared, dict):
        warn(f"warning: skipping globals because source {GLOBAL} is not a table.")
        return
    for name, value in shared.items():
        if isinstance(value, dict) and isinstance(own.get(name), dict):
            below = own[name]
            own[name] = copy(value)
            _fill(own[name], below, warn, f"{path}.{name}")
        else:
            own[name] = copy(value)


def _fill(
    values: dict[str, Any], under: dict[str, Any], warn: Warn, path: str, *, keep_null: bool = False
) -> None:
    """Put what is not said yet into values."""
    for name, standard in under.items():
        if name not in values:
            values[name] = standard
            continue
        said = values[name]
        if said is None:
            if not keep_null:
                del values[name]
        elif isinstance(standard, dict):
            if isinstance(said, dict):
                _fill(said, standard, warn, f"{path}.{name}", keep_null=keep_null)
            else:
                warn(
                    f"coalesce.go:298: warning: cannot overwrite table with non table for {path}.{name} "
                    f"({sprint(standard)})"
                )
        elif isinstance(said, dict) and standard is not None:
            warn(
                f"coalesce.go:301: warning: destination for {path}.{name} is a table. "
                f"Ignoring non-table value ({sprint(standard)})"
            )


def _silent(_: str) -> None:
    """Ignore a warning that is printed elsewhere."""


def choose_dependencies(chart: Chart, given: dict[str, Any], warn: Warn) -> None:
    """Leave out the subcharts that conditions and tags switch off, give others their aliases; in place."""
    declared = [
        dependency for dependency in chart.metadata.get("dependencies") or () if isinstance(dependency, dict)
    ]
    names = {dependency.name for dependency in chart.dependencies}
    missing = [str(entry.get("name")) for entry in declared if entry.get("name") not in names]
    if missing and chart.parent is None:
        raise HelmError(
            "An error occurred while checking for chart dependencies. You may need to run `helm dependency build` "
            f"to fetch missing dependencies: found in Chart.yaml, but missing in charts/ directory: {', '.join(missing)}"
        )
    kept: list[Chart] = []
    matched: dict[str, bool] = {}
    for dependency_entry in declared:
        found = next((held for held in chart.dependencies if held.name == dependency_entry.get("name")), None)
        if found is None:
            continue
        matched[found.name] = True
        if dependency_entry.get("alias"):
            found = Chart(
                {**found.metadata, "name": dependency_entry["alias"]}, found.values, found.templates, found.files, found.raw,
                found.schema, found.lock, found.dependencies, chart,
            )  # fmt: skip
        kept.append(found)
    kept.extend(dependency for dependency in chart.dependencies if dependency.name not in matched)
    chart.dependencies = kept
    values = coalesce(chart, given, warn if declared and chart.parent is None else _silent)
    chart.dependencies = [dependency for dependency in kept if _is_enabled(dependency, declared, values)]
    for held in chart.dependencies:
        part = values.get(held.name)
        choose_dependencies(held, part if isinstance(part, dict) else {}, _silent)
    _import_values(chart, declared)
    if declared:  # what is stored of such a chart is what it was rendered with
        chart.values = merge_maps(coalesce(chart, given, warn if chart.parent is None else _silent), given)


def _is_enabled(chart: Chart, declared: list[dict[str, Any]], values: dict[str, Any]) -> bool:
    entry = next(
        (
            dependency
            for dependency in declared
            if chart.name in (dependency.get("alias"), dependency.get("name"))
        ),
        None,
    )
    if entry is None:
        return True
    for condition in str(entry.get("condition") or "").split(","):
        found = _at(values, condition.strip()) if condition.strip() else None
        if isinstance(found, bool):
            return found
    tags = values.get("tags")
    chosen = [
        tags[tag]
        for tag in entry.get("tags") or ()
        if isinstance(tags, dict) and isinstance(tags.get(tag), bool)
    ]
    return any(chosen) if chosen else True


def _import_values(chart: Chart, declared: list[dict[str, Any]]) -> None:
    """``import-values``: what a subchart exports becomes the parent's."""
    for entry in declared:
        one = next(
            (held for held in chart.dependencies if held.name in (entry.get("alias"), entry.get("name"))),
            None,
        )
        for wanted in (entry.get("import-values") or ()) if one is not None else ():
            assert one is not None
            if isinstance(wanted, dict):
                found, place = _at(one.values, str(wanted.get("child"))), str(wanted.get("parent"))
            else:
                found, place = _at(one.values, f"exports.{wanted}"), "."
            if not isinstance(found, dict):
                continue
            brought: Any = copy(found)
            for name in reversed([part for part in place.split(".") if part]):
                brought = {name: brought}
            chart.values = merge_maps(brought, chart.values)


def _at(values: Any, path: str) -> Any:
    for name in path.split("."):
        values = values.get(name) if isinstance(values, dict) else None
    return values
