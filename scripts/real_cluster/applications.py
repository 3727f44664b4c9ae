"""Images of the applications' datastores, and of HotelReservation's public Go services.

They have the names that the manifests ask for. Where a program is of another version than the published image, the page
docs/real-kubernetes.md says so.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from scripts.real_cluster import debian
from scripts.real_cluster.images import PATH, Image, add_image
from scripts.real_cluster.nodes import run
from scripts.real_cluster.programs import KUBERNETES, Project, build_programs, download_module, find_kubectl

HUB = "docker.io"
JAEGER = Project(
    "github.com/jaegertracing/jaeger",
    "v1.57.0",
    {"jaeger": "github.com/jaegertracing/jaeger/cmd/all-in-one"},
)
STAND_INS = Project(
    "github.com/FerretDB/FerretDB",
    "v1.24.0",
    {
        "ferretdb": "github.com/FerretDB/FerretDB/cmd/ferretdb",
        "mongodb": "mongodb.go",
        "consul": "consul.go",
    },
    sources=("mongodb.go", "consul.go"),
    texts={"build/version/version.txt": "v1.24.0\n"},
    also={"github.com/dop251/goja": "v0.0.0-20250630131328-58d95d85e994"},
)
MONGODB = {"mongod": "mongodb", "mongo": "mongodb", "ferretdb": "ferretdb"}
"""The programs in the image of MongoDB's stand-in."""
TERMINAL = f"{HUB}/alpine/k8s:{KUBERNETES.removeprefix('v')}"
TOOLS = (
    "awk", "base64", "bash", "cat", "cp", "curl", "cut", "date", "diff", "echo", "env", "find", "grep", "head", "jq", "kill", "ls",
    "mkdir", "mktemp", "mv", "ps", "rm", "sed", "seq", "sh", "sleep", "sort", "tail", "tee", "test", "timeout", "touch", "tr", "uniq",
    "wc", "xargs",
)  # fmt: skip
HOTEL = "/go/src/github.com/harlow/go-micro-services"
HOTEL_MODULES = {
    "github.com/apache/thrift": "v0.0.0-20161221203622-b2a4d4ae21c7",
    "github.com/bradfitz/gomemcache": "v0.0.0-20230905024940-24af94b03874",
    "github.com/google/uuid": "v1.4.0",
    "github.com/mattn/go-colorable": "v0.1.13",
    "github.com/mattn/go-isatty": "v0.0.24",
    "github.com/rs/zerolog": "v1.33.0",
    "golang.org/x/sys": "v0.46.0",
    "gopkg.in/mgo.v2": "v2.0.0-20190816093944-a6b53ec6cb22",
}
"""Modules that the services import and their repository does not contain, or not completely."""


def add_applications(folder: Path, hotel: Path | None) -> None:
    """Add the images of datastores, and of HotelReservation's services if ``hotel`` is the folder of their sources."""
    root = debian.make_root(folder)
    programs = build_programs(folder, (JAEGER, STAND_INS))
    images = [*list_datastores(root, programs), make_terminal(root)]
    if hotel is not None:
        images += list_hotel_releases(hotel, build_hotel(folder, hotel), root)
    busybox = make_busybox(root)
    for image in images:
        tools = replace(
            image,
            links=busybox.links | image.links,
            files={"/bin/busybox": root / "bin/busybox", **image.files},
        )
        add_image(tools, folder / "images")


def make_busybox(root: Path) -> Image:
    """Return the image of busybox with links for all its commands."""
    names = tuple(f"{HUB}/library/busybox:{tag}" for tag in ("1.36", "latest"))
    commands = run("chroot", root, "/bin/busybox", "--list").split()
    links = {f"/bin/{command}": "/bin/busybox" for command in commands if command != "busybox"}
    return Image(names, command=("sh",), root=root, taken=("/bin/busybox",), links=links)


def list_datastores(root: Path, programs: Path) -> Iterator[Image]:
    """Return the images of what the applications store their data and traces in."""
    yield Image(
        (f"{HUB}/library/memcached:latest", f"{HUB}/library/memcached:1.6.7"),
        command=("memcached", "-u", "nobody"),
        root=root,
        taken=("/usr/bin/memcached",),
    )
    yield Image(
        (f"{HUB}/library/redis:6.2.4", f"{HUB}/deathstarbench/social-network-home-timeline-redis:6.2.4"),
        command=("redis-server",),
        root=root,
        taken=("/usr/bin/redis-server", "/usr/bin/redis-cli"),
    )
    jaeger = {"/go/bin/all-in-one-linux": programs / "jaeger"}
    yield Image((f"{HUB}/jaegertracing/all-in-one:1.57",), ("/go/bin/all-in-one-linux",), files=jaeger)
    yield Image(
        (f"{HUB}/hashicorp/consul:latest",),
        ("consul",),
        ("agent", "-dev", "-client", "0.0.0.0"),
        files={"/bin/consul": programs / "consul"},
    )
    yield Image(
        (f"{HUB}/library/mongo:4.4.6",),
        ("mongod",),
        files={f"/usr/bin/{name}": programs / program for name, program in MONGODB.items()},
        root=root,
        taken=("/bin/bash",),
        folders=("/data/db",),
    )


def make_terminal(root: Path) -> Image:
    """Return the image of the agent's terminal: kubectl and common tools."""
    return Image(
        (TERMINAL,),
        command=("bash",),
        root=root,
        taken=tuple(f"/usr/bin/{name}" for name in TOOLS),
        files={"/usr/bin/kubectl": Path(find_kubectl())},
        links={"/bin/bash": "/usr/bin/bash"},
    )


def build_hotel(folder: Path, sources: Path) -> Path:
    """Build HotelReservation's services from a clone of their sources and return the folder of the programs.

    The repository keeps the sources of most of its dependencies, as they were before Go had modules; so it is built that way.
    """
    programs = folder / "programs" / "hotel"
    if programs.exists():
        return programs
    print("Building the services of HotelReservation ...", flush=True)
    workspace = folder / "build" / "hotel"
    project = workspace / HOTEL.removeprefix("/go/")
    shutil.rmtree(workspace, ignore_errors=True)
    shutil.copytree(sources, project)
    for module, version in HOTEL_MODULES.items():
        shutil.copytree(
            download_module(module, version, workspace), project / "vendor" / module, dirs_exist_ok=True
        )
    settings = {
        "GO111MODULE": "off",
        "GOFLAGS": "",
        "CGO_ENABLED": "0",
        "GOPATH": str(workspace),
        "GOBIN": str(workspace / "bin"),
    }
    paths = f"-gcflags=github.com/harlow/...=-trimpath={workspace}=>/go"  # which log lines begin with
    command = ("nice", "-n", "19", "go", "install", "-ldflags=-s -w", paths, "./cmd/...")
    run(*command, cwd=project, env=os.environ | settings)
    shutil.copytree(workspace / "bin", programs)
    return programs


def list_hotel_releases(sources: Path, programs: Path, root: Path) -> Iterator[Image]:
    """Return the images of the services: the usual release, and the one whose geo has a wrong port of its database."""
    usual = json.loads((sources / "config.json").read_text())
    releases = {
        "yinfangchen/hotelreservation:latest": usual,
        "yinfangchen/geo:app3": usual | {"GeoMongoAddress": "mongodb-geo:27777"},
    }
    static = "services/frontend/static"
    for name, configuration in releases.items():
        yield Image(
            (f"{HUB}/{name}",),
            command=("bash",),
            root=root,
            taken=("/bin/bash",),
            files={"/go/bin": programs, f"{HOTEL}/{static}": sources / static},
            texts={f"{HOTEL}/config.json": json.dumps(configuration, indent=2)},
            environment={"PATH": f"/go/bin:{PATH}"},
            directory=HOTEL,
        )
