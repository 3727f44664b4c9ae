"""``Helm`` of the public AIOpsLab release, on the current embedded cloud."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from aiopslab.service.current import get_cloud
from aiopslab.service.kubectl import KubeCtl, copy_to_cloud
from aiopslab.utils import NotAvailable


class Helm:
    """Runs helm on the operators' host. Charts are folders of this host, which are copied there."""

    @staticmethod
    def install(**args: Any) -> None:
        """Install a chart: ``release_name``, ``chart_path``, ``namespace``, ``extra_args``; raises ``RuntimeError``."""
        chart = Helm._copy_chart(args)
        extra = " ".join(args.get("extra_args") or ())
        _run(f"helm install {args['release_name']} {chart} -n {args['namespace']} --create-namespace {extra}")

    @staticmethod
    def upgrade(**args: Any) -> None:
        """Upgrade a release: as ``install``, with ``values_file`` and ``set_values``; raises ``RuntimeError``."""
        line = f"helm upgrade {args['release_name']} {Helm._copy_chart(args)} -n {args['namespace']}"
        if args.get("values_file"):
            copy_to_cloud(get_cloud("Helm"), Path(args["values_file"]))
            line += f" -f {shlex.quote(str(args['values_file']))}"
        for key, value in (args.get("set_values") or {}).items():
            line += f" --set {shlex.quote(f'{key}={value}')}"
        _run(line)

    @staticmethod
    def uninstall(**args: Any) -> None:
        """Uninstall a release if it exists: ``release_name``, ``namespace``."""
        if Helm.exists_release(args["release_name"], args["namespace"]):
            _run(f"helm uninstall {args['release_name']} -n {args['namespace']}")

    @staticmethod
    def exists_release(release_name: str, namespace: str) -> bool:
        """Whether there is a release of this name."""
        return release_name in _run(f"helm list -q -n {namespace}").split()

    @staticmethod
    def assert_if_deployed(namespace: str) -> bool:
        """Wait until all pods of a namespace are ready; raises ``NotReadyInTime``."""
        KubeCtl().wait_for_ready(namespace)
        return True

    @staticmethod
    def add_repo(name: str, url: str) -> None:
        """Raise ``NotAvailable``: the cloud has no internet."""
        raise NotAvailable(
            f"The chart repository {url} cannot be reached: the cloud has no internet. Install a chart from a folder."
        )

    @staticmethod
    def status(release_name: str, namespace: str) -> str:
        """Return the status of a release; raises ``ValueError`` and ``RuntimeError``."""
        if not release_name or not namespace:
            raise ValueError("Give the name of the release and its namespace.")
        return _run(f"helm status {release_name} -n {namespace}").strip()

    @staticmethod
    def _copy_chart(args: Any) -> str:
        """Copy the chart to the operators' host and return its path there."""
        chart = Path(args["chart_path"])
        if args.get("remote_chart"):
            Helm.add_repo(args["release_name"], str(args["chart_path"]))
        if not chart.is_dir():
            raise FileNotFoundError(
                f"There is no chart in {chart}. chart_path must be a folder with a Chart.yaml."
            )
        copy_to_cloud(get_cloud("Helm"), chart)
        return shlex.quote(str(chart))


def _run(line: str) -> str:
    done = KubeCtl().run(line)
    if done.status != 0:
        raise RuntimeError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="replace")
