"""What new clients read of OpenAPI beyond validation: v2 when a kind is unknown, v3 to explain and to choose patches."""

from __future__ import annotations

import pytest

from tests.simcloud.server.kubernetes.served import Served

pytestmark = pytest.mark.differential("kubectl")


def test_a_kind_that_nobody_knows(served: Served) -> None:
    result = served.kubectl("apply", "-f", "-", stdin="apiVersion: foo/v1\nkind: Foo\nmetadata: {name: x}\n")
    assert result.stderr == (
        'error: resource mapping not found for name: "x" namespace: "" from "STDIN": no matches for kind "Foo" in '
        'version "foo/v1"\nensure CRDs are installed first\n'
    )
    assert result.exit == 1


def test_explain_lists_the_values_of_a_field(served: Served) -> None:
    explained = served.ok("explain", "pv.spec.persistentVolumeReclaimPolicy")
    assert (
        "FIELD: persistentVolumeReclaimPolicy <string>\nENUM:\n    Delete\n    Recycle\n    Retain\n"
        in explained
    )
    assert (
        "    Possible enum values:\n"
        '     - `"Delete"` means the volume will be deleted from Kubernetes on release\n'
        "    from its claim. The volume plugin must support Deletion.\n"
    ) in explained
