"""The parts of the real cluster that need no root: what is built from what, images, and the registry that serves them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.kubernetes import KubernetesOptions
from scripts.real_cluster.applications import TERMINAL, list_datastores, list_hotel_releases
from scripts.real_cluster.images import Image, add_image, find_file
from scripts.real_cluster.programs import Project, make_module
from scripts.real_cluster.registry import Handler


def test_folders_of_a_repository_become_published_modules() -> None:
    project = Project(
        "example.org/big", "v1.2.3", {}, published="v0.2.3", also={"example.org/script": "v0.1.0"}
    )
    module = {
        "Go": "1.26.0",
        "Replace": [
            {"Old": {"Path": "example.org/api"}, "New": {"Path": "./staging/src/example.org/api"}},
            {"Old": {"Path": "example.org/old"}, "New": {"Path": "example.org/new", "Version": "v1.0.0"}},
            {"Old": {"Path": "example.org/never"}, "New": {"Path": "./FORBIDDEN_DEPENDENCY"}},
        ],
    }
    assert make_module(project, module).splitlines() == [
        "module real_cluster",
        "go 1.26.0",
        "require example.org/big v1.2.3",
        "require example.org/script v0.1.0",
        "replace example.org/api => example.org/api v0.2.3",
        "replace example.org/old => example.org/new v1.0.0",
    ]


def test_links_are_followed_inside_a_root(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "loader").write_text("")
    (tmp_path / "absolute").symlink_to("/lib/loader")
    (tmp_path / "relative").symlink_to("absolute")
    assert find_file(tmp_path, "/relative").samefile(tmp_path / "lib" / "loader")


def test_every_image_of_the_hotels_is_made(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    made = [*list_datastores(tmp_path, tmp_path), *list_hotel_releases(tmp_path, tmp_path, tmp_path)]
    names = {name for image in made for name in image.names}
    containers = [
        container
        for manifest in HotelReservation().manifests()
        if manifest["kind"] == "Deployment"
        for container in manifest["spec"]["template"]["spec"]["containers"]
    ]
    assert {add_defaults(container["image"]) for container in containers} <= names
    assert KubernetesOptions(tmp_path).terminal_image == TERMINAL


def add_defaults(image: str) -> str:
    """Return the complete name of an image of Docker Hub."""
    name = image if "/" in image else f"library/{image}"
    return f"docker.io/{name}" if ":" in name else f"docker.io/{name}:latest"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """The address of a registry with one image."""
    (tmp_path / "program").write_text("#!/bin/sh\n")
    image = Image(
        ("docker.io/library/box:1", "docker.io/library/box:latest"),
        ("/bin/program",),
        files={"/bin/program": tmp_path / "program"},
        links={"/bin/sh": "/bin/program"},
        environment={"MODE": "quiet"},
    )
    add_image(image, tmp_path / "images")
    handler = type("TestHandler", (Handler,), {"folder": tmp_path / "images", "log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as answer:
        content: bytes = answer.read()
    return content


def test_an_image_is_served(registry: str) -> None:
    manifest = fetch(f"{registry}/v2/library/box/manifests/1?ns=docker.io")
    assert manifest == fetch(f"{registry}/v2/library/box/manifests/latest?ns=docker.io")
    digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
    assert manifest == fetch(f"{registry}/v2/library/box/manifests/{digest}?ns=docker.io")

    (described,) = json.loads(manifest)["layers"]
    layer = fetch(f"{registry}/v2/library/box/blobs/{described['digest']}?ns=docker.io")
    assert len(layer) == described["size"]
    with tarfile.open(fileobj=io.BytesIO(layer)) as files:
        assert files.getmember("bin/sh").linkname == "/bin/program"
        assert files.extractfile("bin/program").read() == b"#!/bin/sh\n"  # type: ignore[union-attr]

    described = json.loads(manifest)["config"]
    configuration = json.loads(fetch(f"{registry}/v2/library/box/blobs/{described['digest']}?ns=docker.io"))
    assert configuration["config"]["Entrypoint"] == ["/bin/program"]
    assert "MODE=quiet" in configuration["config"]["Env"]
    assert configuration["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("library/box/manifests/2?ns=docker.io", 404),
        ("library/none/manifests/1?ns=docker.io", 401),
        ("library/box/manifests/1?ns=ghcr.io", 401),
        ("../../library/box/manifests/1", 404),
    ],
)
def test_missing_images_are_refused_as_by_docker_hub(registry: str, path: str, status: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(f"{registry}/v2/{path}")
    assert refused.value.code == status
