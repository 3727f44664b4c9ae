"""``helm template``: renders a chart without a cluster."""

from __future__ import annotations

from simcloud.helm.charts import load_chart, locate_chart
from simcloud.helm.command import command
from simcloud.helm.errors import HelmError, RenderError
from simcloud.helm.manifests import Manifest
from simcloud.helm.render import check_name, offline_capabilities, release_facts, render
from simcloud.helm.session import Helm
from simcloud.helm.values import read_values
from simcloud.helm.verbs.install import chart_words

DEBUG = "\n\nUse --debug flag to render out invalid YAML"


@command("template", "Render a chart and print its manifests", least=1)
async def template(helm: Helm) -> None:
    """Render a chart and print its manifests."""
    flags = helm.flags
    name, word = chart_words(helm)
    path = locate_chart(helm.ctx, word, flags["version"])
    given = await read_values(helm)
    chart = load_chart(helm.ctx, path)
    check_name(name)
    facts = release_facts(name, helm.namespace, 1, upgrade=bool(flags["is-upgrade"]))
    capabilities = offline_capabilities(_version(flags["kube-version"]), flags["api-versions"])
    try:
        rendered = render(
            helm, chart, given, facts, capabilities, subchart_notes=bool(flags["render-subchart-notes"]),
            check=not flags["skip-schema-validation"],
        )  # fmt: skip
    except RenderError as error:
        await helm.warn_later()
        raise HelmError(f"{error}{DEBUG}") from None
    await helm.warn_later()
    shown = list(rendered.manifests)
    if flags["include-crds"]:
        crds = [Manifest(path, data.decode(errors="replace"), {}) for path, data in chart.crds()]
        shown = crds + shown
    if not flags["no-hooks"]:
        skip = bool(flags["skip-tests"])
        shown += [hook.manifest for hook in rendered.hooks if not (skip and "test" in hook.events)]
    if flags["show-only"]:
        shown = _only(shown, chart.name, flags["show-only"])
    text = "".join(manifest.format_document() for manifest in shown)
    await helm.out(f"{text.strip()}\n" if text.strip() else "")


def _version(said: str) -> str:
    return said if not said or said.startswith("v") else f"v{said}"


def _only(shown: list[Manifest], chart: str, wanted: list[str]) -> list[Manifest]:
    chosen = []
    for path in wanted:
        found = [manifest for manifest in shown if manifest.path.removeprefix(f"{chart}/") == path]
        if not found:
            raise HelmError(f"could not find template {path} in chart")
        chosen += found
    return chosen
