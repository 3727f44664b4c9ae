from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.images.references import InvalidReference, parse


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1.19", "docker.io/library/nginx:1.19"),
        ("team/app:1", "docker.io/team/app:1"),
        ("localhost/app", "localhost/app:latest"),
        ("10.0.0.1:5000/app:1", "10.0.0.1:5000/app:1"),
        ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10"),
        ("quay.io/a/b/c@sha256:" + "0" * 64, "quay.io/a/b/c@sha256:" + "0" * 64),
        ("index.docker.io/nginx", "docker.io/library/nginx:latest"),
    ],
)
def test_full_names(text: str, name: str) -> None:
    assert parse(text).name == name
    assert parse(name).name == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("MyApp:1.0", "invalid reference format: repository name (library/MyApp) must be lowercase"),
        ("Nginx:::bad", "invalid reference format"),
        ("", "invalid reference format"),
        ("a//b", "invalid reference format"),
        ("app:-x", "invalid reference format"),
        ("app@sha256:12", "invalid reference format"),
    ],
)
def test_what_names_no_image(text: str, why: str) -> None:
    with pytest.raises(InvalidReference) as refusal:
        parse(text)
    assert str(refusal.value) == why


@given(st.text(max_size=60))
def test_a_name_is_read_the_same_again_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except InvalidReference:
        return
    assert parse(found.name).name == found.name
