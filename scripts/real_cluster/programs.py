"""Kubernetes, etcd, CoreDNS and crictl, built from their public Go modules as static programs.

A module of each project's own lists what is built. ``go install MODULE@VERSION`` would refuse modules with replacements, which
Kubernetes and etcd have; those replacements name folders of their repositories, which are published as modules of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.real_cluster.nodes import run

KUBERNETES = "v1.36.4"
ETCD = "v3.6.8"
COREDNS = "v1.14.2"
"""The versions that kubeadm of this Kubernetes installs."""
CRI_TOOLS = "v1.36.0"


@dataclass(frozen=True)
class Project:
    """A Go module at a version, and its programs by the package of each."""

    module: str
    version: str
    programs: dict[str, str]
    published: str = ""
    """The version under which the folders that its replacements name are published."""
    flags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Files beside this one that are part of the build."""
    also: dict[str, str] = field(default_factory=dict)
    """Versions of other modules that these files import."""
    texts: dict[str, str] = field(default_factory=dict)
    """Files that the published module lacks, by their path in it."""


def _make_version_flags(version: str) -> tuple[str, ...]:
    major, minor, _ = version.removeprefix("v").split(".")
    stamps = {"gitMajor": major, "gitMinor": minor, "gitVersion": version, "gitTreeState": "clean"}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return tuple(f"-X {package}.{name}={value}" for package in packages for name, value in stamps.items())


COMPONENTS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    "kubelet",
    "kubeadm",
)
PROJECTS = (
    Project(
        "k8s.io/kubernetes",
        KUBERNETES,
        {name: f"k8s.io/kubernetes/cmd/{name}" for name in COMPONENTS},
        published=KUBERNETES.replace("v1.", "v0.", 1),
        flags=_make_version_flags(KUBERNETES),
    ),
    Project("go.etcd.io/etcd/server/v3", ETCD, {"etcd": "go.etcd.io/etcd/server/v3"}, published=ETCD),
    Project("github.com/coredns/coredns", COREDNS, {"coredns": "."}, sources=("coredns.go",)),
    Project("sigs.k8s.io/cri-tools", CRI_TOOLS, {"crictl": "sigs.k8s.io/cri-tools/cmd/crictl"}),
)


def build_programs(folder: Path, projects: Iterable[Project] = PROJECTS) -> Path:
    """Build the programs that are missing below ``folder`` and return the folder that has all of them."""
    programs = folder / "programs"
    programs.mkdir(parents=True, exist_ok=True)
    for project in projects:
        missing = {
            name: package for name, package in project.programs.items() if not (programs / name).exists()
        }
        if not missing:
            continue
        work = folder / "build" / project.module.replace("/", "-")
        work.mkdir(parents=True, exist_ok=True)
        for source in project.sources:
            shutil.copy(Path(__file__).parent / source, work)
        module = make_module(project, _read_module(project, work))
        if project.texts:
            _complete_module(project, work)
            module += f"replace {project.module} => ./module\n"
        (work / "go.mod").write_text(module)
        for name, package in missing.items():
            print(f"Building {name} {project.version}; this may take minutes ...", flush=True)
            part = programs / f"{name}.part"
            flags = ["-trimpath", f"-ldflags={' '.join(('-s -w', *project.flags))}"]
            _run_go(["build", *flags, "-o", str(part), package], work)
            part.rename(programs / name)
    return programs


def make_module(project: Project, module: dict[str, Any]) -> str:
    """Return the text of a go.mod that builds a project whose own, as JSON, is ``module``."""
    lines = ["module real_cluster", f"go {module['Go']}", f"require {project.module} {project.version}"]
    lines += [f"require {name} {version}" for name, version in project.also.items()]
    for each in module["Replace"] or []:
        name, target = each["Old"]["Path"], each["New"]["Path"]
        if "Version" in each["New"]:
            lines.append(f"replace {name} => {target} {each['New']['Version']}")
        elif target.startswith(("./staging/", "../")):
            lines.append(f"replace {name} => {name} {project.published}")
    return "\n".join(lines) + "\n"


def _complete_module(project: Project, work: Path) -> None:
    """Copy the project's sources to the folder ``module`` of ``work`` and add the files that they lack."""
    copy = work / "module"
    shutil.rmtree(copy, ignore_errors=True)
    # The files of a downloaded module are read-only.
    run("cp", "-r", "--no-preserve=mode", download_module(project.module, project.version, work), copy)
    for path, text in project.texts.items():
        (copy / path).write_text(text)


def _read_module(project: Project, work: Path) -> dict[str, Any]:
    """Return the project's own go.mod as JSON."""
    (work / "go.mod").unlink(missing_ok=True)
    folder = download_module(project.module, project.version, work)
    module: dict[str, Any] = json.loads(_run_go(["mod", "edit", "-json", str(folder / "go.mod")], work))
    return module


def download_module(module: str, version: str, work: Path) -> Path:
    """Download a module and return the folder of its sources."""
    return Path(json.loads(_run_go(["mod", "download", "-json", f"{module}@{version}"], work))["Dir"])


def find_kubectl() -> str:
    """Return the path of the genuine kubectl."""
    client = Path(sys.prefix) / "clients" / f"kubectl-{KUBERNETES.removeprefix('v')}"
    if not client.exists():
        raise SystemExit("kubectl is missing; run: python scripts/get_clients.py")
    return str(client)


def _run_go(arguments: list[str], folder: Path) -> str:
    """Run the go command with the lowest priority and return its output."""
    settings = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "auto", "GOWORK": "off"}
    command = ["nice", "-n", "19", "go", *arguments]
    return subprocess.run(
        command, cwd=folder, env=os.environ | settings, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
