"""Tables of recorded objects, printed as kubectl prints them, equal what kubectl printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.resources import Catalogue
from simcloud.kubernetes.api.selectors import parse_fields
from simcloud.kubernetes.api.tables import make_table
from tests.simcloud.kubernetes.api.tables.kubectl_table import printed

RECORDED = json.loads((Path(__file__).parent / "data" / "recorded.json").read_text())
CATALOGUE = Catalogue()


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: case["cmd"])
def test_recorded_table(case: dict[str, Any]) -> None:
    resource = CATALOGUE.find(*case["resource"])
    flags = dict(case["flags"])
    fields = parse_fields(flags.pop("fields", ""))
    chosen = [obj for obj in RECORDED["objects"][case["objects"]] if fields.matches(obj, resource)]
    chosen.sort(key=lambda obj: obj["metadata"]["name"])
    start_s = times.parse(case["time"])  # to the second: the ages are of some moment within the next two
    outputs = []
    for tenth in range(20):
        table = make_table(resource, chosen, now_s=start_s + tenth / 10, list_metadata={})
        outputs.append(printed(table, **flags))
    assert case["stdout"] in outputs, outputs[5]


def test_several_kinds_at_once() -> None:
    """The recorded ``kubectl get all -n demo``."""
    kinds = {
        "pod": ("pods", "", "control-plane 40"),
        "service": ("services", "", "control-plane 42"),
        "deployment.apps": ("deployments", "apps", "control-plane 37"),
        "replicaset.apps": ("replicasets", "apps", "control-plane 43"),
    }
    tables = []
    for prefix, (plural, group, key) in kinds.items():
        objects = RECORDED["objects"][key]
        table = make_table(
            CATALOGUE.find(plural, group),
            objects,
            now_s=times.parse("2026-11-15T00:43:24Z"),
            list_metadata={},
        )
        tables.append(printed(table, prefix=prefix))
    assert (
        "\n".join(tables)
        == """\
NAME                       READY   STATUS    RESTARTS   AGE
pod/web-58899f8dbc-25kjb   1/1     Running   0          2s
pod/web-58899f8dbc-nvwzq   1/1     Running   0          2s

NAME          TYPE        CLUSTER-IP     EXTERNAL-IP   PORT(S)   AGE
service/web   ClusterIP   10.96.14.223   <none>        80/TCP    2s

NAME                  READY   UP-TO-DATE   AVAILABLE   AGE
deployment.apps/web   2/2     2            2           2s

NAME                             DESIRED   CURRENT   READY   AGE
replicaset.apps/web-58899f8dbc   2         2         2       2s
"""
    )
