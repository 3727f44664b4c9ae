"""Commands that need no cluster: ``show``, ``lint``, ``version``, ``repo`` and others."""

from __future__ import annotations

import re
from typing import Any

from simcloud.golang.template import GoTemplate, TemplateError
from simcloud.helm.charts import Chart, load_chart, locate_chart
from simcloud.helm.command import command, group
from simcloud.helm.errors import HelmError
from simcloud.helm.goyaml import write_yaml
from simcloud.helm.objects import HELM_VERSION
from simcloud.helm.render import NAME, offline_capabilities, release_facts, render
from simcloud.helm.session import Helm
from simcloud.helm.values import read_values
from simcloud.helm.views import table
from simcloud.kubernetes.api import copy

COMMIT = "e4da49785aa6e6ee2b86efd5dd9e43400318262b"
GO = "go1.23.7"
_BAD_NAME = "object name does not conform to Kubernetes naming requirements"
_INVALID = (
    'Invalid value: "{}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '
    "'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

group("show", "What a chart says of itself", aliases=("inspect",))
group("repo", "Repositories of charts; none can be reached from here")
group("search", "Look for charts in repositories")
group("dependency", "What a chart needs besides itself", aliases=("dep", "dependencies"))


@command("version", "The version of this helm", most=0)
async def version(helm: Helm) -> None:
    """The version of this helm."""
    if helm.flags["template"]:
        facts = {"Version": HELM_VERSION, "GitCommit": COMMIT, "GitTreeState": "clean", "GoVersion": GO}
        try:
            await helm.out(GoTemplate(helm.flags["template"]).text(facts))
        except TemplateError as error:
            raise HelmError(str(error)) from None
    elif helm.flags["short"]:
        await helm.out(f"{HELM_VERSION}+g{COMMIT[:7]}\n")
    else:
        build_info = f'Version:"{HELM_VERSION}", GitCommit:"{COMMIT}", GitTreeState:"clean", GoVersion:"{GO}"'
        await helm.out(f"version.BuildInfo{{{build_info}}}\n")


def _chart(helm: Helm) -> Chart:
    return load_chart(helm.ctx, locate_chart(helm.ctx, helm.args[0], helm.flags.get("version", "")))


def _file(chart: Chart, *names: str) -> str:
    found = {name.lower(): data for name, data in chart.raw}
    return next((found[name].decode(errors="replace") for name in names if name in found), "")


@command("show chart", "The definition of a chart", least=1, most=1)
async def show_chart(helm: Helm) -> None:
    """The definition of a chart."""
    await helm.out(write_yaml(_chart(helm).metadata) + "\n")


@command("show values", "The values that a chart has by itself", least=1, most=1)
async def show_values(helm: Helm) -> None:
    """The values that a chart has by itself."""
    text = _file(_chart(helm), "values.yaml")
    await helm.out(f"{text}\n" if text else "")


@command("show readme", "The README of a chart", least=1, most=1)
async def show_readme(helm: Helm) -> None:
    """The README of a chart."""
    text = _file(_chart(helm), "readme.md", "readme.txt", "readme")
    await helm.out(f"{text}\n" if text else "")


@command("show crds", "The custom resources that a chart defines", least=1, most=1)
async def show_crds(helm: Helm) -> None:
    """The custom resources that a chart defines."""
    for _, data in _chart(helm).crds():
        text = data.decode(errors="replace")
        await helm.out(f"{text}\n")


@command("show all", "All that a chart says of itself", least=1, most=1)
async def show_all(helm: Helm) -> None:
    """All that a chart says of itself."""
    chart = _chart(helm)
    parts = [write_yaml(chart.metadata)]
    parts += [text for text in (_file(chart, "values.yaml"), _file(chart, "readme.md", "readme.txt")) if text]
    crds = [data.decode(errors="replace") for _, data in chart.crds()]
    crds = [text if text.startswith("---") else f"---\n{text}" for text in crds]
    await helm.out("\n---\n".join(parts) + "\n" + "".join(f"{text}\n" for text in crds))


@command("repo list", "The repositories known", most=0, aliases=("ls",))
async def repo_list(helm: Helm) -> None:
    """The repositories known: there are none."""
    raise HelmError("no repositories to show")


@command("repo update", "Fetch what repositories have", aliases=("up",))
async def repo_update(helm: Helm) -> None:
    """Fetch what repositories have."""
    raise HelmError("no repositories found. You must add one before updating")


@command("repo add", "Make a repository known", least=2, most=2)
async def repo_add(helm: Helm) -> None:
    """Make a repository known: the network of this machine leads to none."""
    url = helm.args[1]
    host = url.partition("://")[2].partition("/")[0]
    why = f'Get "{url.rstrip("/")}/index.yaml": dial tcp: lookup {host}: no such host'
    raise HelmError(f'looks like "{url}" is not a valid chart repository or cannot be reached: {why}')


@command("repo remove", "Forget a repository", least=1, aliases=("rm",))
async def repo_remove(helm: Helm) -> None:
    """Forget a repository."""
    raise HelmError("no repositories configured")


@command("search repo", "Look for charts in the repositories known")
async def search_repo(helm: Helm) -> None:
    """Look for charts in the repositories known."""
    raise HelmError("no repositories configured")


@command("pull", "Fetch a chart from a repository", least=1, aliases=("fetch",))
async def pull(helm: Helm) -> None:
    """Fetch a chart from a repository."""
    locate_chart(helm.ctx, helm.args[0])
    raise HelmError(f"non-absolute URLs should be in form of repo_name/path_to_chart, got: {helm.args[0]}")


@command("dependency list", "The charts that a chart needs", aliases=("ls",))
async def dependency_list(helm: Helm) -> None:
    """The charts that a chart needs."""
    path = helm.args[0] if helm.args else "."
    chart = load_chart(helm.ctx, path)
    declared = chart.metadata.get("dependencies") or []
    if not declared:
        await helm.err(f"WARNING: no dependencies at {path.rstrip('/')}/charts\n")
        return
    held = {dependency.name: dependency for dependency in chart.dependencies}
    rows = []
    for entry in declared:
        state = "unpacked" if entry.get("name") in held else "missing"
        rows.append(
            (str(entry.get("name")), str(entry.get("version", "")), str(entry.get("repository", "")), state)
        )
    await helm.out(table(("NAME", "VERSION", "REPOSITORY", "STATUS"), rows) + "\n")


@command("lint", "Look for mistakes in charts")
async def lint(helm: Helm) -> None:
    """Look for mistakes in charts: what keeps them from being read or rendered."""
    failed = 0
    given = await read_values(helm)
    paths = helm.args or ["."]
    for path in paths:
        faults = _faults(helm, path, given)
        bad = any(line.startswith("[ERROR]") for line in faults)
        failed += bad
        if not helm.flags["quiet"] or bad:
            await helm.out(f"==> Linting {path}\n" + "".join(f"{line}\n" for line in faults) + "\n")
    ending = f"{len(paths)} chart(s) linted, {failed} chart(s) failed"
    if failed:
        raise HelmError(ending)
    if not helm.flags["quiet"]:
        await helm.out(f"{ending}\n")


def _faults(helm: Helm, path: str, given: dict[str, Any]) -> list[str]:
    try:
        chart = load_chart(helm.ctx, path)
    except HelmError as error:
        return [f"[ERROR] : unable to load chart\n\t{error}"]
    found = [] if chart.metadata.get("icon") else ["[INFO] Chart.yaml: icon is recommended"]
    if not any(name == "values.yaml" for name, _ in chart.raw):
        found.append("[INFO] values.yaml: file does not exist")
    facts = release_facts("test-release", helm.namespace, 1, upgrade=False)
    try:
        rendered = render(helm, chart, copy(given), facts, offline_capabilities(), lint=True)
    except HelmError as error:
        content = re.match(r"YAML parse error on [^/]+/([^:]+): (.*)", str(error), re.DOTALL)
        found.append(
            f"[ERROR] {content[1]}: unable to parse YAML: {content[2]}"
            if content
            else f"[ERROR] templates/: {error}"
        )
        return found
    for manifest in rendered.manifests:
        if not NAME.match(manifest.name):
            path = manifest.path.removeprefix(f"{chart.name}/")
            found.append(
                f'[WARNING] {path}: {_BAD_NAME}: "{manifest.name}": metadata.name: {_INVALID.format(manifest.name)}'
            )
    return found
