"""CustomResourceDefinitions: names, versions, schemas, and what may not change."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.validation.crd_schemas import check_schema
from tests.simcloud.kubernetes.api.validation.examples import EXAMPLES, GONE, edited, on_create, on_update

DEFINITION = EXAMPLES["CustomResourceDefinition"]
VERSION = "spec/versions/0"
SCHEMA = f"{VERSION}/schema/openAPIV3Schema"
TOLD = "spec.validation.openAPIV3Schema"
SHOWN = (
    '{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,'
)
OTHER = {"name": "v2", "served": True, "storage": False}


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"metadata/name": "gadgets.example.com"}, [
            'metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group'
        ]),
        ({"spec/group": "example", "metadata/name": "widgets.example"}, [
            'spec.group: Invalid value: "example": should be a domain with at least one dot'
        ]),
        ({"spec/scope": "World"}, ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"']),
        ({f"{VERSION}/schema": GONE}, [
            "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"
        ]),
        ({f"{VERSION}/storage": False, "status": {}}, [
            f'spec.versions: Invalid value: [{SHOWN}"Subresources":null,"AdditionalPrinterColumns":null,'
            '"SelectableFields":null}]: must have exactly one version marked as storage version'
        ]),
        ({"spec/names/kind": "Wid_get"}, [
            'spec.names.kind: Invalid value: "Wid_get": may have mixed case, but should otherwise match: a DNS-1035 '
            "label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
            "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
            "'[a-z]([-a-z0-9]*[a-z0-9])?')"
        ]),
        ({"spec/names/listKind": "Widget"}, [
            'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'
        ]),
        ({f"{VERSION}/additionalPrinterColumns/0": {"name": "Age", "type": "duration"}}, [
            'spec.additionalPrinterColumns[0].type: Invalid value: "duration": '
            "must be one of boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[0].JSONPath: Required value",
        ]),
        ({f"{VERSION}/subresources": {"scale": {"specReplicasPath": ".status.size"}}}, [
            'spec.subresources.scale.specReplicasPath: Invalid value: ".status.size": should be a json path under .spec',
            "spec.subresources.scale.statusReplicasPath: Required value",
        ]),
        ({"spec/conversion": {"strategy": "Webhook"}}, [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ]),
        ({"spec/preserveUnknownFields": True}, [
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
            "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        ]),
        ({"status/storedVersions": ["v0", "v1"]}, [
            'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage '
            "version, and must remain in spec.versions until a storage migration ensures no data remains persisted "
            "in v0 and removes v0 from status.storedVersions"
        ]),
    ],
)  # fmt: skip
def test_a_broken_definition(edits: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(DEFINITION, edits)) == told


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({}, [f"{TOLD}.type: Required value: must not be empty at the root"]),
        ({"type": "array", "items": {"type": "string"}}, [
            f'{TOLD}.type: Invalid value: "array": must be object at the root'
        ]),
        ({"type": "object", "properties": {"spec": {}}}, [
            f"{TOLD}.properties[spec].type: Required value: must not be empty for specified object fields"
        ]),
        ({"type": "object", "properties": {"a": {"type": "array"}}}, [
            f"{TOLD}.properties[a].items: Required value: must be specified"
        ]),
        ({"type": "object", "properties": {"a": {"type": "list"}}}, [
            f'{TOLD}.properties[a].type: Unsupported value: "list": supported values: "array", "boolean", "integer", '
            '"number", "object", "string"'
        ]),
        ({"type": "object", "properties": {"a": {"type": "object", "$ref": "#/x"}}}, [
            f"{TOLD}.properties[a].$ref: Forbidden: $ref is not supported"
        ]),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}, [
            f'{TOLD}.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: '
            "error parsing regexp: missing closing ): `(`"
        ]),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "+"}}}, [
            f'{TOLD}.properties[a].pattern: Invalid value: "+": must be a valid regular expression, but isn\'t: '
            "error parsing regexp: missing argument to repetition operator: `+`"
        ]),
        ({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}, [
            f"{TOLD}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
            "but metadata is implicitly specified"
        ]),
        ({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": True, "anyOf": [
            {"type": "integer"}, {"type": "string"}
        ]}}}, []),
        ({"type": "object", "additionalProperties": {"type": "string"}}, [
            f"{TOLD}.additionalProperties: Forbidden: must not be used at the root"
        ]),
    ],
)  # fmt: skip
def test_a_schema(schema: dict[str, Any], told: list[str]) -> None:
    assert on_create(edited(DEFINITION, {SCHEMA: schema})) == told


def test_versions_that_differ_are_told_apart() -> None:
    other = {**OTHER, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}}}
    two = edited(DEFINITION, {"spec/versions": [DEFINITION["spec"]["versions"][0], other]})
    assert on_create(two) == [
        "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: "
        "must not be empty for specified object fields"
    ]


def test_no_depth_of_a_schema_is_too_deep() -> None:
    schema: dict[str, Any] = {}
    for _ in range(1500):
        schema = {"type": "object", "properties": {"a": schema}, "not": {"not": {"required": ["a"]}}}
    told = check_schema("s", schema)
    assert [error.message for error in told] == [
        "Required value: must not be empty for specified object fields"
    ]


def test_what_an_established_definition_keeps() -> None:
    old = edited(DEFINITION, {"status/conditions": [{"type": "Established", "status": "True"}]})
    assert on_update(edited(old, {"spec/scope": "Cluster", "spec/names/kind": "Gadget"}), old) == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
    ]
    assert on_update(edited(DEFINITION, {"spec/scope": "Cluster"}), DEFINITION) == []
