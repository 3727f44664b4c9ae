"""The applications' manifests: every object keeps to the schema that Kubernetes publishes."""

from __future__ import annotations

import pytest
from kubernetes_validate import ValidationError, validate

from aiopslab.apps import load_applications
from simcloud.kubernetes.api.objects import Object

VERSION = "1.36"
OBJECTS = {
    f"{app.name}-{one['kind']}-{one['metadata']['name']}": one
    for app in load_applications().values()
    for one in app().manifests()
}


@pytest.mark.parametrize("name", OBJECTS)
def test_it_keeps_to_the_published_schema(name: str) -> None:
    validate(OBJECTS[name], VERSION, strict=True)


def test_the_schema_refuses_what_is_no_field_of_it() -> None:
    wrong: Object = {**next(iter(OBJECTS.values())), "replicas": 1}
    with pytest.raises(ValidationError):
        validate(wrong, VERSION, strict=True)
