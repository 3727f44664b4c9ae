"""The options of commands that may use a real cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiopslab.cli.clusters import parse_cloud
from aiopslab.cli.problems import UsageError


def test_the_embedded_cloud_needs_no_options() -> None:
    assert parse_cloud("embedded", Path("ignored"), None) is None


def test_settings_of_a_cluster() -> None:
    found = parse_cloud(
        "kubernetes",
        Path("config"),
        "mine",
        [
            "front_door=http://a:1/?b=c",
            "image=x:1=y:2",
            "baseline_s=2.5",
            "prometheus=service:a/b:9090",
            "loki=install",
        ],
    )
    assert found is not None
    assert (found.kubeconfig, found.context, found.front_door) == (Path("config"), "mine", "http://a:1/?b=c")
    assert (found.images, found.baseline_s, found.soak_s) == ({"x:1": "y:2"}, 2.5, None)
    assert (found.prometheus, found.jaeger, found.loki) == ("service:a/b:9090", "", "install")


@pytest.mark.parametrize(
    ("cloud", "context", "settings", "why"),
    [
        ("azure", None, [], "There is no cloud 'azure'. Choose one of: embedded, kubernetes."),
        ("embedded", "mine", [], "add --cloud kubernetes"),
        ("kubernetes", None, ["ready_s=soon"], "not 'ready_s=soon'"),
        ("kubernetes", None, ["image=x"], "not 'image=x'"),
        ("kubernetes", None, ["jaeger=install"], "takes a URL, service:NAMESPACE/NAME:PORT, not 'install'"),
        ("kubernetes", None, ["loki=here"], "service:NAMESPACE/NAME:PORT or install, not 'here'"),
        ("kubernetes", None, ["prometheus=here"], "service:NAMESPACE/NAME:PORT or install, not 'here'"),
        (
            "kubernetes",
            None,
            ["colour=red"],
            "NAME=VALUE with one of front_door, terminal_image, prometheus, jaeger, loki, image, ready_s",
        ),
    ],
)
def test_wrong_options_are_refused(cloud: str, context: str | None, settings: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_cloud(cloud, None, context, settings)
