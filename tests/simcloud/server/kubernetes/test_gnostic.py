"""OpenAPI v2 as protobuf: read back with the field numbers of gnostic's OpenAPIv2.proto, it says what the JSON says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.schema import openapi
from simcloud.server.kubernetes import gnostic
from simcloud.server.kubernetes.protobuf.wire import fields

ASKED_BY_KUBECTL = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def children(data: bytes, number: int) -> list[bytes]:
    """The values of a field that is text or a message."""
    return [value for found, _, value in fields(data, "test") if found == number and isinstance(value, bytes)]


def child(data: bytes, *numbers: int) -> bytes:
    """The one value at the end of a path of field numbers."""
    for number in numbers:
        (data,) = children(data, number)
    return data


def named(data: bytes, number: int = 1) -> dict[str, bytes]:
    """A list of messages with a name and a value."""
    return {child(pair, 1).decode(): child(pair, 2) for pair in children(data, number)}


@pytest.fixture(scope="module")
def document() -> bytes:
    return gnostic.from_json(openapi.v2(Catalogue()))


def test_the_document_says_what_it_is(document: bytes) -> None:
    assert child(document, 1) == b"2.0"
    assert child(document, 2, 1) == b"Kubernetes"
    assert child(document, 2, 2) == b"v1.36.4"


def test_definitions_have_types_references_and_required_fields(document: bytes) -> None:
    definitions = named(child(document, 9))
    assert set(definitions) == set(json.loads(openapi.v2(Catalogue()))["definitions"])
    deployment = definitions["io.k8s.api.apps.v1.Deployment"]
    assert child(deployment, 22, 1) == b"object"
    spec = named(child(deployment, 25))["spec"]
    assert child(spec, 1) == b"#/definitions/io.k8s.api.apps.v1.DeploymentSpec"
    assert children(definitions["io.k8s.api.apps.v1.DeploymentSpec"], 19) == [b"selector", b"template"]
    containers = named(child(definitions["io.k8s.api.core.v1.PodSpec"], 25))["containers"]
    assert child(containers, 23, 1, 1) == b"#/definitions/io.k8s.api.core.v1.Container"
    limits = named(child(definitions["io.k8s.api.core.v1.ResourceRequirements"], 25))["limits"]
    assert child(limits, 21, 1, 1) == b"#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"


def test_extensions_are_yaml(document: bytes) -> None:
    definitions = named(child(document, 9))
    kinds = named(definitions["io.k8s.api.apps.v1.Deployment"], 31)["x-kubernetes-group-version-kind"]
    assert json.loads(child(kinds, 2)) == [{"group": "apps", "kind": "Deployment", "version": "v1"}]
    ports = named(child(definitions["io.k8s.api.core.v1.Container"], 25))["ports"]
    assert child(named(ports, 31)["x-kubernetes-patch-merge-key"], 2) == b'"containerPort"\n'


def test_operations_tell_their_parameters(document: bytes) -> None:
    paths = named(child(document, 8), 2)
    patch = child(paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"], 8)
    assert child(patch, 5) == b"patchAppsV1NamespacedDeployment"
    assert b"application/strategic-merge-patch+json" in children(patch, 7)
    names = [child(one, 1) for one in children(patch, 8)]
    in_query = {child(one, 2, 3, 4) for one in names if children(one, 2)}
    assert {b"dryRun", b"fieldManager", b"force"} <= in_query
    (body,) = [child(one, 1) for one in names if children(one, 1)]
    assert child(body, 2) == b"body"
    answer = named(child(patch, 9))["200"]
    assert child(answer, 1, 2, 1, 1) == b"#/definitions/io.k8s.api.apps.v1.Deployment"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc\x7f\x85é", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_any_value_can_be_an_extension(value: Any) -> None:
    schema = child(gnostic.openapi_v2({"definitions": {"x": {"x-any": value}}}), 9, 1, 2)
    text = child(named(schema, 31)["x-any"], 2).decode()
    assert json.loads(text) == value
    assert all(sign.isprintable() or sign == "\n" or ord(sign) > 0x9F for sign in text)


@pytest.mark.parametrize("allowed", [True, False])
def test_whether_other_fields_are_allowed_is_written_either_way(allowed: bool) -> None:
    schema = child(gnostic.openapi_v2({"definitions": {"x": {"additionalProperties": allowed}}}), 9, 1, 2)
    assert list(fields(child(schema, 21), "test")) == [(2, 0, int(allowed))]


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (ASKED_BY_KUBECTL, True),
        (gnostic.MEDIA, True),
        (f"{ASKED_BY_KUBECTL};q=0.9, application/json", True),
        (f"application/json, {ASKED_BY_KUBECTL}", False),
        ("application/json", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_the_form_is_what_the_client_names_first(accept: str, wanted: bool) -> None:
    assert gnostic.is_wanted(accept) is wanted


@pytest.mark.parametrize("word", ["items", "additionalProperties"])
def test_a_schema_may_be_as_deep_as_the_server_takes_objects(word: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        schema = {word: schema}
    written = child(gnostic.openapi_v2({"definitions": {"x": schema}}), 9, 1, 2)
    for _ in range(200):
        written = child(written, 23 if word == "items" else 21, 1)
    assert child(written, 22, 1) == b"string"
