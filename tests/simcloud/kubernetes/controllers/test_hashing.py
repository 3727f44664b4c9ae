"""Hashes of templates: the very ones that a genuine v1.36.4 cluster gave to the same templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.controllers.hashing import revision_hash, same_template, template_hash, with_hash
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.conftest import demo_cluster

WEB = (
    Path(__file__).parents[2]
    / "server"
    / "kubernetes"
    / "golden"
    / "manifests"
    / "control-plane"
    / "web.yaml"
).read_text()
SLEEP = {"name": "app", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 3600"]}
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "tsc"}},
}


def template(app: str, container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def web(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(WEB.partition("---")[0])["spec"]["template"]
    found["spec"]["containers"][0] |= changes
    return found


DEBUG = [{"name": "MODE", "value": "debug"}]
LARGER = {"limits": {"cpu": "200m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"}}
RECORDED = [
    ("7cc5f7859d", template("tmp", {"name": "nginx", "image": "nginx:bad"})),
    ("58899f8dbc", web()),
    ("5cbd4487d7", web(image="nginx:1.20")),
    ("69bc7d9ff9", web(env=[*DEBUG, {"name": "EXTRA", "value": "1"}])),
    ("58bf8b9c99", web(env=DEBUG)),
    ("7bc7f4d9cc", web(env=DEBUG, resources=LARGER)),
    (
        "5c549b44c7",
        template(
            "heavy", SLEEP | {"resources": {"requests": {"cpu": "600m"}}}, terminationGracePeriodSeconds=1
        ),
    ),
    (
        "5fc88d6d5",
        template("tsc", SLEEP, topologySpreadConstraints=[SPREAD], terminationGracePeriodSeconds=1),
    ),
]


@pytest.fixture(scope="module")
def api() -> Api:
    return demo_cluster(Kernel(1)).api


@pytest.mark.parametrize(("wanted", "given_template"), RECORDED, ids=[name for name, _ in RECORDED])
def test_a_template_has_the_recorded_hash(api: Api, wanted: str, given_template: dict[str, Any]) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": f"d-{wanted}"},
        "spec": {
            "selector": {"matchLabels": given_template["metadata"]["labels"]},
            "template": given_template,
        },
    }
    stored = api.create(api.catalogue.find("deployments", "apps"), "demo", deployment)
    assert template_hash(stored["spec"]["template"]) == wanted


def test_a_collision_gives_another_hash() -> None:
    assert len({template_hash(web(), collisions) for collisions in (None, 0, 1)}) == 3


def test_the_hash_label_makes_no_difference() -> None:
    assert same_template(web(), with_hash(web(), "58899f8dbc"))
    assert not same_template(web(), web(image="nginx:1.20"))


@given(st.dictionaries(st.text(max_size=5), st.integers(-5, 5), max_size=4), st.integers(0, 3))
def test_a_hash_of_a_revision_depends_on_its_content_alone(content: dict[str, int], collisions: int) -> None:
    found = revision_hash(content, collisions)
    assert set(found) <= set("bcdfghjklmnpqrstvwxz2456789")
    assert found == revision_hash(dict(reversed(content.items())), collisions)
    assert found != revision_hash(content, collisions + 1)
