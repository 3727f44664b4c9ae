"""Enumerated fields: their values are told in edition 3 as ``kubectl explain`` of a genuine cluster prints them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.schema import go_fields, openapi, openapi_enums

CORE = "io.k8s.api.core.v1."


@pytest.fixture(scope="module")
def schemas() -> Any:
    rendered = openapi.document(Catalogue(), "api/v1")
    assert rendered is not None
    return json.loads(rendered)["components"]["schemas"]


def test_a_field_lists_its_values_with_what_they_mean(schemas: Any) -> None:
    policy = schemas[CORE + "Container"]["properties"]["terminationMessagePolicy"]
    assert policy["enum"] == ["FallbackToLogsOnError", "File"]
    assert policy["type"] == "string"
    said, _, values = policy["description"].partition("\n\nPossible enum values:\n")
    assert said.endswith("Defaults to File. Cannot be updated.")
    assert values == (
        ' - `"FallbackToLogsOnError"` will read the most recent contents of the container logs for the container'
        " status message when the container exits with an error and the terminationMessagePath has no contents.\n"
        ' - `"File"` is the default behavior and will set the container status message to the contents of the'
        " container's terminationMessagePath when the container exits."
    )


def test_values_may_mean_nothing_more_than_their_names(schemas: Any) -> None:
    operator = schemas[CORE + "Toleration"]["properties"]["operator"]
    assert operator["enum"] == ["Equal", "Exists", "Gt", "Lt"]
    assert operator["description"].endswith(
        '\n\nPossible enum values:\n - `"Equal"`\n - `"Exists"`\n - `"Gt"`\n - `"Lt"`'
    )


def test_lists_and_maps_tell_the_values_of_what_they_hold(schemas: Any) -> None:
    modes = schemas[CORE + "PersistentVolumeClaimSpec"]["properties"]["accessModes"]
    assert modes["items"]["enum"] == ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]
    assert "Possible enum values" not in modes["description"]
    statuses = schemas[CORE + "PersistentVolumeClaimStatus"]["properties"]["allocatedResourceStatuses"]
    assert "NodeResizePending" in statuses["additionalProperties"]["enum"]


def test_a_default_stands_beside_the_values(schemas: Any) -> None:
    assert schemas[CORE + "ContainerPort"]["properties"]["protocol"]["default"] == "TCP"
    assert schemas[CORE + "NodeSelectorRequirement"]["properties"]["operator"]["default"] == ""
    assert "default" not in schemas[CORE + "Container"]["properties"]["imagePullPolicy"]


@pytest.mark.parametrize("field", ["Container.restartPolicy", "PodCondition.type", "Secret.type"])
def test_types_that_are_open_list_nothing(schemas: Any, field: str) -> None:
    kind, _, name = field.partition(".")
    assert "enum" not in schemas[CORE + kind]["properties"][name]


def test_edition_2_lists_nothing() -> None:
    assert b"Possible enum values" not in openapi.v2(Catalogue())


def test_every_enumerated_type_is_the_type_of_a_field_and_is_in_order() -> None:
    used = {
        field.type.rpartition("]")[2].lstrip("*")
        for fields in go_fields.table().values()
        for field in fields.values()
    }
    assert set(openapi_enums.table()) <= used
    for values in openapi_enums.table().values():
        assert len(values) > 1
        assert [value for value, _ in values] == sorted(value for value, _ in values)
