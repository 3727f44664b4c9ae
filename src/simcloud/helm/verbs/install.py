"""``helm install``, ``helm upgrade``, ``helm rollback``."""

from __future__ import annotations

from simcloud.helm.charts import Chart, load_chart, locate_chart
from simcloud.helm.command import command
from simcloud.helm.errors import HelmError, NoRelease
from simcloud.helm.lifecycle import Lifecycle
from simcloud.helm.releases import Release
from simcloud.helm.session import Helm
from simcloud.helm.values import read_values
from simcloud.helm.views import write_release
from simcloud.kubernetes.api import ApiError


@command("install", "Install a chart as a new release", least=1)
async def install(helm: Helm) -> None:
    """Install a chart as a new release."""
    try:
        name, chart = chart_words(helm)
        release = await _install(helm, name, chart)
    except (HelmError, ApiError) as error:
        await helm.warn_later()
        raise HelmError(f"INSTALLATION FAILED: {_format_error(error)}") from None
    await helm.warn_later()
    await helm.tell_warnings()
    await write_release(helm, release, hide_notes=bool(helm.flags["hide-notes"]))


def _format_error(error: HelmError | ApiError) -> str:
    return error.message if isinstance(error, ApiError) else str(error)


async def _install(helm: Helm, name: str, word: str) -> Release:
    path = locate_chart(helm.ctx, word, helm.flags["version"])
    given = await read_values(helm)
    chart = load_chart(helm.ctx, path)
    await _warn_if_deprecated(helm, chart)
    life = Lifecycle(helm, await helm.connect(), await helm.storage(), helm.flags)
    return await life.install(name, chart, given)


async def _warn_if_deprecated(helm: Helm, chart: Chart) -> None:
    if chart.metadata.get("deprecated") is True:
        await helm.err("WARNING: This chart is deprecated\n")


def chart_words(helm: Helm) -> tuple[str, str]:
    """The name and the chart that the words say; raises ``HelmError``."""
    args, flags = helm.args, helm.flags
    if len(args) > 2:
        raise HelmError(f"expected at most two arguments, unexpected arguments: {', '.join(args[2:])}")
    if len(args) == 2:
        if flags["generate-name"]:
            raise HelmError("cannot set --generate-name and also specify a name")
        if flags["name-template"]:
            raise HelmError("cannot set --name-template and also specify a name")
        return args[0], args[1]
    if flags["name-template"]:
        return flags["name-template"], args[0]
    if not flags["generate-name"]:
        if helm.command.path == "template":
            return "release-name", args[0]
        raise HelmError("must either provide a name or specify --generate-name")
    base = args[0].rstrip("/").rpartition("/")[2]
    base = "chart" if base in (".", "") else base.rpartition(".")[0] or base
    return f"{base}-{int(helm.door.now_s)}", args[0]


@command("upgrade", "Bring a release to what a chart says now", least=2, most=2)
async def upgrade(helm: Helm) -> None:
    """Bring a release to what a chart says now."""
    name, word = helm.args
    if helm.flags["install"] and await _is_new(helm, name):
        if helm.flags["output"] == "table":
            await helm.out(f'Release "{name}" does not exist. Installing it now.\n')
        try:
            release = await _install(helm, name, word)
        except (HelmError, ApiError) as error:
            await helm.warn_later()
            raise HelmError(_format_error(error)) from None
        await helm.warn_later()
        await write_release(helm, release, hide_notes=bool(helm.flags["hide-notes"]))
        return
    path = locate_chart(helm.ctx, word, helm.flags["version"])
    given = await read_values(helm)
    chart = load_chart(helm.ctx, path)
    await _warn_if_deprecated(helm, chart)
    try:
        life = Lifecycle(helm, await helm.connect(), await helm.storage(), helm.flags)
        release = await life.upgrade(name, chart, given)
    except (HelmError, ApiError) as error:
        await helm.warn_later()
        raise HelmError(f"UPGRADE FAILED: {_format_error(error)}") from None
    await helm.warn_later()
    await helm.tell_warnings()
    if helm.flags["output"] == "table":
        await helm.out(f'Release "{name}" has been upgraded. Happy Helming!\n')
    await write_release(helm, release, hide_notes=bool(helm.flags["hide-notes"]))


async def _is_new(helm: Helm, name: str) -> bool:
    helm.flags.values.setdefault("replace", False)
    try:
        last = await (await helm.storage()).last(name)
    except NoRelease:
        return True
    helm.flags.values["replace"] = last.status == "uninstalled"
    return last.status == "uninstalled"


@command("rollback", "Bring a release back to an earlier revision", least=1)
async def rollback(helm: Helm) -> None:
    """Bring a release back to an earlier revision."""
    version = 0
    if len(helm.args) > 1:
        try:
            version = int(helm.args[1])
        except ValueError:
            message = f'strconv.Atoi: parsing "{helm.args[1]}": invalid syntax'
            raise HelmError(f"could not convert revision to a number: {message}") from None
    life = Lifecycle(helm, await helm.connect(), await helm.storage(), helm.flags)
    await life.rollback(helm.args[0], version)
    await helm.out("Rollback was a success! Happy Helming!\n")
