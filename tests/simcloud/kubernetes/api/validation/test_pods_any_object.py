"""Whatever an object of the right types holds, it is answered: drawn from the published shapes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema import Schema
from simcloud.kubernetes.api.schema.builtin import definitions
from simcloud.kubernetes.api.validation import go_types
from simcloud.kubernetes.api.validation.pods import validate_ephemeral_containers, validate_resize
from tests.simcloud.kubernetes.api.validation.samples import CATALOGUE, SOUND, on_create, on_update, warnings

TEXTS = [
    "",
    "a",
    "A b",
    "web",
    "a.b",
    "../x",
    "/x",
    "1Gi",
    "None",
    "Always",
    "Never",
    "Exists",
    "In",
    "x/y",
    "é\n",
    "5%",
]
QUANTITIES = ["0", "1", "-1", "500m", "1Gi", "3Mi"]
NUMBERS = [0, 1, -1, 5, 80, 511, 70000, 2**31 - 1]


class Draw:
    """Draws values of shapes, a few hundred nodes at most."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.left = 300

    def value(self, schema: Schema) -> Any:
        self.left -= 1
        random = self.random
        match schema.shape:
            case "object":
                chosen = [key for key in schema.fields if random.random() < (0.4 if self.left > 0 else 0)]
                return {key: self.value(schema.fields[key]) for key in chosen}
            case "map":
                return {random.choice(TEXTS): self.value(schema.items) for _ in range(self._count())}
            case "list":
                return [self.value(schema.items) for _ in range(self._count())]
            case "integer" | "number":
                return random.choice(NUMBERS)
            case "boolean":
                return random.random() < 0.5
            case "quantity":
                return random.choice(QUANTITIES)
            case "int_or_string":
                return random.choice([*NUMBERS, *TEXTS])
            case "any":
                return {"a": [1]}
            case _:
                return random.choice(TEXTS)

    def _count(self) -> int:
        return self.random.randrange(3) if self.left > 0 else 0


def made(kind: str, random: Random) -> Object:
    api_version = SOUND[kind]["apiVersion"]
    resource = CATALOGUE.of_kind(api_version, kind)
    assert resource is not None
    found = {"spec": {}, "status": {}, "metadata": {}}
    for key in found:
        if key in resource.schema.fields:
            found[key] = Draw(random).value(resource.schema.fields[key])
    return {**found, "apiVersion": api_version, "kind": kind}


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(sorted(SOUND)), st.integers(0, 2**32))
def test_any_object_is_answered(kind: str, seed: int) -> None:
    random = Random(seed)
    new, old = made(kind, random), made(kind, random)
    for told in (on_create(new), on_update(new, old), warnings(new), warnings(new, old)):
        assert all(isinstance(one, str) for one in told)
    if kind == "Pod":
        assert isinstance(validate_ephemeral_containers(new, old), list)
        assert isinstance(validate_resize(new, old), list)


_OF_THE_HOST = {"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"}
_SAME_NAME = [name for name in go_types._TYPES if f"io.k8s.api.core.v1.{name}" in definitions()]


@pytest.mark.parametrize("name", _SAME_NAME)
def test_go_types_have_the_fields_of_their_published_shapes(name: str) -> None:
    published = set(definitions()[f"io.k8s.api.core.v1.{name}"]["properties"])
    if name == "PodSpec":
        published -= {*_OF_THE_HOST, "serviceAccount"}
    if name == "PodSecurityContext":
        published |= _OF_THE_HOST
    assert {key for _, key, _ in go_types._fields(name)} == published
