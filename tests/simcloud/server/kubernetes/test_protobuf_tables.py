from __future__ import annotations

import pytest

from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.schema.builtin import definitions, kinds
from simcloud.server.kubernetes.protobuf.tables import Message, message, message_of


def json_names(table: Message) -> set[str]:
    inlined = (json_names(message(field.message)) for field in table.fields if not field.name)
    return {field.name for field in table.fields if field.name}.union(*inlined)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_field_of_every_kind_has_a_number(kind):
    seen: set[str] = set()
    waiting = [(kinds()[kind], message_of(*kind))]
    while waiting:
        name, table = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        assert table is not None, name
        assert set(definitions()[name].get("properties", ())) <= json_names(table) | {"apiVersion", "kind"}, (
            name
        )
        waiting += [
            ("io.k8s." + field.message, message(field.message))
            for field in table.fields
            if field.shape == "message" and "io.k8s." + field.message in definitions()
        ]


def test_every_served_kind_has_a_message():
    without = [one.kind for one in Catalogue() if message_of(one.group, one.version, one.kind) is None]
    assert without == []


def test_a_field_knows_what_go_says_of_it():
    fields = {field.name: field for field in message("api.apps.v1.DeploymentSpec").fields}
    assert (fields["replicas"].number, fields["replicas"].shape) == (1, "int32")
    assert fields["replicas"].pointer
    assert fields["template"].number == 3
    assert not fields["template"].pointer
    assert message_of("apps", "v1", "Deployment").by_number[1].go_name == "ObjectMeta"


def test_no_number_is_used_twice():
    for name in kinds().values():
        table = message(name.removeprefix("io.k8s."))
        assert len(table.by_number) == len(table.fields), name


def test_what_is_no_builtin_kind_has_no_message():
    assert message_of("example.com", "v1", "Widget") is None
    assert message_of("", "v1", "pod") is None
