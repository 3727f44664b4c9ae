"""Choosing a printer, and what printers remember."""

from __future__ import annotations

import pytest

from simcloud.kubectl.errors import PrintError
from simcloud.kubectl.printing.output import OBJECT_FORMATS, Settings, choose
from simcloud.kubectl.printing.sorting import Unsortable, sort_objects
from simcloud.kubectl.printing.table import Look, Tabled, TablePrinter
from tests.simcloud.kubectl.canned import objects

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "managedFields": [{"manager": "m"}]}}


def _file(path: str) -> str:
    return {"columns": "NAME  KIND\n.metadata.name  .kind\n", "short": "NAME", "path": "{.kind}"}[path]


def _print(output: str, settings: Settings = Settings()) -> str:  # noqa: B008 (frozen)
    printer = choose(output, _file, settings)
    assert printer is not None
    return printer.print(POD)


def test_files_hold_templates_and_columns() -> None:
    assert _print("jsonpath-file=path") == "Pod"
    assert _print("go-template-file=path") == "{.kind}"
    assert _print("custom-columns-file=columns") == "NAME   KIND\na      Pod\n"


def test_a_file_of_columns_needs_two_lines() -> None:
    with pytest.raises(PrintError, match="invalid template, missing spec line"):
        _print("custom-columns-file=short")


def test_managed_fields_are_left_out_of_whole_objects_only() -> None:
    assert "managedFields" not in _print("json") + _print("yaml")
    assert "managedFields" in _print("yaml", Settings(show_managed_fields=True))
    assert _print("jsonpath={.metadata.managedFields[0].manager}") == "m"


def test_documents_are_separated() -> None:
    printer = choose("yaml", _file)
    assert printer is not None
    first, second = printer.print(POD), printer.print(POD)
    assert second == "---\n" + first
    assert printer.print(POD, POD) == second * 2


def test_verbs_that_change_things_know_no_columns() -> None:
    with pytest.raises(PrintError) as refused:
        choose("custom-columns=A:.a", _file, formats=OBJECT_FORMATS)
    assert str(refused.value) == (
        'unable to match a printer suitable for the output format "custom-columns=A:.a", allowed formats are: '
        "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,"
        "templatefile,yaml"
    )


def test_a_name_may_tell_what_was_done() -> None:
    assert _print("name", Settings(done="created")) == "pod/a created\n"


def test_a_field_without_an_order_ends_the_command() -> None:
    with pytest.raises(Unsortable) as ended:
        sort_objects(objects()["pods"], ".metadata.labels")
    assert (ended.value.place, str(ended.value)) == (
        "sorter.go:329",
        "Field {.metadata.labels} in *unstructured.Unstructured is an unsortable type: interface, "
        "err: unsortable type: map[string]interface {}",
    )


def test_a_watch_prints_its_headers_once() -> None:
    printer = TablePrinter(Look())
    columns = [{"name": "Name", "type": "string", "format": "name"}, {"name": "Age", "type": "string"}]
    first = {"columnDefinitions": columns, "rows": [{"cells": ["web-1", "5s"], "object": None}]}
    later = {"columnDefinitions": None, "rows": [{"cells": ["a", "6s"], "object": None}]}
    assert printer.event(Tabled(first, "pods", "pod")) == "NAME    AGE\nweb-1   5s\n"
    assert printer.event(Tabled(later, "pods", "pod")) == "a       6s\n"


def test_a_watch_may_show_what_happened() -> None:
    printer = TablePrinter(Look())
    table = {"columnDefinitions": [{"name": "Name"}], "rows": [{"cells": ["a"], "object": None}]}
    assert printer.event(Tabled(table, "pods", "pod"), "ADDED") == "EVENT      NAME\nADDED      a\n"
