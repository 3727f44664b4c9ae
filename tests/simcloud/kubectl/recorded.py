"""Recorded output of a genuine kubectl, and the same lines printed by the built-in forms."""

from __future__ import annotations

import json
import shlex
from argparse import ArgumentParser, Namespace
from functools import cache
from typing import Any

from simcloud.kubectl.errors import Crash, PrintError
from simcloud.kubectl.printing.lists import as_list
from simcloud.kubectl.printing.output import Settings, choose
from simcloud.kubectl.printing.sorting import sort_objects
from simcloud.kubectl.printing.table import Look, Tabled, TablePrinter
from simcloud.kubernetes.api.tables import make_table
from tests.simcloud.kubectl.canned import DATA, NOW_S, Printed, objects, resource_of


def recording(name: str) -> list[tuple[str, Printed]]:
    """The lines of a recording and what they printed."""
    told = map(json.loads, (DATA / f"{name}.jsonl").read_text().splitlines())
    return [(one["line"], Printed(one["stdout"], one["stderr"], one["exit"])) for one in told]


@cache
def _objects() -> dict[str, list[dict[str, Any]]]:
    return objects()


_FLAGS = ArgumentParser(prefix_chars="-", allow_abbrev=False)
_FLAGS.add_argument("words", nargs="+")
_FLAGS.add_argument("-o", "--output", default="")
_FLAGS.add_argument("-n", "--namespace", default="default")
_FLAGS.add_argument("-A", "--all-namespaces", action="store_true")
_FLAGS.add_argument("--template", default="")
_FLAGS.add_argument("--sort-by", default="")
_FLAGS.add_argument("--no-headers", action="store_true")
_FLAGS.add_argument("--show-labels", action="store_true")
_FLAGS.add_argument("--show-kind", action="store_true")
_FLAGS.add_argument("-L", "--label-columns", action="append", default=[])
_FLAGS.add_argument("--allow-missing-template-keys", default="true")


def built_in(line: str) -> Printed:
    """What the built-in forms print for a line of ``get``."""
    flags = _FLAGS.parse_intermixed_args(shlex.split(line)[1:])
    try:
        return Printed(_get(flags), "", 0)
    except Crash as crash:
        return Printed(crash.printed, f"{crash}\n", 2)
    except PrintError as error:
        told = f"error: {error}"
        return Printed(error.printed, told if told.endswith("\n") else f"{told}\n", 1)


def chosen(flags: Namespace) -> list[tuple[str, list[dict[str, Any]]]]:
    """The resources a line names and the objects of each."""
    found = []
    for word in flags.words[0].split(","):
        key = next(key for key in _objects() if key.partition(".")[0] == word)
        namespace = None if flags.all_namespaces or not resource_of(key).namespaced else flags.namespace
        items = [o for o in _objects()[key] if namespace in (None, o["metadata"].get("namespace"))]
        if len(flags.words) > 1:
            items = [next(o for o in items if o["metadata"]["name"] == name) for name in flags.words[1:]]
        found.append((key, items))
    return found


def _get(flags: Namespace) -> str:
    settings = Settings(
        template=flags.template,
        allow_missing_keys=flags.allow_missing_template_keys == "true",
        no_headers=flags.no_headers,
    )
    printer = choose(flags.output, _read_file, settings)
    if printer is None:
        return _table(flags)
    items = [item for _, held in chosen(flags) for item in held]
    if len(flags.words) == 2:
        return printer.print(items[0])
    return printer.print(as_list(sort_objects(items, flags.sort_by) if flags.sort_by else items))


def _table(flags: Namespace) -> str:
    held = chosen(flags)
    look = Look(
        wide=flags.output == "wide",
        headers=not flags.no_headers,
        labels=flags.show_labels,
        label_columns=tuple(label for given in flags.label_columns for label in given.split(",")),
        kinds=flags.show_kind or len(held) > 1,
        namespaces=flags.all_namespaces,
        sort_by=flags.sort_by,
    )
    named = len(flags.words) > 1
    tables = [
        _tabled(key, part)
        for key, items in held
        for part in ([[item] for item in items] if named else [items])
    ]
    return TablePrinter(look).print(tables)


def _tabled(key: str, items: list[dict[str, Any]]) -> Tabled:
    resource = resource_of(key)
    table = make_table(resource, items, now_s=NOW_S, include_object="Object")
    kind = resource.kind.lower() + (f".{resource.group}" if resource.group else "")
    return Tabled(table, key, kind, resource.namespaced)


def _read_file(path: str) -> str:
    raise FileNotFoundError(2, "No such file or directory")
