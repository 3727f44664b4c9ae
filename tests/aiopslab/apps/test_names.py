"""Other names of an application's components: complete, without collisions, and true wherever somebody looks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from aiopslab.apps import Application, NoOtherNames
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud.apps import render_chart
from aiopslab.cloud.environment import Environment
from simcloud.kubernetes.api import Object

APPS = (HotelReservation(), SocialNetwork())
each_app = pytest.mark.parametrize("app", APPS, ids=[app.name for app in APPS])
PRODUCTS = ("consul", "jaeger")
"""Components that are named after the product that they run keep their names."""
KEPT = {
    "hotel-reservation": r"test-hotel-reservation|yinfangchen/[\w:]+|user: \"(admin|root)\"",
    "social-network": r"(deathstarbench/social-network|yg397/media)-[\w-]+|(wrk2-)?api/(home-|user-)?\w+|(get|upload)-media",
}
"""Where the usual words stand for something else: the namespace, references of images, fields and URLs."""


def list_texts(app: Application) -> list[str]:
    return [*app.manifest_files.values(), *app.chart_files.values(), *app.runbooks.values()]


def list_objects(app: Application) -> list[Object]:
    if not app.chart_files:
        return app.manifests()
    return [obj for obj in yaml.safe_load_all(render_chart(app)) if obj is not None]


@each_app
def test_every_component_has_another_name_in_the_same_order(app: Application) -> None:
    names = {
        known.name: new.name
        for known, new in zip(app.components, app.use_other_names().components, strict=True)
    }
    assert [name for name, new in names.items() if name == new] == [
        name for name in names if name in PRODUCTS
    ]
    assert len(set(names.values())) == len(names)
    assert [names[name] for name in sorted(names)] == sorted(names.values())


@each_app
def test_the_other_words_are_new(app: Application) -> None:
    assert app.other_names is not None
    owners = [component.owner for component in app.components]
    for word in app.other_names.words.values():
        for text in (app.about, *owners, *list_texts(app)):
            assert not re.search(rf"\b{word}\b", text)


@each_app
def test_an_application_is_the_same_apart_from_names(app: Application) -> None:
    renamed = app.use_other_names()
    for component in app.components:
        new = renamed.component(renamed.names.rename(component.name))
        assert new.calls == tuple(map(renamed.names.rename, component.calls))
        assert (new.owner, new.role, new.journeys) == (component.owner, component.role, component.journeys)
    assert app.names is not renamed.names
    assert app.components == type(app)().components
    assert renamed.component(renamed.audited).name in renamed.audit


@each_app
def test_objects_refer_to_each_other_by_the_other_names(app: Application) -> None:
    usual, objects = list_objects(app), list_objects(app.use_other_names())
    assert [obj["kind"] for obj in objects] == [obj["kind"] for obj in usual]
    assert app.other_names is not None
    word = re.compile(rf"(?<![\w.])({'|'.join(app.other_names.words)})(?!\w)")
    kept = KEPT[app.name]
    assert [text for text in list_strings(objects) if word.search(re.sub(kept, "", text))] == []
    present = {(obj["kind"], obj["metadata"]["name"]) for obj in objects}
    assert [missing for obj in objects for missing in list_references(obj) if missing not in present] == []
    labels = [obj["spec"]["template"]["metadata"]["labels"] for obj in objects if obj["kind"] == "Deployment"]
    for obj in objects:
        if obj["kind"] == "Service":
            assert any(obj["spec"]["selector"].items() <= own.items() for own in labels)


def list_strings(value: Any) -> Iterator[str]:
    """Yield all keys and texts of a document."""
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from list_strings(item)
    elif isinstance(value, str):
        yield value


def list_references(obj: Object) -> Iterator[tuple[str, str]]:
    for volume in obj["spec"]["template"]["spec"].get("volumes", ()) if obj["kind"] == "Deployment" else ():
        if "configMap" in volume:
            yield "ConfigMap", volume["configMap"]["name"]
        if "persistentVolumeClaim" in volume:
            yield "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]


@each_app
def test_the_table_of_the_runbooks_names_the_components(app: Application) -> None:
    for each in (app, app.use_other_names()):
        rows = re.findall(r"^\| (.+?) \|", each.runbooks["components.md"], re.MULTILINE)[1:]
        assert sorted(name for row in rows for name in row.split(", ")) == sorted(
            component.name for component in each.components
        )


def test_an_application_without_other_names_says_so() -> None:
    with pytest.raises(NoOtherNames, match=r"no other names for the components of .* Leave out \+names"):
        HotelLike().use_other_names()


class HotelLike(HotelReservation):
    """An application of another package, which has no other names."""

    other_names = None


@pytest.mark.slow(keep=1)
@each_app
def test_a_site_has_no_other_names_than_these(app: Application) -> None:
    """Users are served; registry, traces, metrics and logs have the names that kubectl shows."""
    renamed = app.use_other_names()
    site = Environment(renamed, 3, nodes=2)
    site.settle()
    assert site.baseline.users.requests > 500
    assert site.baseline.users.error_rate < 0.01
    components = {component.name for component in renamed.components}
    served = {"nginx-web-server"} if app.name == "social-network" else set[str]()
    _, found = site.monitoring.jaeger.answer("/api/services", {})
    services = set(found["data"])
    assert services - components <= served
    assert len(services) > len(served) + 5
    old = {component.name for component in app.components} - components
    series = site.monitoring.api.answer("series", {"match[]": [f'{{namespace="{app.namespace}"}}']})["data"]
    assert {labels.get("service") for labels in series} & components
    assert list_values(series) & old == set()
    listed = site.operate(
        f"kubectl -n {app.namespace} get deployments,services,configmaps -o name"
    ).stdout.decode()
    declared = {line.partition("/")[2] for line in listed.splitlines()}
    assert components <= declared
    assert declared & old == set()
    if app.name == "hotel-reservation":
        catalog = site.exec("consul", "consul catalog services").split()
        assert {name.removeprefix("srv-") for name in catalog} <= components | {"consul"}


def list_values(series: list[Mapping[str, Any]]) -> set[str]:
    return {value for labels in series for value in labels.values()}
